import { readFile } from 'node:fs/promises';
import type { Host } from '../host/types.ts';
import { packaged } from '../tool.ts';
import type { LaunchPlan } from './plan.ts';
import type { LaunchRecord } from './record.ts';

/** Who listens on a port, as far as we may see. */
export interface Holder {
  pid: number;
  command: string;
}

/** How a start went, as `host-scripts/start_engine.py` tells it. The engine runs only after `up`. */
export type StartResult =
  | { outcome: 'home-missing' | 'home-unreadable' | 'home-read-only'; path: string }
  | { outcome: 'busy'; port: number; holder: Holder | null }
  | { outcome: 'not-started'; message: string }
  | {
      outcome: 'exited' | 'unhealthy' | 'timeout';
      port: number;
      /** Last HTTP status of /api/status from whoever answered there. */
      status: number | null;
      /** Negative: ended by this signal. */
      exitCode: number | null;
      holder: Holder | null;
      /** Last lines of its output. */
      tail: string[];
      seconds: number;
    }
  | {
      outcome: 'up';
      port: number;
      pid: number;
      startTicks: string | null;
      executable: string | null;
      tail: string[];
      seconds: number;
    };

export interface StartAsk {
  plan: LaunchPlan;
  /** Goes to the engine's environment; null gives none. */
  token: string | null;
  /** Written before the engine runs, so that an interrupted start is found again. */
  record: LaunchRecord;
  recordPath: string;
  seconds: number;
}

const bootstrap =
  'import json,sys;d=json.loads(sys.stdin.buffer.read());m={};exec(compile(d["script"],"start_engine","exec"),m);print(json.dumps(m["main"](d["ask"])))';

/**
 * Starts the engine on the host, detached, and waits until `/api/status` is served by that very process. One command on the
 * host; everything else than `up` has ended the engine before it returns. An abort may leave it running: see the record.
 */
export async function runStartScript(
  host: Host,
  interpreter: string,
  { plan, token, record, recordPath, seconds }: StartAsk,
  signal: AbortSignal,
): Promise<StartResult> {
  const script = await readFile(packaged('host-scripts/start_engine.py'), 'utf8');
  const ask = {
    argv: plan.argv,
    env: { ...plan.env, ...(token === null ? {} : { HERMES_DASHBOARD_SESSION_TOKEN: token }) },
    unset: plan.unset,
    host: plan.host,
    connectTo: plan.connectTo,
    ports: plan.ports,
    home: record.home,
    log: record.log,
    record,
    recordPath,
    seconds,
  };
  const answer = await host.run([interpreter, '-I', '-B', '-c', bootstrap], {
    stdin: JSON.stringify({ script, ask }),
    timeoutMs: (seconds + 30) * 1000,
    signal,
  });
  return parseResult(answer.stdout.toString('utf8'), answer.stderr.toString('utf8'));
}

function parseResult(stdout: string, stderr: string): StartResult {
  const line = stdout.trim().split('\n').at(-1) ?? '';
  try {
    const result: unknown = JSON.parse(line);
    // Our own script on the host: its shape is tested, not guarded.
    if (typeof result === 'object' && result !== null && 'outcome' in result) return result as StartResult;
  } catch {
    // Its Python could not run it: what it said is the reason.
  }
  return { outcome: 'not-started', message: stderr.trim().slice(-2000) || 'its Python printed nothing' };
}
