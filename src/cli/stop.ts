import { usageError } from '../errors.ts';
import type { Host } from '../host/types.ts';
import type { LaunchRecord } from '../launch/record.ts';
import type { StopDocument } from '../launch/schema.ts';
import type { StopOutcome } from '../launch/stop.ts';
import { parsePort } from '../target/parse.ts';
import type { Target } from '../target/types.ts';
import { documentHead } from '../tool.ts';
import type { BuildCommand } from './command.ts';
import { examples } from './command.ts';
import { type ExitCode, worstExitCode } from './exit-codes.ts';
import { type Io, write } from './io.ts';
import { locateFor, openMachine } from './launch.ts';
import { sshOptions } from './options.ts';
import { readFormat } from './output.ts';
import { type RawOptions, readTargets } from './request.ts';
import { sayIdentity } from './say-identity.ts';

export const stop: BuildCommand = (command, context) => {
  sshOptions(
    command
      .argument('[target]', 'local, local:/path or ssh://host', 'local')
      .option('--port <PORT>', 'the dashboard on this port')
      .option('--all', 'every dashboard that launch started for this home')
      .option('--home <DIR>', 'the HERMES_HOME that it was launched for')
      .option('--profile <NAME>', 'a Hermes profile')
      .option('--json', 'the same as --format json')
      .option('--format <FORMAT>', 'human, json'),
  )
    .addHelpText(
      'after',
      `
Ends only what launch started: pid, start time and executable are compared with
its record before any signal.
${examples(['hermes-compat stop', 'hermes-compat stop --port 9200', 'hermes-compat stop --all'])}`,
    )
    .action(async (word: string, raw: RawOptions) => {
      const [target] = readTargets([word], context.io);
      if (target !== undefined) context.finish(await run(target, raw, context.io));
    });
};

async function run(target: Target, raw: RawOptions, io: Io): Promise<ExitCode> {
  const json = readFormat(raw, ['human', 'json'], 'json') === 'json';
  const port = typeof raw['port'] === 'string' ? parsePort(raw['port']) : null;
  const host = await openMachine(target, raw, io);
  try {
    const { host: facts, installs } = await locateFor(host, target, raw, io);
    const { home } = facts;
    const [{ readRecords }, { stoppedText }] = await Promise.all([
      import('../launch/record.ts'),
      import('../report/launch.ts'),
    ]);
    const records = home === null ? [] : await readRecords(host, home.root);
    const wanted = select(records, port, raw['all'] === true);
    if (wanted.length > 0)
      await sayIdentity(io, host, {
        home,
        install: installs.find(({ id }) => id === facts.chosen?.install) ?? null,
      });
    const stopped = home === null ? [] : await stopAll(host, home.root, wanted);
    const exitCode = worstExitCode(stopped.map(({ outcome }) => codes[outcome]));
    const document: StopDocument = {
      ...documentHead('stop'),
      target: { kind: target.kind, name: target.name, url: null },
      stopped,
      exitCode,
    };
    await write(io.stdout, json ? `${JSON.stringify(document, null, 2)}\n` : stoppedText(document));
    return exitCode;
  } finally {
    await host.close();
  }
}

/** @throws CompatError usage, when it is not clear which one is meant */
function select(records: LaunchRecord[], port: number | null, all: boolean): LaunchRecord[] {
  if (port !== null) return records.filter((record) => record.port === port);
  if (all || records.length <= 1) return records;
  const ports = records.map((record) => record.port).join(', ');
  throw usageError(
    `launch started ${records.length} dashboards here, on ports ${ports}; say --port or --all`,
  );
}

async function stopAll(
  host: Host,
  rootHome: string,
  records: LaunchRecord[],
): Promise<StopDocument['stopped']> {
  const { stopLaunch } = await import('../launch/stop.ts');
  return Promise.all(
    records.map(async (record) => {
      const outcome = await stopLaunch(host, rootHome, record);
      const { pid, port, install, log } = record;
      return { pid, port, install, outcome, log: outcome === 'gone' ? log : null };
    }),
  );
}

const codes: Record<StopOutcome, ExitCode> = { stopped: 0, killed: 0, gone: 0, denied: 4, alive: 3 };
