import { createHmac } from 'node:crypto';

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  hostKeyNames,
  judgeHostKey,
  keyFingerprint,
  keyType,
  knownHostLine,
  matchesPatterns,
  parseKnownHosts,
} from '../../src/host/ssh/known-hosts.ts';

const blob = (type: string, body: string): Buffer => {
  const parts = [type, body].flatMap((text) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(text.length);
    return [length, Buffer.from(text)];
  });
  return Buffer.concat(parts);
};
const [a, b, rsa] = [blob('ssh-ed25519', 'a'), blob('ssh-ed25519', 'b'), blob('ssh-rsa', 'c')];
const base64 = (key: Buffer): string => key.toString('base64');
const judge = (text: string, names: string[], key: Buffer): string =>
  judgeHostKey(parseKnownHosts(text, 'known_hosts'), names, key).state;

describe('known_hosts', () => {
  const cases: [string, string, string[], Buffer, string][] = [
    ['empty', '', ['h'], a, 'unknown'],
    ['comment and blanks', `# h ssh-ed25519 ${base64(a)}\n\n   \n`, ['h'], a, 'unknown'],
    ['known', `h ssh-ed25519 ${base64(a)}`, ['h'], a, 'known'],
    ['CRLF', `h ssh-ed25519 ${base64(a)}\r\n`, ['h'], a, 'known'],
    ['case of the name', `H.Example ssh-ed25519 ${base64(a)}`, ['h.example'], a, 'known'],
    ['changed', `h ssh-ed25519 ${base64(b)}`, ['h'], a, 'changed'],
    ['one of two keys', `h ssh-ed25519 ${base64(b)}\nh ssh-ed25519 ${base64(a)}`, ['h'], a, 'known'],
    ['another type only', `h ssh-rsa ${base64(rsa)}`, ['h'], a, 'unknown'],
    ['type that the blob denies', `h ssh-rsa ${base64(a)}`, ['h'], a, 'unknown'],
    ['revoked wins', `h ssh-ed25519 ${base64(a)}\n@revoked * ssh-ed25519 ${base64(a)}`, ['h'], a, 'revoked'],
    [
      'revoked elsewhere',
      `@revoked other ssh-ed25519 ${base64(a)}\nh ssh-ed25519 ${base64(a)}`,
      ['h'],
      a,
      'known',
    ],
    ['unknown marker', `@new h ssh-ed25519 ${base64(a)}`, ['h'], a, 'unknown'],
    ['port', `[h]:2222 ssh-ed25519 ${base64(a)}`, ['[h]:2222', 'h'], a, 'known'],
    ['same key without the port', `h ssh-ed25519 ${base64(a)}`, ['[h]:2222', 'h'], a, 'known'],
    ['other key without the port', `h ssh-ed25519 ${base64(b)}`, ['[h]:2222', 'h'], a, 'unknown'],
    [
      'changed with the port',
      `[h]:2222 ssh-ed25519 ${base64(b)}\nh ssh-ed25519 ${base64(a)}`,
      ['[h]:2222', 'h'],
      a,
      'changed',
    ],
    ['negated', `*,!h ssh-ed25519 ${base64(a)}`, ['h'], a, 'unknown'],
    ['authority is no key', `@cert-authority * ssh-ed25519 ${base64(a)}`, ['h'], a, 'unknown'],
  ];
  for (const [label, text, names, key, state] of cases)
    it(label, () => expect(judge(text, names, key)).toBe(state));

  it('names as they are written', () => {
    expect(hostKeyNames('Host', 22, null)).toEqual(['host']);
    expect(hostKeyNames('::1', 2222, null)).toEqual(['[::1]:2222', '::1']);
    expect(hostKeyNames('Host', 2222, 'Alias')).toEqual(['alias']);
  });

  it('a line that is written is found again, hashed too', () => {
    for (const salt of [null, Buffer.alloc(20, 7)])
      expect(judge(knownHostLine('[h]:2222', a, salt), ['[h]:2222'], a)).toBe('known');
    const [, , salt, digest] = knownHostLine('h', a, Buffer.alloc(20, 7)).split(' ')[0]?.split('|') ?? [];
    const expected = createHmac('sha1', Buffer.from(salt as string, 'base64'))
      .update('h')
      .digest('base64');
    expect(digest).toBe(expected);
  });

  it('whatever a file holds, reading it throws nothing, and only a matching key is known', () => {
    fc.assert(
      fc.property(fc.string(), fc.uint8Array(), (text, bytes) => {
        const key = Buffer.from(bytes);
        keyType(key);
        keyFingerprint(key);
        expect(judge(text, ['h'], key)).not.toBe('known');
      }),
    );
  });

  it('patterns with many stars are decided quickly', () => {
    const started = performance.now();
    expect(matchesPatterns([`${'*a'.repeat(50)}*b`], 'a'.repeat(5000))).toBe(false);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
