import { usageError } from '../errors.ts';
import type { Target } from '../target/types.ts';
import type { Io } from './io.ts';
import { type LegacyTarget, openLegacyTarget } from './legacy-target.ts';
import type { RawOptions } from './request.ts';
import { runWatched } from './suite-run.ts';
import type { TurnsParts } from './turn-document.ts';

/** What of the suite an API server can be asked; its gateway runs already, with the scripted model. */
export async function legacySuite(target: Target, options: RawOptions, io: Io): Promise<TurnsParts> {
  if (options['scripted'] !== true)
    throw usageError(
      'legacy mode has no engine of its own to start: give --scripted with a gateway whose model is `hermes-compat simulate --provider`',
    );
  const [{ readExamineOptions }, { consent }] = await Promise.all([
    import('./examine-request.ts'),
    import('./consent.ts'),
  ]);
  const input = (await readExamineOptions(options, io))(target);
  const live = await openLegacyTarget(target, options, io, input);
  try {
    await consent(
      io,
      options,
      `Run about 12 prompts through the API server ${live.way.url}? Its model must be the scripted one; a real one would be paid for each.`,
    );
    return await runOver(live, target, options, io);
  } finally {
    await live.close();
  }
}

async function runOver(
  { way, server }: LegacyTarget,
  target: Target,
  options: RawOptions,
  io: Io,
): Promise<TurnsParts> {
  const [{ runLegacySuite }, { legacyNotes }] = await Promise.all([
    import('../live/legacy-suite.ts'),
    import('../live/legacy-chat.ts'),
  ]);
  const { results, notes } = await runWatched(way.url, options, io, (shared) =>
    runLegacySuite({ way, abilities: server, provider: null, ...shared }),
  );
  const key = way.used.kind === 'bearer' ? '' : null;
  const kept = options['keep'] === true ? ['the sessions of the suite are kept'] : [];
  const parts = { suite: 'full', transport: 'legacy', target, version: server.version, results } as const;
  return { ...parts, url: way.url, notes: [...legacyNotes(server, key), ...kept, ...notes] };
}
