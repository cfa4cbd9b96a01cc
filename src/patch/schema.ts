import { z } from 'zod';
import { headSchema, targetSchema, toolSchema } from '../document-schema.ts';

/** Shapes of the patch documents. Loaded only to parse or publish; code uses the types. */

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

export const carrierSchema = z.enum(['overlay', 'source']);
export const actionSchema = z.enum(['write', 'remove', 'none']);
export const stateSchema = z.enum([
  'not-needed',
  'absent',
  'applied',
  'applied-older',
  'applied-by-other',
  'modified',
  'blocked',
  'unknown',
]);

export const refusalSchema = z.object({
  patch: z.string(),
  carrier: carrierSchema,
  code: z.string().describe('Finding code'),
  reason: z.string(),
  lookedFor: z.string().nullable(),
  found: z.string().nullable(),
  alternative: z.string().nullable(),
});

export const optionsSchema = z.object({
  do: z.enum(['apply', 'revert']),
  patches: z.array(z.string()),
  carrier: carrierSchema.nullable(),
  allowNonLoopback: z.boolean(),
  replace: z.boolean(),
});

export const stepSchema = z.object({
  patch: z.string(),
  carrier: carrierSchema,
  path: z.string(),
  action: actionSchema,
  beforeSha256: sha256.nullable(),
  afterSha256: sha256.nullable(),
  diff: z.string().describe('Unified diff; empty where the file is not text'),
});

export const planSchema = z.object({
  ...headSchema('plan'),
  planVersion: z.literal(1),
  target: targetSchema,
  install: z.string().nullable(),
  home: z.string(),
  options: optionsSchema,
  steps: z
    .array(stepSchema)
    .describe('In the order of the patches; a later step starts from the bytes of an earlier one'),
  files: z
    .array(
      z.object({
        path: z.string(),
        action: actionSchema,
        beforeSha256: sha256.nullable(),
        afterSha256: sha256.nullable(),
      }),
    )
    .describe('What is written, in that order'),
  refusals: z.array(refusalSchema),
  notes: z
    .array(z.object({ patch: z.string(), text: z.string() }))
    .describe('Why nothing is to be done, and what to know'),
});

export const statusSchema = z.object({
  ...headSchema('status'),
  target: targetSchema,
  install: z.string().nullable(),
  home: z.string(),
  patches: z.array(
    z.object({
      id: z.string(),
      revision: z.number().nullable().describe('The one that is there, else the one that would be'),
      state: stateSchema,
      reason: z.string(),
      carrier: carrierSchema.nullable(),
      effective: z.enum(['yes', 'no', 'unknown']),
      files: z.array(z.object({ path: z.string(), sha256: sha256.nullable() })),
    }),
  ),
  findings: z.array(
    z.object({
      code: z.string(),
      severity: z.enum(['error', 'warn', 'info']),
      text: z.string(),
      path: z.string().nullable(),
      patch: z.string().optional().describe('Whose entry of the marker this is about'),
    }),
  ),
});

/** How `plugins.enabled` was edited, so that it can be undone to the byte. */
export const configUndoSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('created-file') }),
  z.object({ kind: z.literal('inserted'), text: z.string(), ownsKeys: z.boolean() }),
  z.object({ kind: z.literal('replaced'), was: z.string(), now: z.string() }),
]);

export const markerEntrySchema = z.object({
  patch: z.string(),
  revision: z.number(),
  carrier: carrierSchema,
  install: z.string().nullable(),
  home: z.string(),
  allowNonLoopback: z.boolean(),
  at: z.string(),
  files: z.array(
    z.object({ path: z.string(), beforeSha256: sha256.nullable(), afterSha256: sha256.nullable() }),
  ),
});

/** `desktop-compat/hermes-compat.json`: what we say we did. A claim; bytes decide. */
export const markerSchema = z.object({
  ...headSchema('marker'),
  at: z.string(),
  entries: z.array(markerEntrySchema),
  config: z
    .array(
      z.object({
        path: z.string(),
        undo: configUndoSchema,
        beforeSha256: sha256.nullable(),
        afterSha256: sha256,
      }),
    )
    .describe('The one edit outside our own files'),
  folders: z.array(z.string()).describe('Folders that we made'),
});

export const historyEntrySchema = z.object({
  at: z.string(),
  tool: toolSchema,
  action: z.enum(['apply', 'revert', 'recover']),
  outcome: z.enum(['done', 'rolled-back', 'finished']),
  patches: z.array(z.string()),
  files: z.array(
    z.object({ path: z.string(), beforeSha256: sha256.nullable(), afterSha256: sha256.nullable() }),
  ),
  why: z.string().nullable(),
});

/** What `patch apply`, `patch revert` and `doctor --fix` did. */
export const changeSchema = z.object({
  ...headSchema('change'),
  target: targetSchema,
  action: z.enum(['apply', 'revert']),
  outcome: z.enum(['done', 'nothing-to-do', 'dry-run']),
  plan: planSchema,
  verified: z
    .array(z.object({ step: z.string(), ok: z.boolean(), saw: z.string() }))
    .describe('What a throw-away dashboard was asked, and answered'),
  restart: z
    .array(
      z.object({
        pid: z.number(),
        command: z.string(),
        port: z.number().nullable(),
        owner: z.string(),
        restarted: z.boolean(),
        why: z.string().nullable().describe('Why it was not restarted'),
        newPid: z.number().nullable(),
        commands: z.array(z.array(z.string())).describe('What restarts it, by who keeps it'),
      }),
    )
    .describe('Running processes that were started before this change'),
  recovered: z
    .object({ at: z.string(), outcome: z.enum(['rolled-back', 'finished']) })
    .nullable()
    .describe('A change of an earlier run that was cut, and was ended first'),
  purged: z.array(z.string()),
});

export const historySchema = z.object({
  ...headSchema('history'),
  home: z.string(),
  entries: z.array(historyEntrySchema),
});

export const patchListSchema = z.object({
  ...headSchema('patches'),
  patches: z.array(
    z.object({
      id: z.string(),
      revision: z.number(),
      title: z.string(),
      purpose: z.string(),
      capability: z.string(),
      engines: z.object({ from: z.string().nullable(), before: z.string().nullable() }),
      carriers: z.array(carrierSchema),
      retires: z.string(),
    }),
  ),
});

export type Carrier = z.infer<typeof carrierSchema>;
export type Refusal = z.infer<typeof refusalSchema>;
export type PlanOptions = z.infer<typeof optionsSchema>;
export type PlanStep = z.infer<typeof stepSchema>;
export type PlanDocument = z.infer<typeof planSchema>;
export type StatusDocument = z.infer<typeof statusSchema>;
export type ConfigUndo = z.infer<typeof configUndoSchema>;
export type MarkerEntry = z.infer<typeof markerEntrySchema>;
export type Marker = z.infer<typeof markerSchema>;
export type HistoryEntry = z.infer<typeof historyEntrySchema>;
export type ChangeDocument = z.infer<typeof changeSchema>;
export type HistoryDocument = z.infer<typeof historySchema>;
export type PatchListDocument = z.infer<typeof patchListSchema>;
