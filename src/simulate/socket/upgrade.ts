import type { IncomingMessage } from 'node:http';
import { burnTicket } from '../http/gate.ts';
import { acceptedHost, lastOf } from '../http/request.ts';
import type { Request } from '../http/request.ts';
import { loopbackNames, sameSecret } from '../world.ts';
import type { World } from '../world.ts';

/** Whether an upgrade is accepted, by the gates of the engine in their order: chat, credential, Host, Origin, peer. */

export type Upgrade =
  | { kind: 'accept'; protocol: string | null }
  /** Bare 403, whatever the reason. */
  | { kind: 'refuse' }
  /** Not a WebSocket handshake: 400 with this text. */
  | { kind: 'malformed'; text: string };

const gatewayProtocol = 'hermes-gateway-v1';
const ticketProtocol = 'hermes-gateway-ticket.';

const offered = (message: IncomingMessage): string[] =>
  (message.headers['sec-websocket-protocol'] ?? '').split(',').map((word) => word.trim());

/** The credential was right; a ticket is spent even when a later gate refuses. */
const authorized = (
  world: World,
  request: Request,
  protocols: string[],
): { protocol: string | null } | null => {
  const { gate } = world;
  if (gate === null) {
    const token = lastOf(request.query, 'token');
    return token !== null && sameSecret(token, world.token) ? { protocol: null } : null;
  }
  const ticket = lastOf(request.query, 'ticket');
  if (ticket !== null) return burnTicket(gate, ticket) ? { protocol: null } : null;
  const inProtocol = protocols.find((word) => word.startsWith(ticketProtocol));
  if (inProtocol === undefined || world.release.gate?.subprotocolTicket !== true) return null;
  return protocols.includes(gatewayProtocol) && burnTicket(gate, inProtocol.slice(ticketProtocol.length))
    ? { protocol: gatewayProtocol }
    : null;
};

const acceptedOrigin = (world: World, origin: string | undefined): boolean => {
  if (origin === undefined) return true;
  const web = /^https?:\/\/([^/]*)/i.exec(origin);
  if (web !== null) return acceptedHost(world, web[1]);
  return world.release.socketGuards === 'web-origins';
};

const acceptedPeer = (world: World, request: Request): boolean => {
  if (world.gate !== null || !world.loopback) return true;
  const forwarded = request.headers['x-forwarded-for'];
  const claimed = typeof forwarded === 'string' ? forwarded.split(',')[0]?.trim() : undefined;
  const peer = world.release.forwardedPeer && claimed !== undefined ? claimed : request.peer;
  return loopbackNames.includes(peer);
};

const accepted = (world: World, request: Request): boolean =>
  world.release.socketGuards === 'none' ||
  (acceptedHost(world, request.headers.host) && acceptedOrigin(world, request.headers.origin));

const hasRoute = (world: World, { path, query }: Request): boolean => {
  if (path === '/api/ws') return true;
  if (path === '/api/console') return world.release.console !== null;
  return ['/api/events', '/api/pub'].includes(path) && /^[\w.:-]{1,128}$/.test(query.get('channel') ?? '');
};

const handshakeProblem = (message: IncomingMessage): string | null => {
  const version = message.headers['sec-websocket-version'];
  if (message.headers['sec-websocket-key'] === undefined) return 'missing Sec-WebSocket-Key header';
  return version === '13' ? null : `invalid Sec-WebSocket-Version header: ${version ?? ''}`;
};

export const judgeUpgrade = (world: World, message: IncomingMessage, request: Request): Upgrade => {
  const problem = handshakeProblem(message);
  if (problem !== null)
    return { kind: 'malformed', text: `Failed to open a WebSocket connection: ${problem}.\n` };
  if (!hasRoute(world, request) || !world.chat) return { kind: 'refuse' };
  const credential = authorized(world, request, offered(message));
  if (credential === null) return { kind: 'refuse' };
  return accepted(world, request) && acceptedPeer(world, request)
    ? { kind: 'accept', protocol: credential.protocol }
    : { kind: 'refuse' };
};

/** The refusal as it goes over the wire; the engine names no server here. */
export const plainRefusal = (status: string, body: string): string =>
  [
    `HTTP/1.1 ${status}`,
    `Date: ${new Date().toUTCString()}`,
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Content-Type: text/plain; charset=utf-8',
    '',
    body,
  ].join('\r\n');
