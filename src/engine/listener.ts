import { type Gathered, linesOf } from './gather.ts';
import { userName } from './installs.ts';
import { parseLsof } from './listeners.ts';
import type { EngineProcess, HostFacts } from './schema.ts';

type Listener = NonNullable<HostFacts['listener']>;

interface Holder {
  pid: number | null;
  uid: number | null;
  program: string | null;
}

/** Who listens on the asked port. Without rights only the user id is known; then a command line of that user that names the port tells. */
export function listenerOf(
  gathered: Gathered,
  processes: readonly EngineProcess[],
  port: number | null,
): Listener | null {
  const holder = holderOf(gathered);
  if (port === null || holder === null) return null;
  const process =
    holder.pid === null
      ? processes.find((each) => each.port === port && each.uid === holder.uid)
      : processes.find((each) => each.pid === holder.pid);
  return {
    port,
    pid: holder.pid ?? process?.pid ?? null,
    uid: holder.uid,
    user: holder.uid === null ? null : userName(gathered, holder.uid),
    program: holder.program,
    engine: process ? 'yes' : holder.pid === null ? 'unknown' : 'no',
  };
}

function holderOf(gathered: Gathered): Holder | null {
  const bySocket = (gathered.records.get('listener') ?? []).map(([pid = '', uid = '', , program = '']) => ({
    pid: pid === '' ? null : Number(pid),
    uid: uid === '' ? null : Number(uid),
    program: program === '' ? null : program,
  }));
  const all: Holder[] = [...bySocket, ...parseLsof(linesOf(gathered, 'lsof-port'))];
  return all.find(({ pid }) => pid !== null) ?? all[0] ?? null;
}
