import type { Redactor } from './redact.ts';
import type { ResponseHeaders } from './exchange-schema.ts';

/** Header fields as they came: lower-case names, in order, doubles kept. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** Of node:http's `rawHeaders`. */
export function headerList(raw: readonly string[]): HeaderList {
  const list: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2)
    list.push([(raw[at] as string).toLowerCase(), raw[at + 1] as string]);
  return list;
}

export const header = (list: HeaderList, name: string): string | null =>
  list.find(([each]) => each === name)?.[1] ?? null;

export function headerFacts(list: HeaderList, redact: Redactor): ResponseHeaders {
  const text = (name: string): string | null => {
    const value = header(list, name);
    return value === null ? null : redact.text(value, 200);
  };
  const location = header(list, 'location');
  return {
    server: list
      .filter(([name]) => name === 'server')
      .slice(0, 5)
      .map(([, value]) => redact.text(value, 100)),
    location: location === null ? null : redact.url(location),
    wwwAuthenticate: text('www-authenticate'),
    retryAfter: text('retry-after'),
    allow: text('allow'),
    cfRay: header(list, 'cf-ray') !== null,
    setCookies: setCookies(list)
      .slice(0, 20)
      .map((cookie) => ({
        name: redact.text(cookie.name, 100),
        secure: cookie.attributes.has('secure'),
        httpOnly: cookie.attributes.has('httponly'),
        sameSite: attribute(cookie, 'samesite', redact),
        path: attribute(cookie, 'path', redact),
        domain: attribute(cookie, 'domain', redact),
      })),
  };
}

export interface SetCookie {
  name: string;
  value: string;
  attributes: Map<string, string>;
}

export function setCookies(list: HeaderList): SetCookie[] {
  return list
    .filter(([name]) => name === 'set-cookie')
    .map(([, line]) => {
      const [pair = '', ...rest] = line.split(';');
      const [name, value] = halves(pair);
      return {
        name,
        value,
        attributes: new Map(rest.map(halves).map(([key, text]) => [key.toLowerCase(), text])),
      };
    })
    .filter(({ name }) => name !== '');
}

function halves(pair: string): [string, string] {
  const at = pair.indexOf('=');
  return at < 0 ? [pair.trim(), ''] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
}

function attribute(cookie: SetCookie, name: string, redact: Redactor): string | null {
  const value = cookie.attributes.get(name);
  return value === undefined || value === '' ? null : redact.text(value, 100);
}
