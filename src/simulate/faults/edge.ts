import type { IncomingMessage } from 'node:http';
import { edge, edgeUpgrade, page } from './fault.ts';
import type { Fault } from './fault.ts';

/** Something stands in front of the engine, or in its place. */

interface EdgeAnswer {
  name: string;
  says: string;
  status: number;
  reason: string;
  body?: string;
  headers?: (message: IncomingMessage) => Record<string, string>;
}

/** The same answer to every request and upgrade. */
const always = ({ name, says, status, reason, body = '', headers = () => ({}) }: EdgeAnswer): Fault => ({
  name,
  says,
  request: (message, response) => edge(response, status, body, headers(message)),
  upgrade: (message, socket) => edgeUpgrade(socket, `${status} ${reason}`, body, headers(message)),
});

const host = (message: IncomingMessage): string => message.headers.host ?? 'localhost';

const refusals: readonly Fault[] = [
  always({
    name: 'edge-401',
    says: 'a proxy answers 401 to everything, without saying how to log in',
    status: 401,
    reason: 'Unauthorized',
    body: page('401 Authorization Required'),
  }),
  always({
    name: 'edge-403',
    says: 'a proxy answers 403 with a page to everything',
    status: 403,
    reason: 'Forbidden',
    body: page('403 Forbidden'),
  }),
  always({
    name: 'edge-429',
    says: 'a proxy limits the rate',
    status: 429,
    reason: 'Too Many Requests',
    body: page('429 Too Many Requests'),
    headers: () => ({ 'retry-after': '30' }),
  }),
  always({
    name: 'basic-auth',
    says: 'a proxy wants a password of its own',
    status: 401,
    reason: 'Unauthorized',
    body: page('401 Authorization Required'),
    headers: () => ({ 'www-authenticate': 'Basic realm="private"' }),
  }),
  always({
    name: 'bad-gateway',
    says: 'a proxy whose engine is down: 502',
    status: 502,
    reason: 'Bad Gateway',
    body: page('502 Bad Gateway'),
  }),
  always({
    name: 'unavailable',
    says: 'a proxy whose engine is down: 503',
    status: 503,
    reason: 'Service Unavailable',
    body: page('503 Service Unavailable'),
  }),
  always({
    name: 'no-site',
    says: 'a proxy without a site for this name: 200, empty',
    status: 200,
    reason: 'OK',
  }),
  always({
    name: 'wrong-path',
    says: 'a proxy that knows no such path: 404 with a page',
    status: 404,
    reason: 'Not Found',
    body: page('404 Not Found'),
  }),
  always({
    name: 'plain-to-tls',
    says: 'plain HTTP to a TLS port',
    status: 400,
    reason: 'Bad Request',
    body: page('400 The plain HTTP request was sent to HTTPS port'),
  }),
  always({
    name: 'client-certificate',
    says: 'a proxy that wants a certificate of the client',
    status: 400,
    reason: 'Bad Request',
    body: page('400 No required SSL certificate was sent'),
  }),
];

const redirects: readonly Fault[] = [
  always({
    name: 'redirect-https',
    says: 'every request leads to the same path over https',
    status: 301,
    reason: 'Moved Permanently',
    headers: (message) => ({ location: `https://${host(message)}${message.url ?? '/'}` }),
  }),
  always({
    name: 'redirect',
    says: 'every request leads to a login on another host',
    status: 302,
    reason: 'Found',
    headers: () => ({ location: 'https://login.example.com/start?rd=hermes' }),
  }),
  always({
    name: 'redirect-inside',
    says: 'every request leads to another path of the same site',
    status: 302,
    reason: 'Found',
    headers: (message) => ({ location: `http://${host(message)}/hermes/` }),
  }),
  always({
    name: 'redirect-loop',
    says: 'every request leads to itself',
    status: 302,
    reason: 'Found',
    headers: (message) => ({ location: message.url ?? '/' }),
  }),
];

