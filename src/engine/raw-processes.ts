import { type HostClock, startTicks } from './clock.ts';
import { type Gathered, linesOf, recordsOf } from './gather.ts';
import { parseListeners, parseLsof, socketInodes } from './listeners.ts';
import { psLine } from './ps-line.ts';

/** A process as the records have it, before its command line and environment are understood. */
export interface RawProcess {
  pid: number;
  interpreter: string | null;
  /** Number of its install in the records; empty when it could not be reached. */
  install: string;
  argv: string[];
  /** Known from ps only; procfs tells all ancestors. */
  ppid: number | null;
  uid: number | null;
  ticks: string | null;
  startMs: number | null;
  /** What was kept of its environment. */
  env: (name: string) => string[] | null;
}

/** Address and port that a process listens on. */
export interface Bound {
  address: string;
  port: number;
}

export function rawProcesses(gathered: Gathered, clock: HostClock): RawProcess[] {
  const byPs = new Map(
    linesOf(gathered, 'ps').flatMap((line) => {
      const found = psLine(line);
      return found === null ? [] : [[found.pid, found] as const];
    }),
  );
  return (gathered.records.get('process') ?? []).map(([pid = '', install = '', interpreter = '']) => {
    const ps = byPs.get(Number(pid));
    const ticks = startTicks(gathered.sections.get(`stat.${pid}`) ?? '');
    const uid = recordsOf(gathered, 'owner', pid)[0]?.[0];
    const env = recordsOf(gathered, 'env', pid);
    return {
      pid: Number(pid),
      interpreter: interpreter === '' ? null : interpreter,
      install,
      argv: ps?.argv ?? argvOf(gathered.sections.get(`argv.${pid}`) ?? ''),
      ppid: ps?.ppid ?? null,
      uid: ps?.uid ?? (uid === undefined || uid === '' ? null : Number(uid)),
      ticks,
      startMs: ps?.startMs ?? clock.startMs(ticks),
      env: (name) => env.find(([key]) => key === name)?.slice(1) ?? null,
    };
  });
}

/** One argument a line; a line break inside an argument came as \u0001. */
const argvOf = (text: string): string[] => text.split('\n').map((arg) => arg.replaceAll('\u0001', '\n'));

/** Listening sockets by process; a process whose sockets this account may not see is not in it. */
export function boundPorts(gathered: Gathered): Map<number, Bound[]> {
  const bound = new Map<number, Bound[]>();
  const listeners = parseListeners(linesOf(gathered, 'tcp'));
  for (const [pid, inodes] of socketInodes(linesOf(gathered, 'sockets'))) {
    const own = listeners.filter(({ inode }) => inodes.has(inode));
    if (inodes.size > 0) bound.set(pid, own);
  }
  for (const { pid, address, port } of parseLsof(linesOf(gathered, 'lsof')))
    bound.set(pid, [...(bound.get(pid) ?? []), { address, port }]);
  return bound;
}
