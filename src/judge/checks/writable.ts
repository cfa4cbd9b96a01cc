import { draft } from '../draft.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

export const writable: CheckDefinition = {
  id: 'writable',
  summary: 'the home can take our overlay, where one is needed',
  run({ reading }, { client, capabilities }) {
    const { home } = reading;
    if (home === null) return skip('no home was read');
    const lacks = (id: string): boolean => capabilities.find((each) => each.id === id)?.state === 'no';
    const isNeeded = client.requires.some(
      (id) => ['model-library', 'embedded-chat', 'ws'].includes(id) && lacks(id),
    );
    if (!isNeeded) return skip('nothing is to be changed');
    if (!home.exists || home.writable) return done([], home.root);
    return done([
      draft('NOT_WRITABLE', {
        args: { path: home.path },
        evidence: [`${home.path} is not writable for ${reading.facts.host?.user ?? 'this account'}`],
      }),
    ]);
  },
};
