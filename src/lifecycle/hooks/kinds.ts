import { hashOf } from '../../patch/journal.ts';
import { cron } from './cron.ts';
import { git } from './git.ts';
import { launchd } from './launchd.ts';
import { overlay } from './overlay.ts';
import { systemdSystem, systemdUser } from './systemd.ts';
import type { HookId, HookKind, HookPlace, HookRecord, HookState } from './types.ts';
import { wrapper } from './wrapper.ts';

export const hookKinds: readonly HookKind[] = [
  overlay,
  systemdUser,
  systemdSystem,
  launchd,
  cron,
  git,
  wrapper,
];

export const hookKind = (id: HookId): HookKind => hookKinds.find((kind) => kind.id === id) as HookKind;

/** Overlay start-up, where there is one, and what watches files; cron where nothing does. Cron may be impossible too. */
export async function defaultHooks(place: HookPlace): Promise<HookId[]> {
  const { os, uid } = await place.host.identity();
  const watcher: HookId = os === 'darwin' ? 'launchd' : uid === 0 ? 'systemd-system' : 'systemd-user';
  const answers = (await hookKind(watcher).problem(place)) === null;
  const carried = (await overlay.problem(place)) === null;
  return [...(carried ? (['overlay'] as const) : []), answers ? watcher : 'cron'];
}

/** `gone` and `changed` win over `installed`. @throws FileError */
export async function hookState(place: HookPlace, record: HookRecord): Promise<HookState> {
  const states: HookState[] = [await hookKind(record.id).linesState(place, record)];
  for (const { path, sha256: hash } of record.files) {
    const now = await hashOf(place.host, path);
    states.push(now === null ? 'gone' : now === hash ? 'installed' : 'changed');
  }
  return (['changed', 'gone', 'installed'] as const).find((state) => states.includes(state)) ?? 'installed';
}
