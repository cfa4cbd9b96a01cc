import type { Connection, Hub } from './hub.ts';
import { methodsOf } from './methods.ts';
import type { Reply } from './reply.ts';
import { rpcError } from './reply.ts';

/** JSON-RPC as the gateway speaks it: one object a text message. */

const outOfSync =
  ' — the client and the Hermes backend are out of sync (different versions); run `hermes update` and restart both';

const unknownMethod = (hub: Hub, method: string): Reply =>
  rpcError(-32601, `unknown method: ${method}${hub.world.release.serverRequests ? outOfSync : ''}`);

/** Newest releases refuse parameters that they do not know, before the method runs. */
const strangeParam = (hub: Hub, known: string, params: Record<string, unknown>): string | null => {
  if (!hub.world.release.serverRequests) return null;
  const names = known.split(' ');
  return Object.keys(params).find((name) => !names.includes(name)) ?? null;
};

const call = (hub: Hub, connection: Connection, method: string, params: Record<string, unknown>): Reply => {
  const found = methodsOf(hub.world.release).find(({ name }) => name === method);
  if (found === undefined) return unknownMethod(hub, method);
  const strange = strangeParam(hub, found.params, params);
  if (strange !== null)
    return rpcError(
      4000,
      `invalid params for ${method}: ${strange}: Extra inputs are not permitted${outOfSync}`,
    );
  return found.answer({ hub, connection, params });
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reply to a request that parsed as JSON; null where there is none to give. */
const replyTo = (hub: Hub, connection: Connection, frame: unknown): { id: unknown; reply: Reply } | null => {
  if (!isRecord(frame)) return { id: null, reply: rpcError(-32600, 'invalid request: expected an object') };
  const { id = null, method, params = {} } = frame;
  if (method === undefined && typeof id === 'string' && connection.waiting.has(id)) {
    connection.waiting.get(id)?.(frame['result'] ?? null);
    connection.waiting.delete(id);
    return null;
  }
  if (typeof method !== 'string' || method === '')
    return { id, reply: rpcError(-32600, 'invalid request: method must be a non-empty string') };
  if (params !== null && !isRecord(params))
    return { id, reply: rpcError(-32602, 'invalid params: expected an object') };
  return { id, reply: call(hub, connection, method, params ?? {}) };
};

/** Takes one text message of a client. */
export const receive = (hub: Hub, connection: Connection, text: string): void => {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    connection.send({ jsonrpc: '2.0', error: { code: -32700, message: 'parse error' }, id: null });
    return;
  }
  hub.world.frames.push(frame);
  if (isRecord(frame) && hub.player?.receive(connection, frame) === true) return;
  const answer = replyTo(hub, connection, frame);
  if (answer !== null) connection.send({ jsonrpc: '2.0', id: answer.id, ...answer.reply });
};
