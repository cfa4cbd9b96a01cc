import { usageError } from '../errors.ts';
import type { Client } from '../judge/client.ts';
import type { Report } from '../judge/schema.ts';
import type { Examination, ExamineInput } from '../lifecycle/examine.ts';
import type { Facts } from '../probe/schema.ts';
import type { BuildCommand, Context } from './command.ts';
import { examples } from './command.ts';
import { exitCodeHelp, type ExitCode, worstExitCode } from './exit-codes.ts';
import { readExamineOptions, readFactsFile } from './examine-request.ts';
import {
  checkOptions,
  connectionOptions,
  credentialOptions,
  outputOptions,
  sshOptions,
  targetOptions,
} from './options.ts';
import { emit, readFormat } from './output.ts';
import { emitReports, reportFormats } from './report-output.ts';
import { oneOf, type RawOptions, readTargets } from './request.ts';
import { withProgress } from './progress.ts';

export const doctor: BuildCommand = (command, context) => {
  command.argument('[target...]', 'local (default), local:/path, ssh://…, an ssh_config alias, http(s)://…');
  checkOptions(command)
    .option('--fix', 'apply the patches that are missing, then check again')
    .option('--yes', 'do not ask before a change')
    .option('--dry-run', 'with --fix: only show the plan')
    .option('--carrier <WORD>', 'with --fix: overlay (default) or source')
    .option('--restart', 'with --fix: restart the dashboard that launch started')
    .option('--restart-service <UNIT>', 'with --fix: restart this service')
    .option('--start', 'start a dashboard for the check when none runs, and end it')
    .option('--watch', 'check again whenever files or processes of the engine change; one line a change')
    .option('--from <FACTS>', 'judge saved facts (detect --json) instead of looking')
    .addHelpText('after', `${examples(exampleLines)}${exitCodeHelp}`)
    .action((words: string[], options: RawOptions) => runDoctor(words, options, context));
  targetOptions(command);
  credentialOptions(command);
  connectionOptions(command);
  sshOptions(command);
  outputOptions(command, reportFormats);
};

const exampleLines = [
  'hermes-compat doctor',
  'hermes-compat doctor --client hermes-desktop --json',
  'hermes-compat doctor --url http://127.0.0.1:9119',
  'hermes-compat doctor https://hermes.example --token-env TOKEN',
  'hermes-compat doctor --fix',
  'hermes-compat doctor --watch',
];

async function runDoctor(words: readonly string[], options: RawOptions, context: Context): Promise<void> {
  const { io } = context;
  const { checks } = await import('../judge/checks/index.ts');
  if (options['listChecks'] === true) {
    const { checkList } = await import('../report/check-list.ts');
    const json = readFormat(options, reportFormats, 'json') === 'json';
    return emit(io, options, checkList(checks, json ? 'json' : 'text'));
  }
  const judging = await readJudging(options);
  const format = readFormat(options, reportFormats, 'json');
  if (options['watch'] === true) {
    const { watchTarget } = await import('./doctor-watch.ts');
    return watchTarget(words, options, (facts) => judgeFacts(facts, judging, performance.now()), context);
  }
  const began = performance.now();
  const reports =
    typeof options['from'] === 'string'
      ? await fromFile(options['from'], words, judging, context)
      : await fromTargets(words, options, judging, context);
  const code = worstExitCode(reports.map((report) => report.exitCode as ExitCode));
  await emitReports(io, options, reports, {
    format,
    code,
    durationMs: Math.round(performance.now() - began),
  });
  context.finish(code);
}

interface Judging {
  client: Client;
  clients: readonly Client[];
  only: readonly string[];
  skip: readonly string[];
  failOn: 'error' | 'warn';
}

