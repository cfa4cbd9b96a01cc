import { CompatError, usageError } from '../errors.ts';
import type { ExamineInput } from '../lifecycle/examine.ts';
import type { Client } from '../judge/client.ts';
import type { Report, Reports } from '../judge/schema.ts';
import { parseBaseline } from '../target/baseline.ts';
import { readCredential } from '../target/credential.ts';
import { parseTargetsFile, type PlannedTarget, type TargetsPlan } from '../target/targets-file.ts';
import type { BuildCommand, Context } from './command.ts';
import { examples } from './command.ts';
import { readExamineOptions } from './examine-request.ts';
import { exitCodeHelp, type ExitCode, worstExitCode } from './exit-codes.ts';
import type { Io } from './io.ts';
import { connectionOptions, outputOptions, sshOptions } from './options.ts';
import { readFormat } from './output.ts';
import { emitReports, reportFormats } from './report-output.ts';
import { oneOf, pathResolver, type RawOptions, readHeaderFile, readTextFile } from './request.ts';

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
  const plan = await readPlan(file, options, io);
  const known = typeof options['baseline'] === 'string' ? await readBaseline(options['baseline'], io) : [];
  const works = await prepare(plan, options, io);
  const [{ runMany, shardOf }, { withBaseline, baselineState }] = await Promise.all([
    import('../lifecycle/many.ts'),
    import('../judge/baseline.ts'),
  ]);
  const shard = readShard(options);
  const mine = shard === null ? works : shardOf(works, shard.index, shard.count);
  const today = new Date().toISOString().slice(0, 10);
  const began = performance.now();
  const results = await runMany(mine, readParallel(options) ?? plan.parallel ?? 16, io.signal, (work) =>
    runOne(work, failOn),
  );
  const reports = results
    .filter((report): report is Report => report !== null)
    .map((report) => withBaseline(report, known, today, failOn));
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

interface Work {
  planned: PlannedTarget;
  client: Client;
  clients: readonly Client[];
  input: ExamineInput;
}

async function runOne({ client, clients, input }: Work, failOn: 'error' | 'warn'): Promise<Report> {
  const [{ examine }, { judge }] = await Promise.all([
    import('../lifecycle/examine.ts'),
    import('../judge/judge.ts'),
  ]);
  const began = performance.now();
  const { facts, host } = await examine(input);
  await host?.close();
  return {
    ...judge(facts, { client: client.name, clients, failOn }),
    durationMs: Math.round(performance.now() - began),
  };
}

/** Everything that can be wrong with the whole job is found before the first target is asked. */
async function prepare(plan: TargetsPlan, options: RawOptions, io: Io): Promise<Work[]> {
  const [{ readClients }, { capabilityIds }, inputFor] = await Promise.all([
    import('../judge/client.ts'),
    import('../judge/capability-ids.ts'),
    readExamineOptions(
      { ...options, tokenEnv: undefined },
      { ...io, env: { ...io.env, HERMES_COMPAT_TOKEN: undefined } },
    ),
  ]);
  const clients = await readClients();
  return Promise.all(
    plan.targets.map(async (planned): Promise<Work> => {
      const client = clients.find((each) => each.name === planned.client);
      const where = `target "${planned.name.slice(0, 60)}"`;
      if (client === undefined)
        throw usageError(
          `${where}: no client "${planned.client.slice(0, 40)}"; there is ${clients.map((each) => each.name).join(', ')}`,
        );
      const required = planned.require.map((id) => {
        const known = capabilityIds.find((each) => each === id);
        if (known === undefined)
          throw usageError(
            `${where}: no capability "${id.slice(0, 40)}"; there is ${capabilityIds.join(', ')}`,
          );
        return known;
      });
      const strict = { ...client, requires: [...new Set([...client.requires, ...required])] };
      const all = clients.map((each) => (each === client ? strict : each));
      return { planned, client: strict, clients: all, input: await inputOf(planned, inputFor, strict, io) };
    }),
  );
}

async function inputOf(
  planned: PlannedTarget,
  inputFor: (target: PlannedTarget['target']) => ExamineInput,
  client: Client,
  io: Io,
): Promise<ExamineInput> {
  const base = inputFor(planned.target);
  const credential = await readCredential(planned.secrets, {
    env: io.env,
    readFile: (path) => readTextFile(path, `the secret of target "${planned.name.slice(0, 60)}"`),
    readStdin: async () => '',
    runCommand: async () => '',
  }).catch((error: unknown) => {
    throw error instanceof CompatError
      ? usageError(`target "${planned.name.slice(0, 60)}": ${error.message}`, { cause: error })
      : error;
  });
  const headers =
    planned.headerFile === null ? null : Object.entries(await readHeaderFile(planned.headerFile, io));
  const ca = planned.ca === null ? null : await readTextFile(planned.ca, 'the certificate authority');
  return {
    ...base,
    credential,
    client: client.name,
    needs: {
      ...base.needs,
      contract: client.contract !== null || client.requires.some((id) => id === 'contract'),
      modelSet: client.requires.some((id) => id === 'model-set'),
    },
    refinements: { ...base.refinements, mode: planned.mode, origin: planned.origin },
    timeoutMs: planned.timeoutMs ?? base.timeoutMs,
    connection: {
      ...base.connection,
      ...(headers === null ? {} : { headers }),
      ...(ca === null ? {} : { ca }),
    },
  };
}

async function readPlan(file: string | undefined, options: RawOptions, io: Io): Promise<TargetsPlan> {
  const inventory = options['ansibleInventory'];
  if ((file === undefined) === (typeof inventory !== 'string'))
    throw usageError('give a targets file, or --ansible-inventory FILE');
  if (typeof inventory === 'string') {
    const { targetsOfInventory } = await import('../target/ansible-inventory.ts');
    const client = typeof options['client'] === 'string' ? options['client'] : null;
    return {
      parallel: null,
      targets: targetsOfInventory(await listInventory(pathResolver(io)(inventory), io), client),
    };
  }
  const path = pathResolver(io)(file ?? '');
  const beside = path.slice(0, path.lastIndexOf('/') + 1);
  return parseTargetsFile(
    await readTextFile(path, 'the targets file'),
    file ?? path,
    pathResolver({ ...io, cwd: beside }),
  );
}

async function listInventory(path: string, io: Io): Promise<string> {
  const { execa } = await import('execa');
  const result = await execa('ansible-inventory', ['--inventory', path, '--list'], {
    reject: false,
    stdin: 'ignore',
    timeout: 60_000,
    maxBuffer: 64 * 1024 * 1024,
    cancelSignal: io.signal,
  });
  if (result.exitCode !== 0) {
    const why =
      result.code === 'ENOENT'
        ? 'ansible-inventory is not on PATH'
        : `ansible-inventory failed: ${result.stderr.slice(0, 300)}`;
    throw usageError(`cannot read the Ansible inventory: ${why}`);
  }
  return result.stdout;
}

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
