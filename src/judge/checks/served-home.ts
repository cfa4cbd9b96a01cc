import { draft } from '../draft.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

/** Ways to ask for a home on purpose; a default is no wish. */
const wishes = ['flag', 'target', 'environment', 'active-profile'];

export const servedHome: CheckDefinition = {
  id: 'served-home',
  summary: 'the dashboard serves the home that was asked for',
  run({ reading }) {
    const { facts, process } = reading;
    const home = facts.host?.home ?? null;
    const served = process?.hermesHome ?? facts.status?.hermesHome ?? null;
    if (home === null || served === null) return skip('the served home is not known');
    const wanted = facts.asked.profile === null ? home.path : `${home.root}/profiles/${facts.asked.profile}`;
    const isWish = facts.asked.profile !== null || wishes.includes(home.from);
    const isSame = wanted === served || (facts.asked.profile === 'default' && served === home.root);
    if (!isWish || isSame) return done([], served);
    return done([
      draft('PROFILE_HOME_MISMATCH', {
        args: { asked: wanted, served, profile: facts.asked.profile },
        evidence: [
          `asked for ${wanted}`,
          `${process === null ? '/api/status says' : `pid ${process.pid} has`} ${served}`,
        ],
      }),
    ]);
  },
};
