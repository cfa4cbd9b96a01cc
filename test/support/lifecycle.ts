import { locate } from '../../src/engine/locate.ts';
import { whoami } from '../../src/host/holder.ts';
import { patchSession } from '../../src/lifecycle/patch-session.ts';
import type { HookRun } from '../../src/lifecycle/hook-run.ts';
import type { Place, UpdateRun } from '../../src/lifecycle/update/run.ts';
import type { Host } from '../../src/host/types.ts';
import { testHost } from './patch-scene.ts';

const target = { kind: 'local', name: 'local', path: null } as const;

/** Looks at a tree and home as the commands do; without the throw-away dashboard, which small trees cannot start. */
export async function openTree(
  at: { install: string | null; home: string | null },
  host: Host = testHost(),
): Promise<Place> {
  const located = await locate(host, {
    path: at.install,
    home: at.home,
    profile: null,
    env: {},
    port: null,
    timeoutMs: 60_000,
  });
  const session = await patchSession(host, target, located, await whoami(testHost(), process.pid), null);
  return { session: { ...session, verify: null }, located };
}

export const hookRunOf = (root: string, over: Partial<HookRun> = {}): HookRun => ({
  host: testHost(),
  root,
  signal: new AbortController().signal,
  patienceMs: 60_000,
  now: () => new Date().toISOString(),
  who: () => whoami(testHost(), process.pid),
  open: (place) => openTree(place),
  ...over,
});

export const updateRunOf = (
  tree: { root: string; home: string },
  over: Partial<UpdateRun> = {},
): UpdateRun => ({
  host: testHost(),
  signal: new AbortController().signal,
  now: () => new Date().toISOString(),
  open: (at) => openTree(at ?? { install: tree.root, home: tree.home }),
  engineArgs: [],
  again: ['hermes-compat', 'update'],
  env: {},
  say: () => {},
  output: () => {},
  consent: async () => true,
  examine: null,
  ...over,
});
