import { usageError } from '../errors.ts';
import type { Located } from '../engine/locate.ts';
import { localHost } from '../host/local.ts';
import type { Session } from '../patch/change.ts';
import type { Io } from './io.ts';
import { openHostFor } from './open-host.ts';
import { type RawOptions, readRefinements, readTargets } from './request.ts';

/** Opens the target's host, looks what is there, and closes it when the work is done. */
export async function withPatchHost<T>(
  options: RawOptions,
  io: Io,
  work: (session: Session, located: Located) => Promise<T>,
): Promise<T> {
  const word = options['target'];
  const [target] = readTargets(typeof word === 'string' ? [word] : [], io);
  if (target === undefined || target.kind === 'http') {
    throw usageError(
      'patches change files: the target is this machine or one reached by ssh, not an http(s) address',
    );
  }
  const refinements = readRefinements(options, io);
  if (refinements.url !== null) throw usageError('patch takes --port, not --url: it needs no connection');
  const [{ locate }, { patchSession }, { whoami }] = await Promise.all([
    import('../engine/locate.ts'),
    import('../lifecycle/patch-session.ts'),
    import('../host/holder.ts'),
  ]);
  const host = await openHostFor(options, io)(target);
  try {
    const located = await locate(host, {
      path: target.path,
      home: refinements.home,
      profile: refinements.profile,
      env: target.kind === 'local' ? io.env : {},
      port: refinements.port,
      timeoutMs: 30_000,
    });
    const here = localHost({ path: io.env['PATH'] ?? '/usr/bin:/bin', home: io.home, platform: io.platform });
    const who = await whoami(here, io.pid);
    return await work(await patchSession(host, target, located, who, io.signal), located);
  } finally {
    await host.close();
  }
}
