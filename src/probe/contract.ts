import type { ContractOnDisk } from '../engine/schema.ts';
import { field } from './json.ts';
import { messageOf } from './connect.ts';
import type { Line } from './frames.ts';
import type { Run } from './run.ts';
import type { ContractFact } from './schema.ts';
import { isBefore016 } from './status.ts';

/**
 * The contract of the serving engine: from disk, else from a memory-only session where that was asked for, else from the version.
 * `line` is null when no WebSocket stands. Source: facts of DESKTOP_BACKEND_CONTRACT, tui_gateway/server.py 0.16+.
 */
export async function readContract(run: Run, line: Line | null): Promise<ContractFact> {
  const { needs } = run.input;
  const disk = onDisk(await run.contractOnDisk);
  if (disk !== null && needs.sessionProbe !== 'always') return disk;
  const before = isBefore016(run.status?.version ?? null);
  if (before === true)
    return disk ?? { ...unknown(null), from: 'version', state: 'none', why: 'no contract before 0.16.0' };
  if (needs.sessionProbe === 'never') return disk ?? unknown('no session was to be made for it');
  if (needs.sessionProbe === 'auto' && !needs.contract) return disk ?? unknown('not-needed');
  // What a version that nobody knows does with a session is not known either; a field of 0.15 or later vouches for it.
  if (before === null && needs.sessionProbe === 'auto' && run.status?.authRequired === null)
    return disk ?? unknown('the version is not known');
  if (line === null) return disk ?? unknown('no WebSocket to ask over');
  const asked = await fromSession(run, line);
  return asked.state === 'unknown' && disk !== null ? disk : asked;
}

function onDisk(disk: ContractOnDisk | null): ContractFact | null {
  if (disk === null || disk.state === 'unknown') return null;
  return { value: disk.value, from: 'source', state: disk.state, raw: disk.raw, why: null };
}

/** The session lives in memory until a first prompt, and is closed at once; the engine schedules an agent build for it. */
async function fromSession(run: Run, line: Line): Promise<ContractFact> {
  try {
    const { json, text } = await line.call('session.create', {
      close_on_disconnect: true,
      source: 'hermes-compat',
    });
    const result = field(json, 'result');
    const id = field(result, 'session_id');
    if (typeof id === 'string') await line.call('session.close', { session_id: id }).catch(() => undefined);
    const error = field(json, 'error');
    if (result === undefined) return unknown(`session.create answered an error: ${refusal(run, error)}`);
    return contractOf(run, field(result, 'info'), text);
  } catch (error) {
    return unknown(run.redact.text(`session.create: ${messageOf(error)}`, 200));
  }
}

function refusal(run: Run, error: unknown): string {
  const code = field(error, 'code');
  const message = field(error, 'message');
  return run.redact
    .text(`${typeof code === 'number' ? code : '?'} ${typeof message === 'string' ? message : ''}`, 150)
    .trim();
}

/** A whole number from 0 on is a contract. Missing is not old: from 0.16 on the number belongs there, so without it nothing is known. */
function contractOf(run: Run, info: unknown, text: string): ContractFact {
  const value = field(info, 'desktop_contract');
  if (value === undefined) return unknown('the new session says none');
  const written = /"desktop_contract"\s*:\s*("(?:[^"\\]|\\.){0,200}"|[^,}\]\s]{1,200})/.exec(text)?.[1];
  const raw = run.redact.text(written ?? JSON.stringify(value) ?? '', 80);
  if (Number.isSafeInteger(value) && (value as number) >= 0 && !Object.is(value, -0))
    return { value: value as number, from: 'rpc', state: 'known', raw, why: null };
  return { ...unknown('not a whole number from 0 on'), from: 'rpc', raw };
}

const unknown = (why: string | null): ContractFact => ({
  value: null,
  from: null,
  state: 'unknown',
  raw: null,
  why,
});
