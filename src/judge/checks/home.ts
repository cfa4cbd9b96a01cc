import { draft } from '../draft.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

/** A home that another account owns hides tokens, overlay and markers from us; the engine of this account would not start there. */
export const home: CheckDefinition = {
  id: 'home',
  summary: 'the home of the engine can be read by this account',
  run({ reading, reach }) {
    const { home: found } = reading;
    if (found === null) return skip('no home was read');
    if (!found.exists || found.readable) return done([], found.path);
    return done([
      draft('HOME_UNREADABLE', {
        severity: reach.state === 'reached' ? 'warn' : 'error',
        args: { path: found.path, user: reading.process?.user ?? null },
        evidence: [
          `${found.path} is not readable for ${reading.facts.host?.user ?? 'this account'}`,
          ...(reading.process?.user == null
            ? []
            : [`pid ${reading.process.pid} runs as ${reading.process.user}`]),
        ],
      }),
    ]);
  },
};
