import { draft } from '../draft.ts';
import { proxyRemedies } from '../remedies/proxy.ts';
import { sawWs } from '../saw.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

export const wsHold: CheckDefinition = {
  id: 'ws-hold',
  summary: 'an idle WebSocket stays open (with --hold)',
  run({ reading }) {
    const main = reading.ws('main');
    const held = main?.held ?? null;
    if (main === null || held === null) return skip('--hold was not asked for');
    if (held.closedAfterMs === null) return done([], `open for ${held.seconds} s`);
    const seconds = Math.round(held.closedAfterMs / 100) / 10;
    return done([
      draft('WS_IDLE_CUT', {
        args: { seconds, closeCode: main.close?.code ?? null },
        evidence: [
          sawWs(main),
          `closed with ${main.close?.code ?? 'no code'} after ${seconds} s without traffic`,
        ],
        remedies: reading.facts.service?.proxied === 'no' ? [] : proxyRemedies(reading, 'idle'),
      }),
    ]);
  },
};
