import { z } from 'zod';

/** One exchange with a server, as it was seen: a request over HTTP, an upgrade, an RPC. Loaded only to parse or publish. */

/** Milliseconds by phase; null where the phase did not happen. */
export const phasesSchema = z.object({
  dns: z.number().nullable(),
  tcp: z.number().nullable(),
  tls: z.number().nullable(),
  firstByte: z.number().nullable(),
  upgrade: z.number().nullable(),
  rpc: z.number().nullable(),
  total: z.number(),
});

export const networkErrorSchema = z.object({
  phase: z.enum(['dns', 'tcp', 'tls', 'first-byte', 'body', 'upgrade', 'frame', 'rpc', 'other']),
  code: z
    .string()
    .describe(
      'As the platform says it: ENOTFOUND, ECONNREFUSED, ECONNRESET, HPE_INVALID_CONSTANT, CERT_HAS_EXPIRED, ERR_SSL_…, WS_ERR_…; of our own: DEADLINE (limit reached), CLOSED (ended without a reset), ABORTED (interrupted), HTTP2_FRAMES and TLS_RECORD (what spoke instead of HTTP/1), PROXY_… (the HTTP proxy on our way failed; with three digits, its answer to CONNECT)',
    ),
  message: z.string().describe('Redacted, control characters removed, at most 300 characters'),
});

/** What a body was. Protected bodies keep status, type, keys and counts, never content. */
export const bodySchema = z.object({
  kind: z.enum(['json', 'html', 'text', 'empty', 'binary', 'unread']),
  contentType: z.string().nullable(),
  bytes: z.number(),
  problem: z
    .enum(['too-large', 'not-utf8', 'cut', 'not-json', 'bomb', 'content-length'])
    .nullable()
    .describe('not-json: declared JSON that does not parse'),
  keys: z
    .array(z.string())
    .describe(
      'Top-level keys of a JSON object, at most 60; of `openapi` the listed paths that a capability is about, e.g. /api/model/set',
    ),
  count: z.number().nullable().describe('Length of the list that the endpoint is about'),
  detail: z
    .string()
    .nullable()
    .describe(
      'Start of an error or public body, redacted, at most 300 characters; null for protected content',
    ),
  title: z.string().nullable(),
  page: z
    .object({
      token: z.boolean(),
      tokenFingerprint: z.string().nullable().optional().describe('To compare with the credential in use'),
      embeddedChat: z.boolean().nullable(),
      authRequired: z.boolean().nullable(),
      basePath: z.string().nullable(),
      script: z.string().nullable(),
      uiSurface: z.string().nullable(),
    })
    .nullable()
    .describe('Globals of a page that carries __HERMES_…'),
});

export const responseHeadersSchema = z.object({
  server: z.array(z.string()),
  location: z.string().nullable().describe('Redacted'),
  wwwAuthenticate: z.string().nullable(),
  retryAfter: z.string().nullable(),
  allow: z.string().nullable(),
  cfRay: z.boolean(),
  setCookies: z.array(
    z.object({
      name: z.string(),
      secure: z.boolean(),
      httpOnly: z.boolean(),
      sameSite: z.string().nullable(),
      path: z.string().nullable(),
      domain: z.string().nullable(),
    }),
  ),
});

export const httpFactSchema = z.object({
  id: z
    .string()
    .describe(
      'Which probe: status, page, health, sessions-bare, sessions, session-messages, model-options, model-library, openapi, asset, api-server-health, …',
    ),
  method: z.string(),
  url: z.string().describe('Redacted'),
  credential: z.enum(['none', 'token', 'cookie', 'bearer']),
  hostHeader: z.string().nullable().describe('Only where it differs from the URL'),
  outcome: z.enum(['answered', 'failed', 'skipped']),
  why: z.string().nullable().describe('Why it was skipped'),
  status: z.number().nullable(),
  headers: responseHeadersSchema.nullable(),
  body: bodySchema.nullable(),
  error: networkErrorSchema.nullable(),
  phases: phasesSchema,
});

export const wsFactSchema = z.object({
  id: z.string().describe('Which upgrade: main, new-ticket, no-origin, loopback-host, events, console'),
  url: z.string().describe('Redacted'),
  credential: z.enum(['none', 'token', 'ticket', 'subprotocol-ticket', 'bearer']),
  origin: z.string().nullable(),
  hostHeader: z.string().nullable(),
  reason: z
    .string()
    .nullable()
    .optional()
    .describe('What the engine logged about this upgrade (gui.log), redacted; the console upgrade only'),
  outcome: z
    .enum(['open', 'refused', 'failed', 'skipped'])
    .describe(
      'refused: an HTTP answer other than a valid 101; failed: no HTTP answer, or an invalid handshake',
    ),
  why: z.string().nullable(),
  status: z.number().nullable(),
  headers: responseHeadersSchema.nullable(),
  body: bodySchema.nullable(),
  bareRefusal: z.boolean().describe('403, text/plain, empty body: the refusal of the engine itself'),
  handshake: z.enum(['valid', 'bad-accept', 'bad-protocol', 'none']),
  protocol: z.string().nullable(),
  firstFrame: z
    .object({ ms: z.number(), bytes: z.number(), type: z.string().nullable(), json: z.boolean() })
    .nullable(),
  close: z.object({ code: z.number(), reason: z.string(), afterMs: z.number() }).nullable(),
  held: z
    .object({ seconds: z.number(), closedAfterMs: z.number().nullable() })
    .nullable()
    .describe('--hold: how long it stayed open without traffic'),
  error: networkErrorSchema.nullable(),
  phases: phasesSchema,
});

export const rpcFactSchema = z.object({
  outcome: z.enum(['answered', 'failed', 'skipped']),
  why: z.string().nullable(),
  method: z.string(),
  answer: z.enum(['result', 'error']).nullable(),
  errorCode: z.number().nullable(),
  ms: z.number().nullable(),
  error: networkErrorSchema.nullable(),
});

export type Phases = z.infer<typeof phasesSchema>;
export type NetworkError = z.infer<typeof networkErrorSchema>;
export type BodyFact = z.infer<typeof bodySchema>;
export type ResponseHeaders = z.infer<typeof responseHeadersSchema>;
export type HttpFact = z.infer<typeof httpFactSchema>;
export type WsFact = z.infer<typeof wsFactSchema>;
export type RpcFact = z.infer<typeof rpcFactSchema>;
