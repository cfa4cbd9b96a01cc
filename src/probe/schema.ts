import { z } from 'zod';
import { headSchema } from '../document-schema.ts';
import { hostFactsSchema, installSchema, processSchema } from '../engine/schema.ts';
import { httpFactSchema, phasesSchema, rpcFactSchema, wsFactSchema } from './exchange-schema.ts';

/** Facts: what was seen, never what it means. Loaded only to parse or publish; code uses the types. */

export const contractFactSchema = z.object({
  value: z.number().int().min(0).nullable(),
  from: z.enum(['rpc', 'source', 'version']).nullable(),
  state: z.enum(['known', 'none', 'unknown']),
  raw: z.string().nullable().describe('The value as it came, as JSON, at most 80 characters'),
  why: z.string().nullable(),
});

/** Known fields of GET /api/status, each only when of the right type. */
export const statusFactSchema = z.object({
  version: z.string().nullable(),
  releaseDate: z.string().nullable(),
  authRequired: z.boolean().nullable(),
  authProviders: z.array(z.string()).nullable(),
  authFlows: z.array(z.string()).nullable(),
  hermesHome: z.string().nullable(),
  canUpdate: z.boolean().nullable(),
  gatewayRunning: z.boolean().nullable(),
  gatewayPid: z.number().nullable(),
  activeSessions: z.number().nullable(),
  uiSurface: z.string().nullable(),
  wrongTypes: z.array(z.string()).describe('Known fields that came with another type'),
});

export const tlsFactSchema = z.object({
  protocol: z.string().nullable(),
  subject: z.string().nullable(),
  issuer: z.string().nullable(),
  names: z.array(z.string()),
  validFrom: z.string().nullable(),
  validTo: z.string().nullable(),
  chainLength: z.number().nullable(),
});

export const credentialFactSchema = z.object({
  kind: z.enum(['none', 'token', 'login']),
  source: z.string().nullable().describe('env, token-file, page … never the value'),
  fingerprint: z.string().nullable(),
  unreadable: z
    .enum(['web-build', 'headless', 'gated', 'not-asked', 'page-failed', 'no-token-in-page'])
    .nullable()
    .describe('Why the page gave none'),
  login: z
    .object({
      outcome: z.enum(['ok', 'rejected', 'rate-limited', 'needs-browser', 'failed', 'not-tried']),
      providers: z.array(z.object({ name: z.string(), password: z.boolean() })),
      detail: z.string().nullable(),
    })
    .nullable(),
});

export const sessionListFactSchema = z
  .object({
    rows: z.number(),
    running: z.number().describe('Sessions of this gateway in which a turn runs'),
    stale: z.number().describe('Rows said to be active in which no turn runs'),
    missing: z.number().describe('Rows of running turns that are not said to be active'),
  })
  .describe('The session list against what runs; null where one of the two could not be read (before 0.16)');

export const askedSchema = z.object({
  url: z.string().nullable(),
  port: z.number().nullable(),
  home: z.string().nullable(),
  profile: z.string().nullable(),
  origin: z.string().nullable(),
  mode: z.enum(['auto', 'dashboard', 'legacy']),
  client: z.string().nullable().describe('Whose wishes decided which probes ran'),
  patience: z.enum(['normal', 'cold']),
  proxy: z
    .object({ url: z.string(), from: z.string().nullable() })
    .optional()
    .describe('HTTP proxy on our way to the address, and the option or variable that named it'),
});

export const capabilitySchema = z.object({
  id: z.string(),
  state: z.enum(['yes', 'no', 'unknown', 'not-applicable']),
  evidence: z.array(z.string()),
});

export const factsSchema = z.object({
  ...headSchema('facts'),
  target: z.object({
    kind: z.enum(['local', 'ssh', 'http']),
    name: z.string(),
    url: z.string().nullable(),
    address: z.string().optional().describe('The target as it is typed, where the name is only a label'),
  }),
  asked: askedSchema,
  takenAt: z.string(),
  host: hostFactsSchema.nullable(),
  hostError: z
    .object({
      finding: z.string(),
      text: z.string(),
      args: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
      commands: z.array(z.array(z.string())).describe('What helps, as the error said it'),
    })
    .nullable()
    .optional()
    .describe('Why the host itself could not be looked at: an SSH_… code'),
  installs: z.array(installSchema),
  processes: z.array(processSchema),
  service: z
    .object({
      url: z.string(),
      how: z.enum(['named', 'found', 'started']),
      via: z.enum(['direct', 'tunnel', 'on-host']),
      pid: z.number().nullable(),
      install: z
        .string()
        .nullable()
        .describe('Install whose process serves it; null where something else does or nobody could tell'),
      proxied: z
        .enum(['no', 'yes', 'unknown'])
        .describe('no: we spoke to the port of the engine process itself'),
    })
    .nullable()
    .describe('null: no dashboard was named or found'),
  credential: credentialFactSchema,
  status: statusFactSchema.nullable(),
  http: z.array(httpFactSchema),
  ws: z.array(wsFactSchema),
  rpc: rpcFactSchema,
  contract: contractFactSchema,
  sessionList: sessionListFactSchema.nullable().optional(),
  tls: tlsFactSchema.nullable(),
  phases: phasesSchema,
  flapping: z
    .object({ before: z.string(), after: z.string() })
    .nullable()
    .describe('It answered, then did not; or another process took its place'),
  capabilities: z.array(capabilitySchema),
  patchFindings: z
    .array(
      z.object({
        code: z.string(),
        severity: z.enum(['error', 'warn', 'info']),
        text: z.string(),
        path: z.string().nullable(),
        patch: z.string().optional(),
      }),
    )
    .optional()
    .describe('What `patch status` says about this target, where it was asked'),
});

export type ContractFact = z.infer<typeof contractFactSchema>;
export type StatusFact = z.infer<typeof statusFactSchema>;
export type TlsFact = z.infer<typeof tlsFactSchema>;
export type CredentialFact = z.infer<typeof credentialFactSchema>;
export type SessionListFact = z.infer<typeof sessionListFactSchema>;
export type Capability = z.infer<typeof capabilitySchema>;
export type Facts = z.infer<typeof factsSchema>;
