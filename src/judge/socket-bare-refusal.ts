import type { WsFact } from '../probe/exchange-schema.ts';
import { chatDraft, chatGate } from './chat.ts';
import type { Draft } from './draft.ts';
import { draft } from './draft.ts';
import { hostRejected } from './host-guard.ts';
import { engineNotFound } from './reach-answer.ts';
import type { Reading } from './reading.ts';
import { chatNeedsSwitch } from './release-data.ts';
import { launch } from './remedies/launch.ts';
import { proxiesSeen } from './proxy-seen.ts';
import { proxyRemedies } from './remedies/proxy.ts';
import { update } from './remedies/update.ts';
import { sawHttp, sawWs } from './saw.ts';
import type { Standing } from './standing.ts';
import { passed } from './standing.ts';
import { before } from './version.ts';

/**
 * Rows 21 to 26 of the decision table: the engine's own bare 403 although the credential is not refused.
 * The engine never says why; what passes beside it does. Each step returns when it has the cause.
 */
export function bareRefusalDrafts(main: WsFact, reading: Reading, credential: Standing): Draft[] {
  return (
    noRoute(main, reading) ??
    chatOff(main, reading) ??
    originRefused(main, reading) ??
    hostRefused(main, reading) ??
    logged(main, reading) ??
    splitPath(main, reading) ??
    peer(main, reading, credential) ?? [refusedUnknown(main, reading, credential)]
  );
}

function proofOfCredential(reading: Reading): string[] {
  const proof = reading.http('sessions');
  return proof === null ? [] : [sawHttp(proof)];
}

function noRoute(main: WsFact, reading: Reading): Draft[] | null {
  if (reading.version === null || !before(reading.version, '0.12.0')) return null;
  return [
    draft('NO_WS_ROUTE', {
      args: { version: reading.versionText },
      evidence: [sawWs(main), `the engine is ${reading.versionText ?? ''}; /api/ws came with 0.12.0`],
      remedies: [update(reading, '0.16.0')],
    }),
  ];
}

function chatOff(main: WsFact, reading: Reading): Draft[] | null {
  const found = chatDraft(reading);
  if (found === null) return null;
  return [{ ...found, evidence: [...found.evidence, sawWs(main), ...proofOfCredential(reading)] }];
}

function originRefused(main: WsFact, reading: Reading): Draft[] | null {
  const without = reading.ws('no-origin');
  if (main.origin === null || without?.outcome !== 'open') return null;
  return [
    draft('ORIGIN_REJECTED', {
      args: { origin: main.origin, version: reading.versionText, addedBy: 'client' },
      evidence: [sawWs(main), sawWs(without)],
      remedies: /^https?:/.test(main.origin) ? proxyRemedies(reading, 'origin') : [update(reading, '0.16.0')],
    }),
  ];
}

function hostRefused(main: WsFact, reading: Reading): Draft[] | null {
  const loopback = reading.ws('loopback-host');
  if (loopback?.outcome === 'open') return [hostRejected(reading, main, loopback)];
  // A proxy that routes by Host lets no other one through; the same path without an upgrade shows the guard all the same.
  const plain = reading.http('ws-plain');
  const byGuard = plain?.status === 400 && /Invalid Host header/i.test(plain.body?.detail ?? '');
  return byGuard ? [hostRejected(reading, main, plain)] : null;
}

/** The engine writes the reason of a refused `/api/console` into its log (0.18 and later); the gates are the same. */
function logged(main: WsFact, reading: Reading): Draft[] | null {
  const reason = reading.ws('console')?.reason ?? null;
  if (reason === null) return null;
  const evidence = [sawWs(main), `the engine logged: ${reason}`];
  if (/peer_not_loopback/.test(reason)) return [peerDraft(reading, evidence, 'certain')];
  if (/origin_mismatch/.test(reason))
    return [
      draft('ORIGIN_REJECTED', {
        args: {
          origin: main.origin ?? logValue(reason, 'origin'),
          version: reading.versionText,
          addedBy: 'proxy',
        },
        evidence,
        remedies: proxyRemedies(reading, 'origin'),
      }),
    ];
  if (!/host_mismatch/.test(reason)) return null;
  const found = hostRejected(reading, main);
  return [{ ...found, args: { ...found.args, host: logValue(reason, 'host') ?? null }, evidence }];
}

