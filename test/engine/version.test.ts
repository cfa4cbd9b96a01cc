import { assert, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareVersions, disagree, parseVersion } from '../../src/engine/version.ts';

describe('parseVersion', () => {
  it.each([
    ['0.14.0', { release: [0, 14, 0] }],
    ['v0.20.0', { release: [0, 20, 0] }],
    ['0.22.2.post1', { release: [0, 22, 2], post: 1 }],
    ['0.21.0-1', { release: [0, 21, 0], post: 1 }],
    ['0.19.0.dev3', { release: [0, 19, 0], dev: 3 }],
    ['0.19.0rc1', { release: [0, 19, 0], pre: { kind: 'rc', number: 1 } }],
    ['0.19.0+local.5', { release: [0, 19, 0], local: 'local.5' }],
    ['0.19.0.post2.dev1+g12ab_3', { post: 2, dev: 1, local: 'g12ab.3' }],
    ['1!2.0', { epoch: 1, release: [2, 0] }],
    ['0.15.2.post', { post: 0 }],
    [' 0.16.0\n', { text: '0.16.0' }],
  ])('reads %j', (text, parts) => expect(parseVersion(text)).toMatchObject(parts));

  it.each([
    '',
    'main',
    '0.14.0 (2026.5.16)',
    '0.14.',
    '.14',
    '0.14.0;rm',
    '0.14.0\u0000',
    'vv1',
    '1e309',
    '-1',
    '0.14.0++x',
    `0.${'9'.repeat(300)}`,
  ])('refuses %j', (text) => expect(parseVersion(text)).toBeNull());

  it.each([[null], [undefined], [14], [{}], [['0.14.0']]])('refuses the value %j', (value) =>
    expect(parseVersion(value)).toBeNull(),
  );
});

describe('compareVersions', () => {
  // The order that PEP 440 itself gives as its example, and the releases of the engine.
  const ordered = [
    '0.9',
    '0.12.0',
    '0.14.0.dev1',
    '0.14.0a1.dev1',
    '0.14.0a1',
    '0.14.0b2',
    '0.14.0rc1',
    '0.14.0',
    '0.14.0+fork',
    '0.14.0+fork.2',
    '0.14.0+1',
    '0.14.0.post1.dev1',
    '0.14.0.post1',
    '0.15',
    '0.15.2',
    '0.20.1',
    '0.20.1.2',
    '0.100.0',
    '1!0.1',
  ].map((text) => parseVersion(text)!);

  it('orders every pair', () => {
    for (const [i, a] of ordered.entries())
      for (const [j, b] of ordered.entries())
        expect([a.text, b.text, Math.sign(compareVersions(a, b))]).toEqual([
          a.text,
          b.text,
          Math.sign(i - j),
        ]);
  });

  it('takes missing parts as zero', () =>
    expect(compareVersions(parseVersion('0.15')!, parseVersion('v0.15.0')!)).toBe(0));

  it('never throws and is antisymmetric', () => {
    assert(
      property(string({ maxLength: 40 }), string({ maxLength: 40 }), (a, b) => {
        const [left, right] = [parseVersion(a), parseVersion(b)];
        if (left && right)
          expect(Math.sign(compareVersions(left, right))).toBe(-Math.sign(compareVersions(right, left)) || 0);
      }),
    );
  });
});

it('disagree lets a fork count on after the number of upstream', () => {
  expect(disagree('0.14.0', '0.16.0')).toBe(true);
  expect(disagree('0.20.1', '0.20.1.2')).toBe(false);
  expect(disagree('0.21.0', '0.21.0.post1')).toBe(false);
  expect(disagree('0.21.0', 'unknown')).toBe(false);
});
