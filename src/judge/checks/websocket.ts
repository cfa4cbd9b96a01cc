import { chatDraft } from '../chat.ts';
import type { Diagnosis } from '../diagnosis.ts';
import { draft } from '../draft.ts';
import { update } from '../remedies/update.ts';
import { before } from '../version.ts';
import type { CheckDefinition, Outcome } from './check.ts';
import { couldNot, done, skip } from './check.ts';

export const websocket: CheckDefinition = {
  id: 'websocket',
  summary: '/api/ws opens with the client’s credential',
  decides: ['ws', 'embedded-chat'],
  probes: ['main', 'new-ticket', 'no-origin', 'loopback-host', 'events', 'console'],
  run(diagnosis) {
    const { reach, socket } = diagnosis;
    if (reach.state === 'absent') return fromDisk(diagnosis);
    if (socket === null) return skip('no dashboard was reached');
    if (socket.drafts.length > 0) return done(socket.drafts);
    switch (socket.state) {
      case 'open':
        return done([], 'HTTP 101');
      case 'held-back':
        return skip('the credential comes first');
      case 'not-looked':
      case 'refused':
      case 'failed':
        return couldNot('no upgrade was tried');
      default: {
        const never: never = socket.state;
        return never;
      }
    }
  },
};

/** No dashboard runs: what a plain start of this install would give. */
function fromDisk({ reading }: Diagnosis): Outcome {
  if (reading.install === null || reading.install.missingModules.length > 0)
    return skip('no dashboard can run');
  if (reading.version !== null && before(reading.version, '0.12.0'))
    return done([
      draft('NO_WS_ROUTE', {
        confidence: 'likely',
        args: { version: reading.versionText },
        evidence: [`the engine is ${reading.versionText ?? ''}; /api/ws came with 0.12.0`],
        remedies: [update(reading, '0.16.0')],
      }),
    ]);
  const chat = chatDraft(reading);
  return done(chat === null ? [] : [chat], 'judged from disk');
}
