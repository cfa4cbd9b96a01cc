import { usageError } from '../errors.ts';
import type { Reports } from '../judge/schema.ts';
import type { BuildCommand, Context } from './command.ts';
import { examples } from './command.ts';
import { exitCodeHelp, type ExitCode, worstExitCode } from './exit-codes.ts';
import type { Io } from './io.ts';
import { outputOptions } from './options.ts';
import { readFormat } from './output.ts';
import { emitReports, reportFormats } from './report-output.ts';
import { pathResolver, type RawOptions, readTextFile } from './request.ts';

export const report: BuildCommand = (command, context) => {
  const merge = command
    .command('merge')
    .description('one report of several JSON reports, such as the shards of a preflight')
    .argument('<file...>', 'JSON reports of doctor or preflight')
    .addHelpText(
      'after',
      `${examples(['hermes-compat report merge shard-*.json --format html --output report.html'])}${exitCodeHelp}`,
    )
    .action((files: string[], options: RawOptions) => runMerge(files, options, context));
  outputOptions(merge, reportFormats);
};

async function runMerge(
  files: readonly string[],
  options: RawOptions,
  { io, finish }: Context,
): Promise<void> {
  const format = readFormat(options, reportFormats, 'json');
  const documents = await Promise.all(files.map((file) => readReports(file, io)));
  // Shards are parts of one file, in its order; documents without one stay in the order given.
  documents.sort((a, b) => (a.shard?.index ?? 0) - (b.shard?.index ?? 0));
  checkShards(documents);
  const reports = documents.flatMap((document) => document.reports);
  const names = reports.map((each) => each.target.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw usageError(`the target "${twice.slice(0, 60)}" is in two of the reports`);
  const notRun = documents.flatMap((document) => document.notRun ?? []);
  const code: ExitCode =
    notRun.length > 0 ? 130 : worstExitCode(reports.map((each) => each.exitCode as ExitCode));
  const durationMs = documents.reduce((most, document) => Math.max(most, document.summary.durationMs), 0);
  await emitReports(io, options, reports, {
    format,
    code,
    durationMs,
    many: true,
    extra: { ...(notRun.length > 0 ? { notRun } : {}), ...mergedBaseline(documents) },
  });
  finish(code);
}

type Document = Pick<Reports, 'reports' | 'shard' | 'notRun' | 'baseline'> & {
  summary: { durationMs: number };
};

/** All shards of one count, each once: a missing part must not look like a whole. */
function checkShards(documents: readonly Document[]): void {
  const shards = documents.flatMap(({ shard }) => (shard === undefined ? [] : [shard]));
  const [first] = shards;
  if (first === undefined) return;
  const found = new Set(shards.map(({ index, count }) => `${index}/${count}`));
  const missing = Array.from({ length: first.count }, (_, i) => `${i + 1}/${first.count}`).filter(
    (each) => !found.has(each),
  );
  if (
    shards.length !== documents.length ||
    found.size !== shards.length ||
    missing.length > 0 ||
    shards.some(({ count }) => count !== first.count)
  ) {
    throw usageError(
      missing.length > 0
        ? `the shard ${missing.join(', ')} is missing`
        : 'the files are not the shards of one run',
    );
  }
}

/** An entry is unused only when no part met it. */
function mergedBaseline(documents: readonly Document[]): Partial<Reports> {
  const parts = documents.flatMap(({ baseline }) => (baseline === undefined ? [] : [baseline]));
  const [first] = parts;
  if (first === undefined) return {};
  const unused = first.unused.filter((entry) => parts.every((part) => part.unused.includes(entry)));
  return { baseline: { expired: [...new Set(parts.flatMap((part) => part.expired))], unused } };
}

async function readReports(file: string, io: Io): Promise<Document> {
  const text = await readTextFile(pathResolver(io)(file), 'the report');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw usageError(`${file} is not JSON`, { cause: error });
  }
  const { reportSchema, reportsSchema } = await import('../judge/schema.ts');
  if ((value as { kind?: unknown } | null)?.kind === 'report') {
    const single = reportSchema.safeParse(value);
    if (single.success) return { reports: [single.data], summary: { durationMs: single.data.durationMs } };
  }
  const many = reportsSchema.safeParse(value);
  if (!many.success) {
    const [issue] = many.error.issues;
    throw usageError(
      `${file} is no report: ${issue?.path.map(String).join('.') || 'the document'}: ${issue?.message ?? 'is wrong'}`,
    );
  }
  return many.data;
}
