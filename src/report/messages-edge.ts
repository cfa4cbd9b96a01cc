import type { Args, Messages } from './message.ts';
import { has, proxyOr, value, viaProxy } from './message.ts';

const where = (args: Args): string => value(args, 'url', 'the address');
const socket = (args: Args): string => (value(args, 'at', '') === 'ws' ? ', at the WebSocket upgrade' : '');
const upper = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
const certificate = (args: Args): string =>
  [
    has(args, 'subject') ? `for ${value(args, 'subject', '')}` : '',
    has(args, 'issuer') ? `by ${value(args, 'issuer', '')}` : '',
  ]
    .filter((part) => part !== '')
    .join(' ');

/** TLS, and what stands between us and the engine. */
export const edgeMessages: Messages = {
  TLS_UNTRUSTED: {
    says: (args) =>
      `The certificate of ${where(args)} is not trusted (${certificate(args) || value(args, 'error', 'unknown issuer')})`,
    means: 'It is self-signed, from a private authority, or sent without its intermediate certificate.',
    seen: 'TLS verification failed; issuer and names come from a second connection that sends no secret.',
    todo: 'Give the authority with --ca FILE, or let the server send its whole chain. Verification is never switched off.',
  },
  TLS_EXPIRED: {
    says: (args) =>
      `The certificate of ${where(args)} is outside its dates (${value(args, 'validFrom', '?')} to ${value(args, 'validTo', '?')})`,
    means: 'It expired or is not valid yet, so every client refuses it.',
    seen: 'TLS verification: CERT_HAS_EXPIRED or CERT_NOT_YET_VALID.',
    todo: 'Renew it where it is installed, and compare the clocks of both machines.',
  },
  TLS_NAME_MISMATCH: {
    says: (args) => `The certificate of ${where(args)} is for other names: ${value(args, 'names', 'none')}`,
    means: 'It is trusted, but not for the name that was used.',
    seen: 'TLS verification: ERR_TLS_CERT_ALTNAME_INVALID.',
    todo: 'Use one of the names that it has, or get a certificate for this one.',
  },
  TLS_PROTOCOL: {
    says: (args) => `No TLS connection to ${where(args)} came about (${value(args, 'error', 'protocol')})`,
    means: 'The port speaks plain HTTP, an old TLS version, or has no certificate for the name.',
    seen: 'The handshake failed before any certificate could be checked.',
    todo: 'Try the address with http://; if it must be https, fix protocol versions and name on the server.',
  },
  HTTP2_ONLY_PORT: {
    says: (args) => `${where(args)} speaks only HTTP/2 without TLS`,
    means: 'WebSocket clients need HTTP/1.1 there.',
    seen: 'The answer was HTTP/2 frames instead of HTTP/1.',
    todo: 'Let the port accept HTTP/1.1 too.',
  },
  HTTP_TO_TLS: {
    says: (args) => `${where(args)} expects https, and was asked with http`,
    means: 'The port is a TLS port.',
    seen: 'It answered 400 “plain HTTP request was sent to HTTPS port”.',
    todo: 'Use the same address with https://.',
  },
  MTLS_REQUIRED: {
    says: (args) => `${where(args)} wants a client certificate`,
    means: 'The proxy in front lets in only clients that show a certificate.',
    seen: 'It answered “No required SSL certificate was sent”, or the handshake ended asking for one.',
    todo: 'Give it with --client-cert FILE; the client needs it on HTTP and on the WebSocket.',
  },
  REDIRECT_HTTPS: {
    says: (args) => `${where(args)} sends everybody to ${value(args, 'use', 'https')}`,
    means: 'A redirect is never followed with a credential, and a WebSocket cannot follow it at all.',
    seen: 'A redirect to the same path with https, perhaps under another name.',
    todo: 'Use the https address in the client.',
    now: (args) => `Use ${value(args, 'use', 'the https address')} in the client.`,
  },
  EDGE_LOGIN: {
    says: (args) =>
      `A login page stands in front of ${where(args)}${has(args, 'location') ? ` (it sends to ${value(args, 'location', '').split('?')[0]})` : has(args, 'title') ? `: “${value(args, 'title', '')}”` : ''}`,
    means:
      'Single sign-on or an access gateway answers before the engine does; a client without that login gets HTML.',
    seen: '/api/status is redirected elsewhere, or is a page with a login title.',
    todo: 'Give the headers that let a service pass with --header-file (for HTTP and WebSocket), or exempt /api/ there.',
  },
  PROXY_BASIC_AUTH: {
    says: (args) =>
      has(args, 'proxy')
        ? `${upper(proxyOr(args, ''))} asks for a password (HTTP 407)${socket(args)}`
        : `A proxy in front of ${where(args)} asks for a password (${value(args, 'challenge', 'Basic')})`,
    means: 'The engine never asks this way, so something in front does.',
    seen: '401 with WWW-Authenticate on a path that the engine serves to everybody.',
    todo: 'Put the Authorization header into a --header-file; note that clients need the same header for the WebSocket.',
    now: viaProxy,
  },
  UPSTREAM_DOWN: {
    says: (args) =>
      has(args, 'proxy')
        ? `${upper(proxyOr(args, ''))} cannot reach ${where(args)} (HTTP ${value(args, 'status', '502')})${socket(args)}`
        : `The proxy at ${where(args)} cannot reach the engine (HTTP ${value(args, 'status', '502')})`,
    means: 'The proxy works; the dashboard behind it is down, or at another port.',
    seen: '502, 503 or 504 with the proxy’s own page.',
    todo: 'Start the dashboard on that machine with `hermes-compat launch`, or correct the port in the proxy.',
    now: viaProxy,
  },
  NO_SITE: {
    says: (args) => `The server at ${where(args)} has no site for this name: an empty answer`,
    means: 'Caddy answers 200 with nothing when no site matches the host and path.',
    seen: '/api/status is 200 with an empty body.',
    todo: 'Use the host name and path that the proxy is configured for.',
  },
  WRONG_PATH: {
    says: (args) =>
      has(args, 'loop')
        ? `${where(args)} redirects to itself`
        : has(args, 'use')
          ? `${where(args)} lacks its path: the dashboard seems to be at ${value(args, 'use', '')}`
          : `There is no dashboard at this path of ${where(args)}`,
    means: 'A prefix is missing or too much: the proxy or the engine has nothing at <address>/api/status.',
    seen: '404 for /api/status from a proxy, or the engine’s own “No such API endpoint”.',
    todo: 'Give the base URL with the prefix under which the proxy publishes the dashboard.',
    now: (args) =>
      has(args, 'loop')
        ? 'A proxy redirects what came over https already: it must look at X-Forwarded-Proto, or the redirect must go.'
        : has(args, 'use')
          ? `Use ${value(args, 'use', '')}.`
          : 'Give the base URL with the prefix under which the proxy publishes the dashboard.',
  },
  PREFIX_NOT_STRIPPED: {
    says: (args) =>
      has(args, 'doubleSlash')
        ? `The address ${where(args)} has a double slash, so the engine answers with its page`
        : `The proxy passes the prefix of ${where(args)} on to the engine, which answers every path with its page`,
    means: 'The engine knows /api/status, not /prefix/api/status.',
    seen: '/api/status is the dashboard’s HTML page.',
    todo: 'Strip the prefix in the proxy and tell the engine with X-Forwarded-Prefix.',
  },
  EDGE_REFUSES_HTTP: {
    says: (args) =>
      has(args, 'proxy')
        ? `${upper(proxyOr(args, ''))} refuses the way to ${where(args)} (HTTP ${value(args, 'status', '403')})${socket(args)}`
        : `Something in front of ${where(args)} refuses us (HTTP ${value(args, 'status', '403')}${has(args, 'retryAfter') ? `, retry after ${value(args, 'retryAfter', '')}` : ''})`,
    means: 'The engine serves /api/status to everybody, so a gateway, firewall or rate limit said this.',
    seen: '401 without WWW-Authenticate, 403, 429, or a 404 that is not the engine’s.',
    todo: 'Allow this client there, or give the headers that it wants with --header-file.',
    now: (args) =>
      viaProxy(args) ||
      (value(args, 'status', '') === '429'
        ? 'It limits how often we ask: wait, then check again.'
        : has(args, 'cloudflare')
          ? 'Let /api/ (and /auth/) skip the challenge by a rule of Cloudflare, or give an Access service token with --header-file.'
          : 'Allow this client there, or give the headers that it wants with --header-file.'),
  },
};
