import { putQuestion, takeRequest } from './gateway-asked.ts';
import { joinAgain } from './gateway-join.ts';
import { gatewayFailure, isGatewayFailure, openLink, type Link } from './gateway-link.ts';
import { questionOfEvent } from './gateway-questions.ts';
import { noteEvent, type Attached } from './gateway-session.ts';
import type { State } from './gateway-state.ts';

/** A socket that does not last this long did not serve; what follows it waits. */
const shortMs = 10_000;
const longestPause = 7;

/** Opens a socket that has ended its handshake; one that does not get there is closed. @throws what `connect` rejects with, GatewayFailure */
export async function openSocket(state: State): Promise<void> {
  const { drops } = state;
  const link = await newLink(state);
  try {
    if (state.drops !== drops) throw ended();
    state.opening = link;
    await handshake(state, link);
    if (state.drops !== drops || !link.isOpen()) throw ended();
  } catch (error) {
    link.close();
    throw error;
  } finally {
    if (state.opening === link) state.opening = null;
  }
  state.link = link;
  state.openedAt = performance.now();
}

const ended = () => gatewayFailure('closed', 'client.capabilities', 'the socket closed while it opened');

async function newLink(state: State): Promise<Link> {
  const { options } = state;
  state.sockets += 1;
  state.asked = new Set();
  // Not a constant: the socket may close while it opens.
  let link: Link | null = null;
  link = await openLink(options.connect, {
    conn: String(state.sockets),
    now: options.now ?? (() => performance.now()),
    record: (record) => options.onRecord?.(record),
    onEvent(params) {
      for (const session of state.sessions)
        if (session.runtimeId === params['session_id']) noteEvent(session, params);
      options.onEvent?.(params);
      const question = questionOfEvent(params);
      if (question !== null) void putQuestion(state, question);
    },
    onRequest(id, method, params) {
      if (link !== null) takeRequest(state, link, id, method, params);
    },
    onClose(why) {
      if (link !== null && state.link === link) lost(state, why);
    },
  });
  return link;
}

function lost(state: State, why: string): void {
  state.link = null;
  state.shortLived = performance.now() - state.openedAt < shortMs ? state.shortLived + 1 : 0;
  if (state.reconnecting === null) state.options.onLost?.(why);
}

/** Only engines that ask by requests know it; others say that there is no such method. */
async function handshake(state: State, link: Link): Promise<void> {
  const params = { server_requests: true };
  const answer = await link
    .request('client.capabilities', params, state.timeoutMs)
    .catch((error: unknown) => {
      if (!isGatewayFailure(error) || error.kind !== 'refused') throw error;
      return null;
    });
  state.countsDeclines = answer?.['declines_not_shown'] === true;
}

/** Lets the socket go, also one that is being opened. */
export function drop(state: State): void {
  state.drops += 1;
  state.shortLived = 0;
  state.reconnecting = null;
  letGo(state);
}

function letGo(state: State): void {
  const { link, opening } = state;
  state.link = null;
  state.opening = null;
  link?.close();
  opening?.close();
}

/** One at a time: a second call gets the promise of the first. */
export function reconnect(state: State): Promise<readonly Attached[]> {
  if (state.reconnecting !== null) return state.reconnecting;
  const mine = tryAgain(state).finally(() => {
    if (state.reconnecting === mine) state.reconnecting = null;
  });
  state.reconnecting = mine;
  return mine;
}

/** An attempt is the socket and every session on it; where the engine itself refuses something, there is no other attempt. */
async function tryAgain(state: State): Promise<readonly Attached[]> {
  const { drops, sessions, options, shortLived } = state;
  const { attempts = 5, pauseMs = 300 } = options;
  const seen = new Map([...sessions].map((session) => [session, { ...session }] as const));
  letGo(state);
  // A server that lets everyone in and throws everyone out would be asked again at once, for ever.
  if (shortLived > 1) await pause(pauseMs * 2 ** (Math.min(shortLived - 1, longestPause) - 1));
  for (let attempt = 1; ; attempt += 1) {
    if (state.drops !== drops) throw ended();
    try {
      await openSocket(state);
      return await joinAgain(state, seen);
    } catch (error) {
      if (attempt >= attempts || state.link !== null || state.drops !== drops) throw error;
      await pause(pauseMs * 2 ** (attempt - 1));
    }
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
