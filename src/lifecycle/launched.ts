import type { EngineProcess } from '../engine/schema.ts';
import { FileError, type Host } from '../host/types.ts';
import { credentialOf, recordOf } from '../launch/recorded.ts';
import type { Credential } from '../target/types.ts';
import type { Seen } from './choose-service.ts';

/** A dashboard that `launch` started: which process, and how its token can be had again. */
export interface Launched {
  pid: number;
  credential(): Promise<Credential | null>;
}

/** The launch record of this process, or null: another started it, or the records are not ours to read. */
export async function launchedOf(host: Host, seen: Seen, running: EngineProcess): Promise<Launched | null> {
  const root = seen.host.home?.root ?? null;
  const homes = [...new Set([root, running.hermesHome].filter((home) => home !== null))];
  for (const home of homes) {
    const record = await recordOf(host, home, running).catch(ignoreUnreadable);
    if (record !== null) return { pid: running.pid, credential: () => credentialOf(host, home, record) };
  }
  return null;
}

/** The same facts with the owner of that process known. */
export const markLaunched = (seen: Seen, launched: Launched | null): Seen =>
  launched === null
    ? seen
    : {
        ...seen,
        processes: seen.processes.map((running) =>
          running.pid === launched.pid ? { ...running, owner: { kind: 'launch', name: null } } : running,
        ),
      };

function ignoreUnreadable(error: unknown): null {
  if (error instanceof FileError) return null;
  throw error;
}
