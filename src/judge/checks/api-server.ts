import { apiServer as look } from '../api-server.ts';
import type { CheckDefinition } from './check.ts';
import { couldNot, done, skip } from './check.ts';

export const apiServer: CheckDefinition = {
  id: 'api-server',
  summary: 'the gateway’s API server answers with the key (with --mode legacy)',
  probes: ['api-server-health', 'api-server-models', 'api-server-models-bare'],
  legacy: true,
  run({ reading }) {
    if (reading.facts.asked.mode !== 'legacy') return skip('only with --mode legacy');
    const found = look(reading);
    if (found.drafts.length > 0) return done(found.drafts);
    return found.usable === 'yes' ? done([], found.why) : couldNot(found.why);
  },
};
