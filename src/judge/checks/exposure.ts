import { chatGate, openToNetwork } from '../chat.ts';
import { draft } from '../draft.ts';
import { chatNeedsSwitch } from '../release-data.ts';
import { update } from '../remedies/update.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

const loopbackUrl = /^[a-z]+:\/\/(localhost|127\.0\.0\.1|\[::1\])(?=[:/?#]|$)/i;

export const exposure: CheckDefinition = {
  id: 'exposure',
  summary: 'no terminal is open to the network (0.12 to 0.15)',
  run({ reading, reach, socket }) {
    if (reach.state !== 'reached') return skip('no dashboard was reached');
    if (reading.version === null || !chatNeedsSwitch(reading.version))
      return skip('this release guards it by a login');
    const chatOn = socket?.state === 'open' || chatGate(reading).state === 'on';
    if (!chatOn) return done([]);
    const url = reading.facts.service?.url ?? '';
    const pageShowsToken = reading.http('page')?.body?.page?.token === true;
    const fromOutside = reading.process === null && !loopbackUrl.test(url) && pageShowsToken;
    if (!openToNetwork(reading) && !fromOutside) return done([]);
    return done([
      draft('CHAT_OPEN_TO_NETWORK', {
        confidence: fromOutside ? 'likely' : 'certain',
        args: { bind: reading.process?.bind ?? url, version: reading.versionText },
        evidence: [
          fromOutside
            ? `the page at ${url} gives everybody the token`
            : `pid ${reading.process?.pid ?? '?'} is bound to ${reading.process?.bind ?? '?'}`,
          'the chat is on',
        ],
        remedies: [update(reading, '0.16.0')],
      }),
    ]);
  },
};
