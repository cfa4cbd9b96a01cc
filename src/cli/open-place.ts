import { locate, type Located } from '../engine/locate.ts';
import { whoami } from '../host/holder.ts';
import { localHost } from '../host/local.ts';
import type { Host } from '../host/types.ts';
import { patchSession } from '../lifecycle/patch-session.ts';
import type { Session } from '../patch/change.ts';
import type { Target } from '../target/types.ts';
import type { Io } from './io.ts';

/** One install with one home, as the marker or an earlier look names them. `install` null: what the home leads to. */
export async function openPlace(
  host: Host,
  target: Target,
  { install, home, profile = null }: { install: string | null; home: string | null; profile?: string | null },
  io: Io,
): Promise<{ session: Session; located: Located }> {
  const located = await locate(host, {
    path: install,
    home,
    profile,
    env: target.kind === 'local' ? io.env : {},
    port: null,
    timeoutMs: 60_000,
  });
  const here = localHost({ path: io.env['PATH'] ?? '/usr/bin:/bin', home: io.home, platform: io.platform });
  const who = await whoami(here, io.pid);
  return { session: await patchSession(host, target, located, who, io.signal), located };
}
