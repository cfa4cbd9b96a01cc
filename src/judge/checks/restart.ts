import type { EngineProcess } from '../../engine/schema.ts';
import { draft } from '../draft.ts';
import type { Reading } from '../reading.ts';
import { restart as restartRemedy } from '../remedies/launch.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

export const restart: CheckDefinition = {
  id: 'restart',
  summary: 'the running dashboard has the code that is on disk',
  run({ reading }) {
    const { process } = reading;
    if (process === null) return skip('the process of the dashboard is not known');
    const files = [...process.newerFiles, ...(overlayIsNewer(reading) ? ['plugins/hermes-compat'] : [])];
    if (files.length === 0) return done([]);
    return done([
      draft('RESTART_REQUIRED', {
        args: {
          pid: process.pid,
          owner: ownerWords(process.owner),
          ownerKind: process.owner.kind,
          files,
        },
        evidence: [
          `pid ${process.pid} started ${process.startedAt ?? 'at an unknown time'}`,
          ...files.slice(0, 4).map((each) => `${each} changed after that`),
        ],
        remedies: [restartRemedy(reading)],
      }),
    ]);
  },
};

/** Our overlay was written after the process had started, so that it cannot have loaded it. */
export function overlayIsNewer({ home, process }: Reading): boolean {
  const changed = home?.overlay.changedMs ?? null;
  const started = Date.parse(process?.startedAt ?? '');
  return changed !== null && changed > started + 1000;
}

function ownerWords({ kind, name }: EngineProcess['owner']): string {
  const words: Record<EngineProcess['owner']['kind'], string> = {
    launch: 'started by hermes-compat launch',
    systemd: `systemd unit ${name ?? 'unknown'}`,
    launchd: `launchd job ${name ?? 'unknown'}`,
    container: `container ${name ?? 'unknown'}`,
    ssh: 'started in an SSH session',
    manual: 'started by hand',
    unknown: 'owner unknown',
  };
  return words[kind];
}
