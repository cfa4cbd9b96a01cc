import type { IncomingMessage } from 'node:http';
import { loopbackNames } from '../world.ts';
import type { World } from '../world.ts';

/** A request as the engine behind a stripping proxy sees it. */
export interface Request {
  method: string;
  /** Without prefix and query, not normalised. */
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: Buffer;
  /** Base path that a proxy names in X-Forwarded-Prefix. */
  basePath: string;
  https: boolean;
  peer: string;
}

const single = (value: string | string[] | undefined): string | null =>
  typeof value === 'string' ? value : (value?.[0] ?? null);

/** Splits without URL parsing: `//api/status` stays what it is. */
export const readRequest = (world: World, message: IncomingMessage, body: Buffer): Request => {
  const target = message.url ?? '/';
  const at = target.indexOf('?');
  const raw = at < 0 ? target : target.slice(0, at);
  const forwarded = single(message.headers['x-forwarded-prefix']);
  const basePath =
    world.prefix !== '' ? world.prefix : /^(\/[\w.~-]+)+$/.test(forwarded ?? '') ? forwarded : '';
  return {
    method: message.method ?? 'GET',
    path: world.prefix === '' ? raw : raw.slice(world.prefix.length) || '/',
    query: new URLSearchParams(at < 0 ? '' : target.slice(at + 1)),
    headers: message.headers,
    body,
    basePath: basePath ?? '',
    https: single(message.headers['x-forwarded-proto'])?.split(',')[0]?.trim() === 'https',
    peer: message.socket.remoteAddress?.replace(/^::ffff:/, '') ?? '',
  };
};

/** Last value of a repeated parameter: that one counts for the engine. */
export const lastOf = (query: URLSearchParams, name: string): string | null =>
  query.getAll(name).at(-1) ?? null;

/** Host without port, brackets removed. */
const hostname = (value: string): string =>
  value.startsWith('[') ? value.slice(1, value.indexOf(']')) : value.replace(/:\d*$/, '').toLowerCase();

/** Whether the Host guard lets this value pass. */
export const acceptedHost = (world: World, value: string | undefined): boolean => {
  if (value === undefined || value === '') return false;
  if (['0.0.0.0', '::'].includes(world.host)) return true;
  const name = hostname(value);
  return world.loopback ? loopbackNames.includes(name) : name === world.host;
};
