import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { differences, type Matrix, matrixText } from '../../lab/cells.ts';
import { readKnown } from '../../lab/facts-jobs.ts';
import { type KnownEngine, knownText, withRare } from '../../lab/known.ts';
import { owns } from '../../lab/job.ts';
import { matrixJobs } from '../../lab/matrix-jobs.ts';
import { notMeasured, readMatrix, rendered } from '../../lab/store.ts';
import { fullLadder } from '../support/engines.ts';

// The committed matrix: the pages are made from its data, and it says something of every piece.

const matrix = await readMatrix();
const doc = (name: string): Promise<string> =>
  readFile(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

test.each(Object.entries(rendered(matrix)))('docs/%s is what its data says', async (name, text) => {
  expect(await doc(name)).toBe(text);
});

test('docs/compatibility.json is written as the lab writes it', async () => {
  expect(await doc('compatibility.json')).toBe(matrixText(matrix));
});

test('every job of the lab has its cells or is named as not measured, and every cell has its job', () => {
  expect(matrix.notMeasured).toEqual(notMeasured(matrix.cells));
  const jobs = matrixJobs();
  expect(matrix.cells.filter((cell) => !jobs.some((job) => owns(job, cell)))).toEqual([]);
});

test('every rung of the ladder is known', async () => {
  const { engines } = await readKnown();
  expect(engines.map(({ version }) => version)).toEqual(fullLadder);
});

test('nothing of a run is in it', () => {
  const text = JSON.stringify(matrix);
  expect(text).not.toMatch(/127\.0\.0\.|:\d{4,5}\b|\/tmp\/|\/root\/|\/home\/|CANARY/);
});

test('a change of a word is a difference, in both directions', () => {
  const [first, ...rest] = matrix.cells;
  if (first === undefined) throw new Error('no cells');
  expect(differences(matrix.cells, matrix.cells)).toEqual([]);
  expect(differences(matrix.cells, rest)).toEqual([expect.stringMatching(/ was not seen$/)]);
  expect(differences(rest, matrix.cells)).toEqual([expect.stringMatching(/: new: /)]);
  const changed: Matrix['cells'] = [{ ...first, saw: { ...first.saw, answers: 'otherwise' } }, ...rest];
  expect(differences(matrix.cells, changed)).toEqual([
    expect.stringMatching(/answers is "otherwise", committed "yes"$/),
  ]);
});

test('lab/known.json is written as the lab writes it', async () => {
  const file = new URL('../../lab/known.json', import.meta.url);
  expect(await readFile(file, 'utf8')).toBe(knownText(await readKnown()));
});

test('an event that comes now and then stays known when it did not come; another one goes', () => {
  const at = (events: KnownEngine['events']): KnownEngine => ({ version: '0.21.0', events }) as KnownEngine;
  const before = at({ 'message.delta': ['text'], 'message.gone': [], 'session.usage': ['usage'] });
  const now = withRare(at({ 'message.delta': ['text'] }), before);
  expect(now.events).toEqual({ 'message.delta': ['text'], 'session.usage': ['usage'] });
  expect(Object.keys(now.events ?? {})).toEqual(['message.delta', 'session.usage']);
  expect(withRare(at(null), before).events).toBeNull();
});
