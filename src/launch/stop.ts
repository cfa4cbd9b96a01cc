import type { Host } from '../host/types.ts';
import type { LaunchRecord } from './record.ts';
import { removeTraces } from './record.ts';

/**
 * - `stopped`: SIGTERM was enough · `killed`: it took SIGKILL
 * - `gone`: the process of the record runs no more, or its pid belongs to another process now; nothing was signalled
 * - `denied`: it is another user's process · `alive`: it outlived SIGKILL
 */
export type StopOutcome = 'stopped' | 'killed' | 'gone' | 'denied' | 'alive';

/** Seconds between SIGTERM and SIGKILL; engines end in 0.1–0.3 s, also with an open chat. */
const grace = 10;

/**
 * Compares and signals in one script on the host. $1 pid, $2 start time, $3 executable (empty: unknown), $4 grace in seconds.
 * A zombie counts as gone: nothing of it runs.
 */
const script = `
pid=$1 ticks=$2 exe=$3 left=$(($4 * 10))
started() {
  if [ -d /proc/self ]; then
    [ -r "/proc/$pid/stat" ] || return 0
    state=$(sed -e 's/.*) //' "/proc/$pid/stat" 2>/dev/null | tail -n 1)
    case $state in Z*|X*) return 0 ;; esac
    echo "$state" | cut -d ' ' -f 20
  else
    LC_ALL=C ps -o lstart= -p "$pid" 2>/dev/null | sed -e 's/^ *//' -e 's/ *$//'
  fi
}
ours() { [ "$(started)" = "$ticks" ]; }
ours || { echo gone; exit 0; }
if [ -n "$exe" ] && [ -d /proc/self ]; then
  now=$(readlink "/proc/$pid/exe") || { echo denied; exit 0; }
  [ "\${now% (deleted)}" = "\${exe% (deleted)}" ] || { echo gone; exit 0; }
fi
kill -TERM "$pid" 2>/dev/null || { ours && echo denied || echo stopped; exit 0; }
while [ "$left" -gt 0 ]; do
  ours || { echo stopped; exit 0; }
  sleep 0.1 2>/dev/null || { sleep 1; left=$((left - 9)); }
  left=$((left - 1))
done
ours || { echo stopped; exit 0; }
kill -KILL "$pid" 2>/dev/null
for i in 1 2 3 4 5; do
  ours || { echo killed; exit 0; }
  sleep 1
done
echo alive
`;

/** Ends exactly the process of this record. Never by name, never another one that has its pid by now. */
export async function endProcess(host: Host, record: LaunchRecord, seconds = grace): Promise<StopOutcome> {
  // Without a start time nothing proves that the pid is still ours.
  if (record.startTicks === null) return 'gone';
  const { pid, startTicks, executable } = record;
  const { stdout } = await host.script(script, [String(pid), startTicks, executable ?? '', String(seconds)], {
    timeoutMs: (seconds + 20) * 1000,
  });
  const word = stdout.toString('utf8').trim();
  return outcomes.find((outcome) => outcome === word) ?? 'alive';
}

const outcomes: readonly StopOutcome[] = ['stopped', 'killed', 'gone', 'denied', 'alive'];

/** Ends what a record names, then removes the record and the token. The log stays when the process had ended by itself. */
export async function stopLaunch(host: Host, rootHome: string, record: LaunchRecord): Promise<StopOutcome> {
  const outcome = await endProcess(host, record);
  if (outcome !== 'denied' && outcome !== 'alive')
    await removeTraces(host, rootHome, record.id, outcome === 'gone');
  return outcome;
}