const logValue = (line: string, key: string): string | null =>
  new RegExp(`\\b${key}=(\\S+)`).exec(line)?.[1] ?? null;

function splitPath(main: WsFact, reading: Reading): Draft[] | null {
  const events = reading.ws('events');
  if (events?.outcome !== 'open' || reading.facts.service?.proxied === 'no') return null;
  const plain = reading.http('ws-plain');
  const path = engineNotFound.test(plain?.body?.detail ?? '')
    ? /endpoint: ([^\s"]+)/.exec(plain?.body?.detail ?? '')?.[1]
    : undefined;
  if (path?.endsWith('/api/ws') === true) return null;
  return [
    draft('WS_PATH_MAPPED_WRONG', {
      evidence: [sawWs(main), sawWs(events), ...(plain === null ? [] : [sawHttp(plain)])],
      remedies: proxyRemedies(reading, 'ws-path'),
    }),
  ];
}

const peerDraft = (reading: Reading, evidence: string[], confidence: Draft['confidence']): Draft => {
  const forwarded = reading.version !== null && before(reading.version, '0.15.0');
  return draft('PEER_NOT_LOOPBACK', {
    confidence,
    args: { bind: reading.process?.bind ?? null, forwarded, version: reading.versionText },
    evidence,
    remedies: [
      ...(forwarded ? proxyRemedies(reading, 'forwarded-for') : []),
      ...(reading.hasDisk ? [launch(reading)] : []),
    ],
  });
};

/** Row 26: the sibling route is refused too. Only two causes are left; directly at the engine's port only one. */
function peer(main: WsFact, reading: Reading, credential: Standing): Draft[] | null {
  const events = reading.ws('events');
  if (reading.gated || credential.ok !== 'yes' || events?.outcome !== 'refused' || !events.bareRefusal)
    return null;
  if (chatGate(reading).state !== 'on' && mayBeChat(reading)) return null;
  const evidence = [sawWs(main), sawWs(events), ...proofOfCredential(reading)];
  if (reading.facts.service?.proxied === 'no') return [peerDraft(reading, evidence, 'likely')];
  const origin = (confidence: Draft['confidence']): Draft =>
    draft('ORIGIN_REJECTED', {
      confidence,
      args: { origin: main.origin, version: reading.versionText, addedBy: 'proxy' },
      evidence,
      remedies: proxyRemedies(reading, 'origin'),
    });
  // From 0.16 on X-Forwarded-For makes no peer, and an ungated engine is bound to loopback: an Origin is the likelier cause.
  const byProxy =
    proxiesSeen(reading).length > 0 && reading.version !== null && !before(reading.version, '0.16.0');
  return byProxy
    ? [origin('likely'), peerDraft(reading, evidence, 'possible')]
    : [peerDraft(reading, evidence, 'possible'), origin('possible')];
}

const mayBeChat = (reading: Reading): boolean => reading.version === null || chatNeedsSwitch(reading.version);

function refusedUnknown(main: WsFact, reading: Reading, credential: Standing): Draft {
  const candidates = [
    credential.ok === 'yes' ? null : reading.gated ? 'TICKET_USED_OR_EXPIRED' : 'TOKEN_REJECTED',
    mayBeChat(reading) && chatGate(reading).state !== 'on' ? 'CHAT_DISABLED' : null,
    'ORIGIN_REJECTED',
    'HOST_REJECTED',
    reading.gated ? null : 'PEER_NOT_LOOPBACK',
  ].filter((code) => code !== null);
  return draft('WS_REFUSED', {
    confidence: 'possible',
    args: { candidates, status: main.status },
    evidence: [
      sawWs(main),
      ...(passed(reading.http('sessions')) ? proofOfCredential(reading) : []),
      ...reading.facts.ws
        .filter((each) => each.id !== 'main' && each.outcome !== 'skipped')
        .map((each) => `${each.id}: ${sawWs(each)}`),
    ],
  });
}
