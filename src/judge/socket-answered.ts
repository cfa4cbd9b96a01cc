import type { WsFact } from '../probe/exchange-schema.ts';
import type { Draft } from './draft.ts';
import { draft } from './draft.ts';
import { hostRejected } from './host-guard.ts';
import { engineNotFound } from './reach-answer.ts';
import type { Reading } from './reading.ts';
import { proxiesSeen } from './proxy-seen.ts';
import { restart } from './remedies/launch.ts';
import { proxyRemedies } from './remedies/proxy.ts';
import { sawHttp, sawWs } from './saw.ts';
import type { Standing } from './standing.ts';

/**
 * Rows 14 to 16: the upgrade got an HTTP answer with a body, so it is not the refusal of the engine's WebSocket layer.
 * Either the request lost its Upgrade on the way (the engine answers it as plain HTTP), or something in front refused it.
 */
export function answeredDrafts(main: WsFact, reading: Reading, credential: Standing): Draft[] {
  const detail = main.body?.detail ?? '';
  const direct = reading.facts.service?.proxied === 'no';
  if (main.status === 400 && /Invalid Host header/i.test(detail)) return [hostRejected(reading, main)];
  if (answeredAsPlainHttp(main, detail)) return lostUpgrade(main, reading, credential);
  if (main.status === 426)
    return [
      dropped(main, reading, 'likely'),
      draft('EDGE_REFUSES_WS', {
        confidence: 'possible',
        args: { status: 426 },
        evidence: [sawWs(main)],
        remedies: proxyRemedies(reading, 'ws-rule'),
      }),
    ];
  if (main.status === 200)
    return [
      draft('EDGE_REFUSES_WS', {
        confidence: 'likely',
        args: edgeArgs(main),
        evidence: [sawWs(main)],
        remedies: proxyRemedies(reading, 'ws-rule'),
      }),
      dropped(main, reading, 'possible'),
    ];
  if (direct)
    return [
      draft('WS_REFUSED', {
        confidence: 'possible',
        args: { candidates: [], status: main.status },
        evidence: [sawWs(main), 'the port belongs to the engine, nothing is in between'],
      }),
    ];
  return [
    draft('EDGE_REFUSES_WS', {
      args: edgeArgs(main),
      evidence: [sawWs(main), ...restProof(reading)],
      remedies: proxyRemedies(reading, 'ws-rule'),
    }),
  ];
}

const edgeArgs = (main: WsFact): Draft['args'] => ({
  status: main.status,
  location: main.headers?.location ?? null,
  server: main.headers?.server.join(', ') || null,
  cloudflare: main.headers?.cfRay ?? false,
});

const restProof = (reading: Reading): string[] => {
  const proof = reading.http('sessions');
  return proof === null ? [] : [sawHttp(proof)];
};

/** What the engine says to `GET /api/ws` without Upgrade: its JSON 404 or page with a good credential, its JSON 401 with a bad one. */
function answeredAsPlainHttp(main: WsFact, detail: string): boolean {
  if (main.status === 404 && main.body?.kind === 'json') return engineNotFound.test(detail);
  if (main.status === 200 && main.body?.page != null) return true;
  const engine401 =
    main.status === 401 && main.headers?.wwwAuthenticate == null && main.body?.kind === 'json';
  return (
    engine401 &&
    /unauthorized|unauthenticated|session_expired/i.test(`${detail} ${main.body?.keys.join(' ') ?? ''}`)
  );
}

function dropped(main: WsFact, reading: Reading, confidence: Draft['confidence']): Draft {
  return draft('UPGRADE_DROPPED', {
    confidence,
    args: { status: main.status, server: main.headers?.server.join(', ') || null },
    evidence: [sawWs(main), ...restProof(reading)],
    remedies: proxyRemedies(reading, 'upgrade'),
  });
}

/** Only the knowledge that nothing is in between tells a missing library from a proxy that drops Upgrade. */
function lostUpgrade(main: WsFact, reading: Reading, credential: Standing): Draft[] {
  const library = reading.install?.wsLibrary ?? 'unknown';
  const told = reading.facts.service?.proxied ?? 'unknown';
  const proxied = told === 'unknown' && proxiesSeen(reading).length > 0 ? 'yes' : told;
  const tokenDrafts =
    main.status === 401 && credential.ok === 'unknown'
      ? [
          draft('TOKEN_REJECTED', {
            confidence: 'likely',
            args: {
              source: reading.facts.credential.source,
              fingerprint: reading.facts.credential.fingerprint,
              url: reading.facts.service?.url ?? null,
            },
            evidence: [sawWs(main)],
          }),
        ]
      : [];
  const missing = (confidence: Draft['confidence'], why: string): Draft =>
    draft('WS_LIB_MISSING', {
      confidence,
      args: { python: reading.install?.interpreter?.path ?? null },
      evidence: [sawWs(main), ...restProof(reading), why],
      remedies: library === 'present' ? [restart(reading)] : libraryRemedy(reading),
    });
  const direct = `the port belongs to the engine, nothing is in between${library === 'present' ? '; the library is on disk, the process runs without it' : ''}`;
  if (library === 'missing')
    return [missing('certain', 'its environment has neither websockets nor wsproto'), ...tokenDrafts];
  if (proxied === 'no') return [missing('likely', direct), ...tokenDrafts];
  if (proxied === 'yes' || library === 'present')
    return [dropped(main, reading, proxied === 'yes' ? 'certain' : 'likely'), ...tokenDrafts];
  return [
    dropped(main, reading, 'likely'),
    missing('possible', 'whether a proxy is in between is not known'),
    ...tokenDrafts,
  ];
}

function libraryRemedy(reading: Reading): Draft['remedies'] {
  const python = reading.install?.interpreter?.path ?? 'python3';
  return [
    {
      id: 'install-websockets',
      carrier: 'update',
      where: reading.hasDisk ? 'here' : 'on-host',
      commands: [
        reading.install?.method === 'uv'
          ? ['uv', 'pip', 'install', '--python', python, 'websockets']
          : [python, '-m', 'pip', 'install', 'websockets'],
      ],
      restart: 'dashboard',
      reversible: true,
    },
  ];
}