/** Client and check names are verified before anything is looked at. */
async function readJudging(options: RawOptions): Promise<Judging> {
  const [{ checks }, { readClients }] = await Promise.all([
    import('../judge/checks/index.ts'),
    import('../judge/client.ts'),
  ]);
  const clients = await readClients();
  const name = String(options['client']);
  const client = clients.find((each) => each.name === name);
  if (client === undefined)
    throw usageError(
      `no client "${name.slice(0, 40)}"; there is ${clients.map((each) => each.name).join(', ')}`,
    );
  const known = new Set(checks.map((check) => check.id));
  const only = (options['only'] ?? []) as string[];
  const skip = (options['skip'] ?? []) as string[];
  for (const id of [...only, ...skip]) {
    if (!known.has(id)) {
      throw usageError(`no check "${id.slice(0, 40)}"`, {
        commands: [['hermes-compat', 'doctor', '--list-checks']],
      });
    }
  }
  return {
    client,
    clients,
    only,
    skip,
    failOn: oneOf(String(options['failOn']), ['error', 'warn'] as const, '--fail-on'),
  };
}

async function judgeFacts(facts: Facts, judging: Judging, began: number): Promise<Report> {
  const { judge } = await import('../judge/judge.ts');
  const { client, clients, only, skip } = judging;
  return {
    ...judge(facts, { client: client.name, clients, only, skip }),
    durationMs: Math.round(performance.now() - began),
  };
}

async function fromFile(
  path: string,
  words: readonly string[],
  judging: Judging,
  { io }: Context,
): Promise<Report[]> {
  if (words.length > 0) throw usageError('--from judges saved facts; it takes no target');
  const facts = await readFactsFile(path, io);
  return [{ ...(await judgeFacts(facts, judging, 0)), durationMs: 0 }];
}

async function fromTargets(
  words: readonly string[],
  options: RawOptions,
  judging: Judging,
  context: Context,
): Promise<Report[]> {
  const targets = readTargets(words, context.io);
  const [inputFor, { examine }] = await Promise.all([
    readExamineOptions(options, context.io),
    import('../lifecycle/examine.ts'),
  ]);
  const asks = options['yes'] !== true && (options['fix'] === true || options['start'] === true);
  return withProgress(
    context.io,
    { quiet: asks || options['quiet'] === true, oneByOne: options['fix'] === true },
    targets.map((target) => ({
      title: target.name,
      run: async (say: (step: string) => void): Promise<Report> => {
        const began = performance.now();
        const base = inputFor(target);
        const input = {
          ...base,
          needs: { ...base.needs, contract: judging.client.contract !== null },
          onProgress: say,
        };
        const first = await examine(input);
        try {
          return await fixStartJudge(first, input, options, judging, began, context);
        } finally {
          await first.host?.close();
        }
      },
    })),
  );
}

/** After the first look: what is missing is applied, what does not run is started, each when asked for, and both are looked at again. */
async function fixStartJudge(
  first: Examination,
  input: ExamineInput,
  options: RawOptions,
  judging: Judging,
  began: number,
  context: Context,
): Promise<Report> {
  let examined = first;
  let change: Report['change'];
  if (options['fix'] === true) {
    const { fixAndExamine } = await import('./doctor-fix.ts');
    const report = await judgeFacts(first.facts, judging, began);
    const fixed = await fixAndExamine(first, report, input, options, context.io);
    if (fixed !== null) ({ examination: examined, change } = fixed);
  }
  if (options['start'] === true) examined = await startAndExamine(examined, input, options, context);
  const report = await judgeFacts(examined.facts, judging, began);
  return change === undefined ? report : { ...report, change };
}

/** A start writes into the home of the engine: that needs a yes. */
async function startAndExamine(
  first: Examination,
  input: ExamineInput,
  options: RawOptions,
  { io }: Context,
): Promise<Examination> {
  const { chosenInstall } = await import('../lifecycle/chosen-install.ts');
  const install = chosenInstall(first.seen);
  if (first.facts.service !== null || install === null) return first;
  const [{ consent }, { sayIdentity }] = await Promise.all([
    import('./consent.ts'),
    import('./say-identity.ts'),
  ]);
  if (first.host !== null)
    await sayIdentity(io, first.host, { home: first.facts.host?.home ?? null, install });
  await consent(
    io,
    options,
    `Start the dashboard of ${install.root} for this check? It writes into ${first.facts.host?.home?.path ?? 'its home'}.`,
  );
  const { examineStarted } = await import('../lifecycle/examine-started.ts');
  return examineStarted(first, input, input.target.kind === 'local' ? definedOnly(io.env) : {});
}

const definedOnly = (env: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
