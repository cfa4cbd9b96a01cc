import { array, assert, property, string } from 'fast-check';
import { expect, it } from 'vitest';
import { parseFrame, parseRecords } from '../../src/engine/frame.ts';

const nonce = 'n0nce';
const section = (name: string, text: string): string =>
  `@${nonce} ${name} ${Buffer.byteLength(text)}\n${text}\n`;
const frame = (...sections: string[]): string => `@${nonce} begin\n${sections.join('')}@${nonce} end\n`;
const parse = (text: string) => parseFrame(Buffer.from(text), nonce);

it('reads sections by their length, whatever they hold', () => {
  const nasty = `line\n@${nonce} end\n@${nonce} fake 3\nabc\n\u00e9\u4e2d`;
  const found = parse(frame(section('a', nasty), section('b.1', ''), section('c', 'x')));
  expect(found).toMatchObject({ complete: true, noise: '' });
  expect([...(found?.sections ?? [])]).toEqual([
    ['a', nasty],
    ['b.1', ''],
    ['c', 'x'],
  ]);
});

it('keeps what a shell printed before, and skips what a child printed between', () => {
  const found = parse(`Welcome!\r\n${frame(section('a', '1'), 'ls: warning\n', section('b', '2'))}`);
  expect(found?.noise).toBe('Welcome!\r\n');
  expect(found?.complete).toBe(true);
  expect(found?.sections.get('b')).toBe('2');
});

it('says when the end is missing', () => {
  const whole = frame(section('a', '12345'));
  for (let length = whole.indexOf('begin\n') + 6; length < whole.length - 1; length++)
    expect(parse(whole.slice(0, length))?.complete).toBe(false);
});

it('is null without our first line: another shell, a forced command', () => {
  expect(parse('This account is currently not available.\n')).toBeNull();
  expect(parse(frame().replaceAll(nonce, 'other'))).toBeNull();
  expect(parse('')).toBeNull();
});

it('never throws', () => {
  assert(
    property(array(string({ maxLength: 30 })), (parts) => {
      parse(`@${nonce} begin\n${parts.join('\n')}`);
    }),
  );
});

it('groups records by their first field', () => {
  const records = parseRecords('a\t1\t2\nb\t\n\na\t3\n');
  expect(records.get('a')).toEqual([['1', '2'], ['3']]);
  expect(records.get('b')).toEqual([['']]);
});
