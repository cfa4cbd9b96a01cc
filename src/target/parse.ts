import { usageError } from '../errors.ts';
import type { Target } from './types.ts';

/** What `--help` and errors say about targets. */
export const targetSyntax =
  'local, local:/path, ssh://[user@]host[:port][/root], an ssh_config alias, or http(s)://host[:port][/prefix]';

/**
 * Reads a target as typed. `resolve` makes a path absolute (cwd, `~`). Errors never repeat the text: it may hold a password.
 *
 * @throws CompatError usage
 */
export function parseTarget(text: string, resolve: (path: string) => string): Target {
  const word = text.trim();
  if (word === '' || /[\u0000-\u001f\u007f]/.test(word))
    throw syntaxError('is empty or holds control characters');
  if (word === 'local') return { kind: 'local', name: 'local', path: null };
  if (word.startsWith('local:')) return localTarget(word.slice('local:'.length), resolve);
  if (/^https?:\/\//i.test(word)) return httpTarget(word);
  if (/^ssh:\/\//i.test(word)) return sshTarget(word);
  if (/^wss?:\/\//i.test(word))
    throw syntaxError(
      'is a WebSocket; give the base URL of the dashboard with http:// or https://, without /api/ws',
    );
  if (/^[\w.-]+:\d+(?:\/|$)/.test(word))
    throw syntaxError('has no scheme; write http://, https:// or ssh:// before it');
  if (word.includes('://'))
    throw syntaxError(
      `has the scheme "${word.slice(0, word.indexOf(':')).slice(0, 20)}", which is not known`,
    );
  if (word.includes('/')) throw syntaxError('looks like a path; write local:/path');
  return aliasTarget(word);
}

function localTarget(path: string, resolve: (path: string) => string): Target {
  if (path === '') throw syntaxError('local: needs a path behind the colon');
  const absolute = resolve(path);
  return { kind: 'local', name: `local:${absolute}`, path: absolute };
}

/** Base URL: no credentials, query or fragment, no doubled or trailing slashes. */
export function parseBaseUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw syntaxError('is not a URL');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw syntaxError('must begin with http:// or https://');
  if (url.username !== '' || url.password !== '') {
    throw syntaxError(
      'holds a user name or password; give credentials with --token-env, --token-file or --username instead',
    );
  }
  if (url.search !== '' || url.hash !== '')
    throw syntaxError('holds a query or fragment; give the base URL of the dashboard');
  const path = url.pathname.replaceAll(/\/{2,}/g, '/').replace(/\/$/, '');
  return `${url.protocol}//${url.host}${path}`;
}

function httpTarget(text: string): Target {
  const url = parseBaseUrl(text);
  return { kind: 'http', name: url, url };
}

const hostPattern = /^(?!-)(?:[A-Za-z0-9_.-]{1,253}|\[[0-9A-Fa-f:.]+(?:%25[A-Za-z0-9]+)?\])$/;
const userPattern = /^(?!-)[A-Za-z0-9_.@\\+-]{1,64}\$?$/;

function sshTarget(text: string): Target {
  const rest = text.slice('ssh://'.length);
  const slash = rest.indexOf('/');
  const authority = slash < 0 ? rest : rest.slice(0, slash);
  const path = slash < 0 ? '' : rest.slice(slash);
  const at = authority.lastIndexOf('@');
  const user = at < 0 ? null : authority.slice(0, at);
  if (user?.includes(':'))
    throw syntaxError('holds a password; give it with --ssh-password-env or --ssh-password-file');
  const [, host = '', portText] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(authority.slice(at + 1)) ?? [];
  return checkedSsh(host, user, portText ?? null, path === '' || path === '/' ? null : path);
}

function aliasTarget(word: string): Target {
  const at = word.lastIndexOf('@');
  return checkedSsh(word.slice(at + 1), at < 0 ? null : word.slice(0, at), null, null);
}

function checkedSsh(host: string, user: string | null, portText: string | null, path: string | null): Target {
  if (!hostPattern.test(host)) throw syntaxError('has no usable host name');
  if (user !== null && !userPattern.test(user))
    throw syntaxError('has a user name with characters that no account has');
  const port = portText === null ? null : parsePort(portText);
  const address = host.replace(/^\[|\]$/g, '');
  const name = `ssh://${user === null ? '' : `${user}@`}${host}${port === null ? '' : `:${port}`}${path ?? ''}`;
  return { kind: 'ssh', name, address, user, port, path };
}

/** @throws CompatError usage */
export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw usageError(`"${text.slice(0, 20)}" is not a port (1 to 65535)`);
  return port;
}

const syntaxError = (why: string): Error => usageError(`the target ${why}. A target is ${targetSyntax}.`);
