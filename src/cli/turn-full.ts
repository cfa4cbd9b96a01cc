import { CompatError, usageError } from '../errors.ts';
import type { Target } from '../target/types.ts';
import type { Io } from './io.ts';
import type { RawOptions } from './request.ts';
import { runWatched } from './suite-run.ts';
import type { TurnsParts } from './turn-document.ts';

/** Every scenario, on an engine of our own or over a dashboard whose model is scripted. */
export async function fullSuite(target: Target, options: RawOptions, io: Io): Promise<TurnsParts> {
  if (options['mode'] === 'legacy')
    return (await import('./turn-legacy.ts')).legacySuite(target, options, io);
  const { runSuite } = await import('../live/suite.ts');
  const stage =
    options['scripted'] === true ? await scripted(target, options, io) : await scratch(target, options, io);
  const keep = options['keep'] === true;
  const { way, provider, files, version } = stage;
  try {
    const { results, notes } = await runWatched(way.url, options, io, (shared) =>
      runSuite({ way, provider, files, version, ...shared }),
    );
    const parts = { suite: 'full', transport: 'dashboard', target, version, results } as const;
    return { ...parts, notes: [...(keep ? stage.kept : []), ...notes], url: way.url };
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
  if (target.kind === 'http')
    throw usageError(
      `--suite full starts an engine, and ${target.name} is only a URL; for a running dashboard whose model is scripted (hermes-compat simulate --provider) add --scripted`,
    );
  const [{ openMachine, locateFor, chosenInstall }, { startScratch }] = await Promise.all([
    import('./launch.ts'),
    import('../live/scratch.ts'),
  ]);
  const host = await openMachine(target, options, io);
  try {
    const install = chosenInstall(await locateFor(host, target, options, io));
    const env = host.kind === 'local' ? io.env : {};
    const { PATH: path = '/usr/local/bin:/usr/bin:/bin', TMPDIR: tmp = '/tmp' } = env;
    const webDist = env['HERMES_WEB_DIST'] ?? null;
    const started = await startScratch(host, install, io.signal, { path, tmp, webDist }).catch(
      (error: unknown) => {
        throw withoutTunnel(error);
      },
    );
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

/** What helps where the server forbids reverse tunnels. */
function withoutTunnel(error: unknown): unknown {
  if (!(error instanceof CompatError) || error.details.finding !== 'SSH_FORWARD_FORBIDDEN') return error;
  return new CompatError(
    error.kind,
    `${error.message}. Run the scripted model on that host (hermes-compat simulate --provider), start a dashboard with it, and add --scripted`,
    error.details,
  );
}
