import type { Reading } from '../reading.ts';
import { sourceWords } from '../source-words.ts';
import { draft } from '../draft.ts';
import { atLeast } from '../version.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

export const tokenSources: CheckDefinition = {
  id: 'token-sources',
  summary: 'every place that names a session token names the same',
  run({ reading }) {
    if (!reading.hasDisk) return skip('the disk cannot be read from here');
    // Up to 0.15 a given token is ignored and every start makes its own.
    if (reading.version !== null && !atLeast(reading.version, '0.16.0'))
      return skip('this release ignores given tokens');
    const places = placesOf(reading);
    if (new Set(places.map(([, fingerprint]) => fingerprint)).size < 2) return done([]);
    const said = places.map(([place, fingerprint]) => `${place} ${fingerprint}`);
    return done([
      draft('TOKEN_DRIFT', {
        args: { places: said },
        evidence: said.map((each) => `fingerprint in ${each}`),
      }),
    ]);
  },
};

function placesOf(reading: Reading): [string, string][] {
  const { facts, process, home } = reading;
  const { credential } = facts;
  const page = reading.http('page')?.body?.page?.tokenFingerprint ?? null;
  const places: [string, string | null][] = [
    [
      process === null ? 'the environment' : `the environment of pid ${process.pid}`,
      process?.env.sessionToken ?? null,
    ],
    ['.env', home?.envFile.sessionToken ?? null],
    ['the page', page],
    [
      sourceWords(credential.source),
      credential.kind === 'token' && credential.source !== 'page' ? credential.fingerprint : null,
    ],
  ];
  return places.filter((each): each is [string, string] => each[1] !== null);
}
