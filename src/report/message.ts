import type { Finding } from '../judge/schema.ts';

export type Args = Finding['args'];

/**
 * The words for one finding code. `says` is the sentence of a report; the rest is what `explain CODE` prints.
 * Values in args come from outside: whoever prints neutralises the whole sentence.
 */
export interface Message {
  /** One sentence for this case, without a full stop at the end of a value. */
  says(args: Args): string;
  /** What it means for the person. */
  means: string;
  /** How it is found. */
  seen: string;
  /** What to do; printed in a report where no command can be given. */
  todo: string;
  /** The same for this very case, where the values allow to be exact. */
  now?(args: Args): string;
}

export type Messages = Record<string, Message>;

/** A value as text, or the fallback when it is absent. */
export function value(args: Args, key: string, fallback: string): string {
  const found = Object.hasOwn(args, key) ? args[key] : undefined;
  if (found === undefined || found === null || found === '') return fallback;
  return Array.isArray(found) ? found.join(', ') || fallback : String(found);
}

/** The first three of a list, and how many more there are. */
export function few(args: Args, key: string, fallback: string): string {
  const found = Object.hasOwn(args, key) ? args[key] : undefined;
  if (!Array.isArray(found) || found.length < 4) return value(args, key, fallback);
  return `${found.slice(0, 3).join(', ')} and ${found.length - 3} more`;
}

export const has = (args: Args, key: string): boolean => value(args, key, '') !== '' && args[key] !== false;

/** The HTTP proxy on our way, where it is the one that failed; else the fallback. */
export const proxyOr = (args: Args, fallback: string): string =>
  has(args, 'proxy')
    ? `the proxy ${value(args, 'proxy', '')}${has(args, 'proxyFrom') ? ` (from ${value(args, 'proxyFrom', '')})` : ''}`
    : fallback;

/** What to do about it; empty where no proxy failed. */
export const viaProxy = (args: Args): string =>
  !has(args, 'proxy')
    ? ''
    : value(args, 'status', '') === '407'
      ? 'Put its user name and password into the URL in HTTPS_PROXY or HTTP_PROXY; in --proxy other users would see them.'
      : 'Nothing is known of the address behind it. Name another one with --proxy, or except the address in NO_PROXY.';
