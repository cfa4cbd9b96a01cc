import type { HttpFact, NetworkError, WsFact } from '../probe/exchange-schema.ts';
import type { TlsFact } from '../probe/schema.ts';
import type { Draft } from './draft.ts';
import { draft } from './draft.ts';
import type { Reading } from './reading.ts';
import { launch } from './remedies/launch.ts';
import { sawHttp, sawWs } from './saw.ts';

/** Rows 1 and 2 of the decision table: no HTTP answer came at all. Error codes as Node 20, undici and ws give them. */

const byCode: readonly [RegExp, string][] = [
  [/^(ENOTFOUND|EAI_\w+)$/, 'DNS_FAILED'],
  [/^ECONNREFUSED$/, 'CONNECTION_REFUSED'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN)$/, 'CONNECT_TIMEOUT'],
  [/^(UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT)$/, 'RESPONSE_TIMEOUT'],
  [/^(CERT_HAS_EXPIRED|CERT_NOT_YET_VALID)$/, 'TLS_EXPIRED'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'TLS_NAME_MISMATCH'],
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?|CERT_\w+)$/,
    'TLS_UNTRUSTED',
  ],
  [/CERTIFICATE_REQUIRED|ALERT_NUMBER_116/, 'MTLS_REQUIRED'],
  [/^(EPROTO|ERR_SSL_\w+|ERR_TLS_\w+)$/, 'TLS_PROTOCOL'],
  [/^(ECONNRESET|ECONNABORTED|EPIPE|CLOSED|UND_ERR_SOCKET)$/, 'CONNECTION_RESET'],
  [/^TLS_RECORD$/, 'HTTP_TO_TLS'],
  [/^HTTP2_FRAMES$/, 'HTTP2_ONLY_PORT'],
];

const byPhase: Record<NetworkError['phase'], string> = {
  dns: 'DNS_FAILED',
  tcp: 'CONNECT_TIMEOUT',
  tls: 'TLS_PROTOCOL',
  'first-byte': 'CONNECTION_RESET',
  body: 'RESPONSE_INVALID',
  upgrade: 'CONNECTION_RESET',
  frame: 'CONNECTION_RESET',
  rpc: 'CONNECTION_RESET',
  other: 'CONNECTION_RESET',
};

/** The status with which a proxy on our way answered CONNECT; null: it did not come to that. */
function proxyStatus({ code }: NetworkError): number | null {
  const [, status] = /^PROXY_(\d{3})$/.exec(code) ?? [];
  return status === undefined ? null : Number(status);
}

function proxyAnswer(status: number): string {
  if (status === 407) return 'PROXY_BASIC_AUTH';
  return status >= 500 && status < 600 ? 'UPSTREAM_DOWN' : 'EDGE_REFUSES_HTTP';
}

/** The network class of a failure, by its code first and its phase second. */
export function networkCode(given: NetworkError): string {
  const answered = proxyStatus(given);
  if (answered !== null) return proxyAnswer(answered);
  const error = { ...given, code: given.code.replace(/^PROXY_/, '') };
  if (error.code === 'INVALID') return 'WRONG_SERVICE';
  if (error.code === 'DEADLINE' || /^(23|TimeoutError)$/.test(error.code)) {
    if (error.phase === 'dns') return 'DNS_FAILED';
    return error.phase === 'tcp' ? 'CONNECT_TIMEOUT' : 'RESPONSE_TIMEOUT';
  }
  if (error.code.startsWith('HPE_')) return 'WRONG_SERVICE';
  return byCode.find(([pattern]) => pattern.test(error.code))?.[1] ?? byPhase[error.phase];
}

const certificateArgs = (tls: TlsFact | null): Draft['args'] =>
  tls === null
    ? {}
    : {
        subject: tls.subject,
        issuer: tls.issuer,
        names: tls.names,
        validFrom: tls.validFrom,
        validTo: tls.validTo,
        chainLength: tls.chainLength,
      };

function certificateEvidence(tls: TlsFact | null): string[] {
  if (tls === null) return [];
  const said = [
    tls.subject === null ? null : `the certificate is for ${tls.subject}`,
    tls.issuer === null ? null : `issued by ${tls.issuer}`,
    tls.names.length === 0 ? null : `names ${tls.names.slice(0, 5).join(', ')}`,
    tls.validTo === null ? null : `valid ${tls.validFrom ?? '?'} to ${tls.validTo}`,
  ].filter((part) => part !== null);
  return said.length === 0 ? [] : [said.join(', ')];
}

const proxyEvidence = ({ facts: { asked } }: Reading): string[] =>
  asked.proxy === undefined
    ? []
    : [
        `the way there is the proxy ${asked.proxy.url}${asked.proxy.from === null ? '' : `, from ${asked.proxy.from}`}`,
      ];

/** Only where the proxy itself failed, not what is behind it. */
const proxyArgs = ({ facts }: Reading, error: NetworkError): Draft['args'] => {
  if (!error.code.startsWith('PROXY_')) return {};
  const { proxy } = facts.asked;
  const status = proxyStatus(error);
  return {
    proxy: proxy?.url ?? 'the proxy',
    proxyFrom: proxy?.from ?? null,
    ...(status === null ? {} : { status }),
  };
};

/** `fact` got no HTTP answer, but `error`. */
function networkDraft(fact: HttpFact | WsFact, reading: Reading, error: NetworkError): Draft {
  const { tls } = reading.facts;
  const isPlain = fact.url.startsWith('http:');
  const wantsTls = isPlain && tls !== null && networkCode(error) === 'CONNECTION_RESET';
  const code = wantsTls ? 'HTTP_TO_TLS' : networkCode(error);
  const isTls = code.startsWith('TLS_') || wantsTls;
  const atWs = 'handshake' in fact;
  return draft(code, {
    confidence: wantsTls ? 'likely' : 'certain',
    args: {
      url: reading.facts.service?.url ?? fact.url,
      error: error.code,
      phase: error.phase,
      ms: Math.round(fact.phases.total),
      ...(atWs ? { at: 'ws' } : {}),
      ...proxyArgs(reading, error),
      ...(isTls ? certificateArgs(tls) : {}),
    },
    evidence: [
      atWs ? sawWs(fact) : sawHttp(fact),
      ...(isTls ? certificateEvidence(tls) : []),
      ...proxyEvidence(reading),
    ],
    remedies: code === 'CONNECTION_REFUSED' && reading.hasDisk && !atWs ? [launch(reading)] : [],
  });
}

/** What a person cut short says nothing about the server. */
export const networkDrafts = (fact: HttpFact | WsFact, reading: Reading): Draft[] => {
  const error = fact.error ?? unknownError;
  return error.code === 'ABORTED' ? [] : [networkDraft(fact, reading, error)];
};

const unknownError: NetworkError = { phase: 'other', code: 'UNKNOWN', message: '' };
