import type { Gateway } from './gateway.ts';
import { isGatewayFailure } from './gateway-link.ts';
import type { Attached, GatewaySession } from './gateway-session.ts';
import type { Json } from './json.ts';

/**
 * What became of a prompt.
 *
 * - `started`: it runs, or will in a moment. `recovered`: the engine had forgotten the session and it was attached again first
 * - `queued`: something ran, is being stopped, and this prompt begins by itself (0.18.2, 0.19)
 * - `redirected`: it went into the turn that runs; there will be no turn of its own (0.20 and newer)
 * - `busy`: refused because something runs; nothing was taken (up to 0.17)
 * - `held`: not sent, because the engine takes up an earlier turn by itself, or another turn runs in the attached session
 * - `unknown`: the socket closed, or the time was over, before the answer. It may run, and `running` stays true until the engine says
 *   otherwise: attach again and look, never send it again blindly
 */
export type Submitted =
  | { status: 'started'; recovered: boolean; answer: Json }
  | { status: 'queued' | 'redirected'; recovered: boolean; answer: Json }
  | { status: 'busy'; recovered: boolean }
  | { status: 'held'; attached: Attached }
  | { status: 'unknown' };

const sessionNotFound = 4001;
const busy = 4009;

/** Sends a prompt; a session that the engine has forgotten is attached again by its stored id, and the prompt sent once more. */
export async function submitPrompt(
  gateway: Gateway,
  session: GatewaySession,
  text: string,
): Promise<Submitted> {
  const first = await send(gateway, session, text, false);
  if (first !== 'forgotten') return first;
  const { storedId } = session;
  if (storedId === null) throw new Error('the session has no stored id to attach again by');
  const attached = await gateway.resume(storedId, session);
  if (attached.continues || attached.running) return { status: 'held', attached };
  const second = await send(gateway, session, text, true);
  if (second === 'forgotten')
    throw new Error('the engine does not know the session that it has just attached');
  return second;
}

async function send(
  gateway: Gateway,
  session: GatewaySession,
  text: string,
  recovered: boolean,
): Promise<Submitted | 'forgotten'> {
  const { running: ranBefore, told } = session;
  session.running = true;
  try {
    const answer = await gateway.call('prompt.submit', { session_id: session.runtimeId, text });
    const { status } = answer;
    return {
      status: status === 'queued' || status === 'redirected' ? status : 'started',
      recovered,
      answer,
    };
  } catch (error) {
    const failure = isGatewayFailure(error) ? error : null;
    if (failure?.kind === 'closed' || failure?.kind === 'timeout') return { status: 'unknown' };
    const isBusy = failure?.kind === 'refused' && failure.code === busy;
    // An event that came meanwhile knows better.
    if (session.told === told) session.running = isBusy || ranBefore;
    if (isBusy) return { status: 'busy', recovered };
    if (failure?.kind === 'refused' && failure.code === sessionNotFound) return 'forgotten';
    throw error;
  }
}
