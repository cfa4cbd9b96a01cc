import { usageError } from '../errors.ts';
import type { TurnsDocument } from '../live/schema.ts';
import type { ScenarioResult } from '../live/suite.ts';
import type { Target } from '../target/types.ts';
import { schemaVersion, tool } from '../tool.ts';
import type { BuildCommand, Context } from './command.ts';
import { examples } from './command.ts';
import type { ExitCode } from './exit-codes.ts';
import { isInteractive, type Io, write } from './io.ts';
import { collect, connectionOptions, credentialOptions, sshOptions, targetOptions } from './options.ts';
import { emit, readFormat } from './output.ts';
import { oneOf, type RawOptions, readTargets } from './request.ts';

export const turn: BuildCommand = (command, context) => {
  command
    .argument('[target]', 'local (default), local:/path, ssh://…, an ssh_config alias, http(s)://…', 'local')
    .option('--suite <NAME>', 'basic: one plain turn on the running dashboard; full: every scenario', 'basic')
    .option('--only <SCENARIO>', 'only these of the full suite (repeatable, or with commas)', collect)
    .option('--list', 'list the scenarios and end')
    .option('--scripted', "the target's model is ours (simulate --provider): run the full suite over it")
    .option('--keep', 'keep what the suite made: sessions, and the throw-away home')
    .option('--yes', 'do not ask before a turn that costs something')
    .option('--json', 'the same as --format json')
    .option('--format <FORMAT>', 'human, json')
    .option('--output <FILE>', 'write the report there instead of stdout')
    .option('-q, --quiet', 'no progress');
  targetOptions(command);
  credentialOptions(command);
  connectionOptions(command);
  sshOptions(command);
  command
    .addHelpText('after', `${help}${examples(exampleLines)}${codes}`)
    .action((word: string, options: RawOptions) => runTurn(word, options, context));
};

const help = `
The basic suite sends one short prompt to the model that is configured, in a session of its own, denies every approval,
restores the session over a new socket, compares with the stored rows, and deletes that session and no other.
The full suite starts the target's install with a throw-away HERMES_HOME and a scripted model: no real model is asked.
`;

const exampleLines = [
  'hermes-compat turn --yes',
  'hermes-compat turn local:/srv/hermes --suite full',
  'hermes-compat turn --suite full --only plain,interrupt --json',
  'hermes-compat turn http://127.0.0.1:9119 --suite full --scripted',
];

const codes = `
Exit codes:
  0  every turn came out as expected
  1  one did not
  2  usage error
  3  could not be checked: no dashboard, no chat, or a scenario did not end
  4  not agreed to
  130 interrupted
`;

async function runTurn(word: string, options: RawOptions, { io, finish }: Context): Promise<void> {
  const json = readFormat(options, ['human', 'json'] as const, 'json') === 'json';
  if (options['list'] === true) return listScenarios(io, options, json);
  const suite = oneOf(String(options['suite']), ['basic', 'full'] as const, '--suite');
  await checkNames(options, suite);
  const [target] = readTargets([word], io);
  if (target === undefined) return;
  const document = suite === 'basic' ? await basic(target, options, io) : await full(target, options, io);
  const { turnsText } = await import('../report/turns.ts');
  await emit(io, options, json ? `${JSON.stringify(document, null, 2)}\n` : turnsText(document));
  finish(document.exitCode as ExitCode);
}

async function listScenarios(io: Io, options: RawOptions, json: boolean): Promise<void> {
  const { scenarios } = await import('../live/scenarios.ts');
  const rows = scenarios.map(({ id, says }) => ({ id, says }));
  const text = rows.map(({ id, says }) => `${id.padEnd(20)}${says}\n`).join('');
  await emit(io, options, json ? `${JSON.stringify(rows, null, 2)}\n` : text);
}

async function checkNames(options: RawOptions, suite: 'basic' | 'full'): Promise<void> {
  const only = options['only'];
  if (!Array.isArray(only)) return;
  if (suite !== 'full') throw usageError('--only goes with --suite full');
  const { scenarios } = await import('../live/scenarios.ts');
  for (const id of only) {
    if (!scenarios.some((scenario) => scenario.id === id))
      throw usageError(`no scenario "${id.slice(0, 40)}"`, {
        commands: [['hermes-compat', 'turn', '--list']],
      });
  }
}

type Parts = Pick<TurnsDocument, 'suite' | 'transport' | 'notes'> & {
  target: Target;
  url: string | null;
  version: string | null;
  results: readonly ScenarioResult[];
};