const places: readonly Fault[] = [
  always({
    name: 'login-page',
    says: 'a login page for everything, with 200',
    status: 200,
    reason: 'OK',
    body: page('Sign in to continue', '<form><input type="password"></form>'),
  }),
  always({
    name: 'html-everywhere',
    says: 'another product: a page for everything, with 200',
    status: 200,
    reason: 'OK',
    body: page('Router administration'),
  }),
  {
    name: 'other-service',
    says: 'another product: JSON for everything',
    request: (_, response) =>
      edge(response, 200, '{"name":"node-1","cluster_name":"search","tagline":"You Know"}', {
        'content-type': 'application/json',
      }),
    upgrade: (_, socket) =>
      edgeUpgrade(socket, '404 Not Found', '{"error":"no handler"}', { 'Content-Type': 'application/json' }),
  },
  {
    name: 'api-server',
    says: "the engine's other server, for chat completions, instead of its dashboard",
    request: (message, response) => {
      const path = (message.url ?? '/').split('?')[0];
      const headers = { server: 'Python/3.11 aiohttp/3.13.3' };
      if (path === '/health')
        return edge(response, 200, '{"status": "ok", "platform": "hermes-agent", "version": "0.19.0"}', {
          ...headers,
          'content-type': 'application/json; charset=utf-8',
        });
      if (path === '/api/sessions' || path?.startsWith('/v1/'))
        return edge(response, 401, '{"error": {"message": "Invalid API key", "code": "invalid_api_key"}}', {
          ...headers,
          'content-type': 'application/json; charset=utf-8',
        });
      return edge(response, 404, '404: Not Found', {
        ...headers,
        'content-type': 'text/plain; charset=utf-8',
      });
    },
    upgrade: (_, socket) =>
      edgeUpgrade(socket, '404 Not Found', '404: Not Found', {
        Server: 'Python/3.11 aiohttp/3.13.3',
        'Content-Type': 'text/plain; charset=utf-8',
      }),
  },
  {
    name: 'http2-only',
    says: 'a port that speaks only HTTP/2',
    connection: (socket) => {
      // SETTINGS, then GOAWAY: what such a server sends to a client that speaks HTTP/1.
      socket.end(Buffer.from('00000604000000000000040000ffff0000080700000000000000000000000001', 'hex'));
    },
  },
  {
    name: 'not-http',
    says: 'a port that speaks another protocol',
    connection: (socket) => {
      socket.end('SSH-2.0-OpenSSH_9.2p1\r\n');
    },
  },
];

/** Faults of the engine's surroundings that concern only the upgrade. */
const upgrades: readonly Fault[] = [
  { name: 'drop-upgrade', says: 'a proxy that drops the Upgrade header', dropsUpgrade: true },
  { name: 'no-ws-library', says: 'an engine without a WebSocket library', dropsUpgrade: true },
  {
    name: 'edge-403-ws',
    says: 'a proxy refuses upgrades with a page, and lets the rest through',
    upgrade: (_, socket) => edgeUpgrade(socket, '403 Forbidden', page('403 Forbidden')),
  },
  {
    name: 'upgrade-426',
    says: 'a proxy answers 426 to upgrades',
    upgrade: (_, socket) => edgeUpgrade(socket, '426 Upgrade Required', page('426 Upgrade Required')),
  },
  {
    name: 'upgrade-page',
    says: 'a proxy answers upgrades with a page and 200',
    upgrade: (_, socket) => edgeUpgrade(socket, '200 OK', page('Sign in to continue')),
  },
];

/** What a proxy changes on the way. */
const changes: readonly Fault[] = [
  {
    name: 'prefix-not-stripped',
    says: 'a proxy that passes its own path on',
    see: (request) => ({ ...request, path: `/hermes${request.path}` }),
  },
  {
    name: 'foreign-host',
    says: 'a proxy that passes its public name on as Host',
    see: (request) => ({ ...request, headers: { ...request.headers, host: 'hermes.example.com' } }),
  },
  {
    name: 'foreign-host-ws',
    says: 'a proxy that passes the Host of upgrades on, and is known by a public name',
    // A client that says 127.0.0.1 without port is what the proxy passes on too.
    see: (request, upgrade) =>
      upgrade && request.headers.host !== '127.0.0.1'
        ? { ...request, headers: { ...request.headers, host: 'hermes.example.com' } }
        : request,
  },
  {
    name: 'foreign-origin',
    says: 'a proxy that puts its own Origin into upgrades',
    see: (request, upgrade) =>
      upgrade
        ? { ...request, headers: { ...request.headers, origin: 'https://hermes.example.com' } }
        : request,
  },
  {
    name: 'foreign-peer',
    says: 'every client comes from beyond loopback',
    see: (request) => ({ ...request, peer: '192.0.2.7' }),
  },
  {
    name: 'ws-path-wrong',
    says: 'a proxy that maps /api/ws to another path',
    see: (request) => (request.path === '/api/ws' ? { ...request, path: '/api/ws/' } : request),
  },
];

export const edgeFaults: readonly Fault[] = [...refusals, ...redirects, ...places, ...upgrades, ...changes];
