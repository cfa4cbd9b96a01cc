import { type HeaderList, setCookies } from './headers.ts';
import type { Redactor } from './redact.ts';

/** Cookies of one origin by exact name. Values are replayed verbatim: the engine takes every name variant, whatever Path and Secure say. */
export interface CookieJar {
  take(headers: HeaderList): void;
  /** The Cookie header; null when there is none. */
  header(): string | null;
}

/** Deletions name every variant of a cookie, so only the exact name may go. */
export function cookieJar(redact: Redactor, now: () => number = Date.now): CookieJar {
  const held = new Map<string, string>();
  return {
    take(headers) {
      for (const { name, value, attributes } of setCookies(headers)) {
        redact.hideLong(value.replaceAll(/^"|"$/g, ''));
        if (!sendable(name, value)) continue;
        if (isDeletion(attributes, value, now())) held.delete(name);
        else held.set(name, value);
      }
    },
    header: () => (held.size === 0 ? null : [...held].map(([name, value]) => `${name}=${value}`).join('; ')),
  };
}

const sendable = (name: string, value: string): boolean =>
  /^[\u0021-\u007e]+$/.test(name) && /^[\u0020-\u007e]*$/.test(value);

function isDeletion(attributes: Map<string, string>, value: string, now: number): boolean {
  const maxAge = attributes.get('max-age');
  if (maxAge !== undefined && /^-?\d+$/.test(maxAge)) return Number(maxAge) <= 0;
  const expires = Date.parse(attributes.get('expires') ?? '');
  return value === '' || value === '""' || expires <= now;
}
