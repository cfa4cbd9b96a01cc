import { CompatError, usageError } from '../errors.ts';
import type { Examination } from '../lifecycle/examine.ts';
import type { Report, Reports } from '../judge/schema.ts';
import { parseBaseline } from '../target/baseline.ts';
import type { BuildCommand, Context } from './command.ts';
import { examples } from './command.ts';
import { exitCodeHelp, exitCodeOfError, type ExitCode, worstExitCode } from './exit-codes.ts';
import type { Io } from './io.ts';
import { connectionOptions, outputOptions, sshOptions } from './options.ts';
import { readFormat } from './output.ts';
import { prepare, readPlan, type Work } from './preflight-plan.ts';
import { counter } from './progress.ts';
import { emitReports, reportFormats } from './report-output.ts';
import { oneOf, pathResolver, type RawOptions, readTextFile } from './request.ts';

export const preflight: BuildCommand = (command, context) => {
  command
    .argument('[file]', 'targets file (YAML or JSON)')
    .option('--ansible-inventory <FILE>', 'targets from ansible-inventory --list instead of a targets file')
    .option('--client <NAME>', 'client of the hosts of an Ansible inventory')
    .option('--parallel <N>', 'how many targets at once (default: the file, else 16)')
    .option('--shard <I/N>', 'only the I-th of N parts')
    .option('--baseline <FILE>', 'findings that are known and accepted until a day')
    .option('--fail-on <LEVEL>', 'error, or warn to fail on warnings too', 'error')
    .addHelpText('after', `${examples(exampleLines)}${exitCodeHelp}`)
    .action((file: string | undefined, options: RawOptions) => runPreflight(file, options, context));
  connectionOptions(command);
  sshOptions(command);
  outputOptions(command, reportFormats);
};

const exampleLines = [
  'hermes-compat preflight targets.yaml',
  'hermes-compat preflight targets.yaml --format junit --output preflight.xml',
  'hermes-compat preflight targets.yaml --shard 1/4 --json --output shard-1.json',
  'hermes-compat report merge shard-*.json --format html --output report.html',
];

async function runPreflight(file: string | undefined, options: RawOptions, context: Context): Promise<void> {
  const { io } = context;
  const format = readFormat(options, reportFormats, 'json');
  const failOn = oneOf(String(options['failOn']), ['error', 'warn'] as const, '--fail-on');
  const shard = readShard(options);
  const parallel = readParallel(options);
  const plan = await readPlan(file, options, io);
  const known = typeof options['baseline'] === 'string' ? await readBaseline(options['baseline'], io) : [];
  const works = await prepare(plan, options, io);
  const [{ runMany, shardOf }, { withBaseline, baselineState }] = await Promise.all([
    import('../lifecycle/many.ts'),
    import('../judge/baseline.ts'),
  ]);
  const mine = shard === null ? works : shardOf(works, shard.index, shard.count);
  const today = new Date().toISOString().slice(0, 10);
  const began = performance.now();
  const count = counter(io, options, mine.length);
  const results = await runMany(mine, parallel ?? plan.parallel ?? 16, io.signal, async (work) => {
    const report = await runOne(work, failOn, io);
    count.next();
    return withBaseline(report, known, today, failOn);
  });
  count.end();
  const reports = results.filter((report) => report !== null);
  const notRun = mine.filter((_, index) => results[index] === null).map((work) => work.planned.name);
  const worst = worstExitCode(reports.map((report) => report.exitCode as ExitCode));
  const code = io.signal.aborted ? 130 : worst;
  const extra: Partial<Reports> = {
    ...(shard === null ? {} : { shard }),
    ...(notRun.length === 0 ? {} : { notRun }),
    ...(known.length === 0 ? {} : { baseline: baselineState(known, reports, today) }),
  };
  await emitReports(io, options, reports, {
    format,
    code,
    durationMs: Math.round(performance.now() - began),
    many: true,
    extra,
  });
  context.finish(code);
}

/** One target never ends the whole run: what goes wrong with it stands in its report. */
async function runOne(work: Work, failOn: 'error' | 'warn', io: Io): Promise<Report> {
  const { planned, client, clients } = work;
  const began = performance.now();
  const durationMs = (): number => Math.round(performance.now() - began);
  try {
    const { facts, host } = await examined(work, io.signal);
    // Saying goodbye to a host need not be waited for.
    void host?.close().catch(() => undefined);
    const { judge } = await import('../judge/judge.ts');
    return { ...judge(facts, { client: client.name, clients, failOn }), durationMs: durationMs() };
  } catch (error) {
    if (io.signal.aborted) throw error;
    const { failedReport } = await import('../lifecycle/failed-report.ts');
    const failure = failureOf(error);
    return { ...failedReport(planned.target, client.name, clients, failure), durationMs: durationMs() };
  }
}

/** What an examination still needs to put its facts together after its time is over. */
const slackMs = 1500;

/** Its own limit holds for all of it: the way to the host, looking around there, and probing. */
async function examined({ input }: Work, signal: AbortSignal): Promise<Examination> {
  const [{ examine }, { limit }] = await Promise.all([
    import('../lifecycle/examine.ts'),
    import('../probe/limit.ts'),
  ]);
  const { timeoutMs, connection } = input(signal);
  if (timeoutMs === null) return examine(input(signal));
  const ms = timeoutMs + (connection.holdSeconds ?? 0) * 1000;
  const own = limit(signal, ms);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(lateError(ms)), ms + slackMs);
  });
  try {
    return await Promise.race([examine(input(own.signal)), late]);
  } catch (error) {
    // The line to a host calls the end of our limit an interruption.
    if (own.signal.aborted && error instanceof CompatError && error.kind === 'interrupted')
      throw lateError(ms);
    throw error;
  } finally {
    clearTimeout(timer);
    own.clear();
  }
}

const lateError = (ms: number): CompatError =>
  new CompatError('unchecked', `not done within the limit of ${ms / 1000} s`);

const failureOf = (error: unknown): { reason: string; exitCode: number } =>
  error instanceof CompatError
    ? { reason: error.message, exitCode: exitCodeOfError(error) }
    : {
        reason: `a bug in hermes-compat (${error instanceof Error ? `${error.name}: ${error.message.slice(0, 300)}` : 'no error was thrown'})`,
        exitCode: 70,
      };

const readBaseline = async (path: string, io: Io) =>
  parseBaseline(await readTextFile(pathResolver(io)(path), 'the baseline'), path);

function readShard(options: RawOptions): { index: number; count: number } | null {
  const text = options['shard'];
  if (typeof text !== 'string') return null;
  const [, i, n] = /^(\d{1,5})\/(\d{1,5})$/.exec(text) ?? [];
  const shard = { index: Number(i), count: Number(n) };
  if (!(shard.index >= 1 && shard.index <= shard.count)) throw usageError('--shard is I/N, such as 2/4');
  return shard;
}

function readParallel(options: RawOptions): number | null {
  const text = options['parallel'];
  if (typeof text !== 'string') return null;
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > 1000) throw usageError('--parallel is a number from 1 to 1000');
  return count;
}