async function describe(parts: Parts, io: Io): Promise<TurnsDocument> {
  const { findingsOf } = await import('../live/judge.ts');
  const { target, results, url } = parts;
  const failed = results.some(({ status }) => status === 'fail');
  const broken = results.length === 0 || results.some(({ status }) => status === 'error');
  return {
    schemaVersion,
    kind: 'turns',
    tool,
    target: { kind: target.kind, name: target.name, url },
    suite: parts.suite,
    transport: parts.transport,
    engine: { version: parts.version },
    scenarios: [...results],
    findings: findingsOf(results),
    notes: parts.notes,
    exitCode: io.signal.aborted ? 130 : failed ? 1 : broken ? 3 : 0,
  };
}

async function basic(target: Target, options: RawOptions, io: Io): Promise<TurnsDocument> {
  const [{ consent }, { openLiveTarget }, { runBasic }] = await Promise.all([
    import('./consent.ts'),
    import('./live-target.ts'),
    import('../live/basic.ts'),
  ]);
  const live = await openLiveTarget(target, options, io);
  try {
    await consent(
      io,
      options,
      `Send one short prompt through ${live.way.url}? It costs one turn of the configured model (system prompt and tools are sent with it, often 10,000 tokens and more).`,
    );
    const { result, storedId } = await runBasic({
      way: live.way,
      prompt: 'Answer with the one word: ready',
      signal: io.signal,
      keep: options['keep'] === true,
    });
    const notes = options['keep'] === true && storedId !== null ? [`session ${storedId} is kept`] : [];
    const { version } = live;
    const parts = { suite: 'basic', transport: 'dashboard', target, notes, version } as const;
    return await describe({ ...parts, notes, url: live.way.url, results: [result] }, io);
  } finally {
    await live.close();
  }
}

async function full(target: Target, options: RawOptions, io: Io): Promise<TurnsDocument> {
  const { runSuite } = await import('../live/suite.ts');
  const stage =
    options['scripted'] === true ? await scripted(target, options, io) : await scratch(target, options, io);
  const keep = options['keep'] === true;
  const only = options['only'];
  try {
    const results = await runSuite({
      way: stage.way,
      provider: stage.provider,
      files: stage.files,
      version: stage.version,
      only: Array.isArray(only) ? only : null,
      signal: io.signal,
      keep,
      onResult: (result) => {
        if (options['quiet'] !== true && isInteractive(io))
          void write(
            io.stderr,
            `${result.status.padEnd(6)}${result.id} (${(result.ms / 1000).toFixed(1)} s)\n`,
          );
      },
    });
    const notes = keep ? stage.kept : [];
    const { version } = stage;
    const parts = { suite: 'full', transport: 'dashboard', target, version, results } as const;
    return await describe({ ...parts, notes, url: stage.way.url }, io);
  } finally {
    await stage.end(keep);
  }
}

type Scene = Pick<import('../live/suite.ts').SuiteOptions, 'way' | 'provider' | 'files' | 'version'> & {
  kept: string[];
  end(keep: boolean): Promise<void>;
};

/** The target's dashboard as it runs, whose model is known to be scripted. */
async function scripted(target: Target, options: RawOptions, io: Io): Promise<Scene> {
  const { consent } = await import('./consent.ts');
  const { openLiveTarget } = await import('./live-target.ts');
  const live = await openLiveTarget(target, options, io);
  try {
    await consent(
      io,
      options,
      `Run about 25 prompts through ${live.way.url}? Its model must be the scripted one; a real one would be paid for each.`,
    );
  } catch (error) {
    await live.close();
    throw error;
  }
  return {
    way: live.way,
    version: live.version,
    provider: null,
    files: null,
    kept: ['the sessions of the suite are kept'],
    end: () => live.close(),
  };
}

/** The target's install, started for this with a home of its own. */
async function scratch(target: Target, options: RawOptions, io: Io): Promise<Scene> {
  if (target.kind !== 'local')
    throw usageError(
      `--suite full starts an engine beside its scripted model, so it takes a local target; for a running dashboard whose model is scripted (hermes-compat simulate --provider) add --scripted`,
    );
  const [{ openMachine, locateFor, chosenInstall }, { startScratch }] = await Promise.all([
    import('./launch.ts'),
    import('../live/scratch.ts'),
  ]);
  const host = await openMachine(target, options, io);
  try {
    const install = chosenInstall(await locateFor(host, target, options, io));
    const { PATH: path = '/usr/local/bin:/usr/bin:/bin', TMPDIR: tmp = '/tmp' } = io.env;
    const started = await startScratch(host, install, io.signal, { path, tmp });
    return {
      way: started.way,
      version: install.version,
      provider: started.provider,
      files: started.files,
      kept: [`the home of the suite is kept: ${started.home}`],
      async end(keep) {
        await started.stop(keep);
        await host.close();
      },
    };
  } catch (error) {
    await host.close();
    throw error;
  }
}
