import { contractView } from '../contract.ts';
import { draft } from '../draft.ts';
import { update } from '../remedies/update.ts';
import type { CheckDefinition, Outcome } from './check.ts';
import { done, skip } from './check.ts';

export const contract: CheckDefinition = {
  id: 'contract',
  summary: 'the backend contract is one that the client wants',
  decides: ['contract'],
  probes: [],
  run({ reading, reach }, { client }): Outcome {
    const wish = client.contract;
    if (wish === null) return skip(`${client.name} asks for no contract`);
    if (reach.state === 'failed' || reach.state === 'not-looked') return skip('no dashboard was reached');
    if (reading.install === null && reach.state === 'absent') return skip('no install was found');
    const view = contractView(reading);
    const { state, value, from } = view.known;
    const base = {
      confidence: view.confidence,
      touches: ['contract'] as const,
      ...(wish.required && state !== 'known' ? { severity: 'error' as const } : {}),
    };
    const args = { wanted: wish.wanted, known: wish.known, value, from, version: reading.versionText };
    if (state === 'unknown')
      return done([
        draft('CONTRACT_UNKNOWN', {
          ...base,
          args: { ...args, raw: view.raw, why: view.why },
          evidence: [
            view.raw === null ? (view.why ?? 'the contract was not read') : `the engine says ${view.raw}`,
          ],
        }),
      ]);
    if (state === 'none')
      return done([
        draft('CONTRACT_NONE', {
          ...base,
          args,
          evidence: [`${reading.versionText ?? 'this engine'} names no contract (0.16.0 was the first)`],
          remedies: [update(reading, '0.16.0')],
        }),
      ]);
    const said = `the engine has contract ${value ?? ''}${from === null ? '' : ` (from ${from})`}`;
    if (value !== null && value < wish.wanted)
      return done([
        draft('CONTRACT_TOO_OLD', {
          ...base,
          ...(wish.required ? { severity: 'error' as const } : {}),
          args,
          evidence: [said, `${client.name} wants ${wish.wanted} or more`],
          remedies: [update(reading, '0.22.0')],
        }),
      ]);
    if (value !== null && value > wish.known)
      return done([
        draft('CONTRACT_TOO_NEW', {
          ...base,
          args,
          evidence: [said, `${client.name} was written for ${wish.known}`],
        }),
      ]);
    return done([], said);
  },
};
