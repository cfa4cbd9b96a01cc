import type { WsFact } from '../probe/exchange-schema.ts';
import { chatDraft } from './chat.ts';
import type { Draft } from './draft.ts';
import { draft } from './draft.ts';
import { networkCode, networkDrafts } from './reach-network.ts';
import type { Reading } from './reading.ts';
import { sawWs } from './saw.ts';
import { bareRefusalDrafts } from './socket-bare-refusal.ts';
import { answeredDrafts } from './socket-answered.ts';
import type { Standing } from './standing.ts';

/** What the upgrade of `/api/ws` came to. `held-back`: refused, and a credential finding already says why. */
export interface Socket {
  state: 'open' | 'refused' | 'failed' | 'held-back' | 'not-looked';
  drafts: Draft[];
}

export function socket(reading: Reading, credential: Standing): Socket {
  const main = reading.ws('main');
  if (main === null) return withoutUpgrade(reading, credential);
  if (!isWhole(main))
    return {
      state: 'failed',
      drafts: [
        draft('WS_HANDSHAKE_INVALID', {
          args: { fault: main.handshake, protocol: main.protocol },
          evidence: [sawWs(main)],
        }),
      ],
    };
  if (main.outcome === 'open') return { state: 'open', drafts: [] };
  if (main.outcome === 'failed') return { state: 'failed', drafts: failedDrafts(main, reading) };
  if (!main.bareRefusal) return { state: 'refused', drafts: answeredDrafts(main, reading, credential) };
  return refusedBare(main, reading, credential);
}

/** An upgrade that counts as open has HTTP 101 and a handshake that fits. */
const isWhole = ({ outcome, handshake, status }: WsFact): boolean =>
  outcome === 'open'
    ? handshake === 'valid' && status === 101
    : handshake === 'none' || handshake === 'valid';

/** The credential comes first: a bad one hides every other reason. The chat gate is told with it only where the token is not the question. */
function refusedBare(main: WsFact, reading: Reading, credential: Standing): Socket {
  const codes = credential.drafts.map((each) => each.code);
  if (codes.includes('TICKET_USED_OR_EXPIRED')) return { state: 'held-back', drafts: [] };
  if (credential.ok === 'no') {
    const chat = codes.some((code) => code === 'TOKEN_MISSING' || code === 'TOKEN_UNREADABLE')
      ? chatDraft(reading)
      : null;
    return { state: 'held-back', drafts: chat === null ? [] : [chat] };
  }
  return { state: 'refused', drafts: bareRefusalDrafts(main, reading, credential) };
}

/** No upgrade was tried, for example because there was no credential to try it with. */
function withoutUpgrade(reading: Reading, credential: Standing): Socket {
  const asksForToken = credential.drafts.some((each) => /^TOKEN_(MISSING|UNREADABLE)$/.test(each.code));
  const chat = asksForToken ? chatDraft(reading) : null;
  return { state: credential.ok === 'no' ? 'held-back' : 'not-looked', drafts: chat === null ? [] : [chat] };
}

/** The network class as for a request; what speaks no HTTP there leaves the cause open. */
function failedDrafts(main: WsFact, reading: Reading): Draft[] {
  const error = main.error ?? { phase: 'upgrade', code: 'UNKNOWN', message: '' };
  if (error.code !== 'UNKNOWN' && networkCode(error) !== 'WRONG_SERVICE') return networkDrafts(main, reading);
  return [
    draft('WS_REFUSED', {
      confidence: 'possible',
      args: { error: error.code, phase: error.phase, at: 'ws', candidates: [] },
      evidence: [sawWs(main)],
    }),
  ];
}
