import { sourceWords } from '../source-words.ts';
import type { CheckDefinition } from './check.ts';
import { couldNot, done, skip } from './check.ts';

export const credential: CheckDefinition = {
  id: 'credential',
  summary: 'the credential that the client will use is accepted',
  probes: ['sessions', 'sessions-bare', 'page'],
  run({ credential, reading }) {
    if (credential === null) return skip('no dashboard was reached');
    const { source, fingerprint } = reading.facts.credential;
    if (credential.drafts.length > 0) return done(credential.drafts);
    if (credential.ok !== 'yes') return couldNot('no protected read showed whether it is good');
    const named = source === null ? 'none was needed' : `from ${sourceWords(source)}`;
    return done([], fingerprint === null ? named : `${named}, fingerprint ${fingerprint}`);
  },
};
