import { fingerprint } from '../target/credential.ts';
import type { Redactor } from './redact.ts';
import type { BodyFact } from './exchange-schema.ts';

/** Globals in the beginning of a Hermes page; null when it carries none. Source: facts of `GET /` by release, hermes_cli/web_server.py. */
export function pageOf(html: string, redact: Redactor): BodyFact['page'] {
  if (!html.includes('__HERMES_')) return null;
  const token = tokenOf(html);
  if (token !== null) redact.hide(token);
  const base = stringGlobal(html, 'BASE_PATH');
  const script = scriptOf(html);
  const surface = stringGlobal(html, 'UI_SURFACE');
  return {
    token: token !== null,
    tokenFingerprint: token === null ? null : fingerprint(token),
    embeddedChat: booleanGlobal(html, 'DASHBOARD_EMBEDDED_CHAT'),
    authRequired: booleanGlobal(html, 'AUTH_REQUIRED'),
    basePath: base === null ? null : redact.text(base, 200),
    script: script === null ? null : redact.url(script),
    uiSurface: surface === null ? null : redact.text(surface, 60),
  };
}

/** The session token of an ungated page; null when there is none, or none that a header can carry. */
export function tokenOf(html: string): string | null {
  const token = stringGlobal(html, 'SESSION_TOKEN');
  return token !== null && /^[\u0021-\u007e]{4,1024}$/.test(token) ? token : null;
}

function stringGlobal(html: string, name: string): string | null {
  const text = valueAfter(html, name);
  const literal = text === null ? undefined : /^"(?:[^"\\\n]|\\.){0,2048}"/.exec(text)?.[0];
  if (literal === undefined) return null;
  try {
    return JSON.parse(literal) as string;
  } catch {
    return null;
  }
}

function booleanGlobal(html: string, name: string): boolean | null {
  const word = /^(true|false)\b/.exec(valueAfter(html, name) ?? '')?.[1];
  return word === undefined ? null : word === 'true';
}

/** What stands behind `__HERMES_<name>__ =`. */
function valueAfter(html: string, name: string): string | null {
  const mark = `__HERMES_${name}__`;
  for (let at = html.indexOf(mark); at >= 0; at = html.indexOf(mark, at + 1)) {
    const rest = html.slice(at + mark.length, at + mark.length + 4096);
    const assigned = /^\s{0,20}=\s{0,20}/.exec(rest);
    if (assigned !== null) return rest.slice(assigned[0].length);
  }
  return null;
}

/** Source of the first script that is a file. Tags are cut out by hand: a pattern over a hostile page could take seconds. */
export function scriptOf(html: string): string | null {
  let at = 0;
  for (let seen = 0; seen < 50; seen += 1) {
    at = html.indexOf('<script', at);
    if (at < 0) return null;
    const end = html.indexOf('>', at);
    const tag = end < 0 ? '' : html.slice(at, Math.min(end, at + 2000));
    const source = /\ssrc\s?=\s?["']([^"'\s]{1,1000})["']/.exec(tag)?.[1];
    if (source !== undefined) return source;
    at += 7;
  }
  return null;
}

export function titleOf(html: string, redact: Redactor): string | null {
  const head = html.slice(0, 65_536);
  const start = head.search(/<title[\s>]/i);
  if (start < 0) return null;
  const text = /^[^>]{0,200}>([^<]{0,300})/.exec(head.slice(start))?.[1]?.trim() ?? '';
  return text === '' ? null : redact.text(text, 200);
}

/** The beginning of what a person would read on a page. */
export const visibleText = (html: string): string =>
  html
    .slice(0, 16_384)
    .replaceAll(/<(script|style)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, ' ')
    .replaceAll(/<[^<>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
