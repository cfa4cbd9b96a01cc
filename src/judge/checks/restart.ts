import type { EngineProcess } from '../../engine/schema.ts';
import { draft } from '../draft.ts';
import { restart as restartRemedy } from '../remedies/launch.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

export const restart: CheckDefinition = {
  id: 'restart',
  summary: 'the running dashboard has the code that is on disk',
  run({ reading }) {
    const { process } = reading;
    if (process === null) return skip('the process of the dashboard is not known');
    if (process.newerFiles.length === 0) return done([]);
    return done([
      draft('RESTART_REQUIRED', {
        args: {
          pid: process.pid,
          owner: ownerWords(process.owner),
          ownerKind: process.owner.kind,
          files: process.newerFiles,
        },
        evidence: [
          `pid ${process.pid} started ${process.startedAt ?? 'at an unknown time'}`,
          ...process.newerFiles.slice(0, 4).map((each) => `${each} changed after that`),
        ],
        remedies: [restartRemedy(reading)],
      }),
    ]);
  },
};

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
