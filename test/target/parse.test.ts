import { describe, expect, it } from 'vitest';
import { parseTarget } from '../../src/target/parse.ts';

const resolve = (path: string): string => (path.startsWith('/') ? path : `/cwd/${path}`);

describe('targets', () => {
  it.each([
    ['local', { kind: 'local', name: 'local', path: null }],
    ['local:/opt/h', { kind: 'local', name: 'local:/opt/h', path: '/opt/h' }],
    ['local:h', { kind: 'local', name: 'local:/cwd/h', path: '/cwd/h' }],
    ['http://127.0.0.1:9119/', { kind: 'http', name: 'http://127.0.0.1:9119', url: 'http://127.0.0.1:9119' }],
    [
      'https://h.example//a//b/',
      { kind: 'http', name: 'https://h.example/a/b', url: 'https://h.example/a/b' },
    ],
    ['http://[::1]:9119/p', { kind: 'http', name: 'http://[::1]:9119/p', url: 'http://[::1]:9119/p' }],
    ['ssh://box', { kind: 'ssh', name: 'ssh://box', address: 'box', user: null, port: null, path: null }],
    [
      'ssh://me@box:2222/srv/h',
      {
        kind: 'ssh',
        name: 'ssh://me@box:2222/srv/h',
        address: 'box',
        user: 'me',
        port: 2222,
        path: '/srv/h',
      },
    ],
    [
      'ssh://[::1]:22',
      { kind: 'ssh', name: 'ssh://[::1]:22', address: '::1', user: null, port: 22, path: null },
    ],
    ['me@box', { kind: 'ssh', name: 'ssh://me@box', address: 'box', user: 'me', port: null, path: null }],
  ])('%s', (text, expected) => {
    expect(parseTarget(text, resolve)).toEqual(expected);
  });

  it.each([
    '',
    'local:',
    'ftp://x',
    '/root/.hermes',
    'ssh://-oProxyCommand=x',
    'ssh://a;b',
    'ssh://u$(id)@h',
    'ssh://h:0',
    'ssh://h:99999',
    '-x',
    'http://',
    'wss://box/api/ws',
    'box.example:9119',
    'http://h?token=a',
    'a\u0007b',
  ])('%j is a usage error', (text) => {
    expect(() => parseTarget(text, resolve)).toThrow(expect.objectContaining({ kind: 'usage' }));
  });

  it.each(['http://me:S3cret@h', 'ssh://me:S3cret@h', 'https://S3cret@h/'])(
    'never repeats a password',
    (text) => {
      try {
        parseTarget(text, resolve);
        expect.unreachable();
      } catch (error) {
        expect(JSON.stringify([String(error), error])).not.toContain('S3cret');
      }
    },
  );
});
