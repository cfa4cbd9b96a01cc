import { z } from 'zod';

/** Shapes of the patch documents. Loaded only to parse or publish; code uses the types. */

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const id = z.string().regex(/^[a-z][a-z0-9-]*$/);

/** Names that must be bound where the edit lands. */
const needsSchema = z.object({
  parameters: z.array(z.string()).default([]).describe('Of the function that is edited'),
  module: z.array(z.string()).default([]).describe('At module level, before the place'),
});

export const assignmentEditSchema = z.object({
  kind: z.literal('assignment'),
  file: z.string().describe('Below the folder of hermes_cli'),
  function: z.string(),
  target: z.string(),
  value: z.string().describe('The right side as the engine ships it'),
  append: z.string().describe('Put after the right side'),
  appendWhenAllowed: z.string().describe('The same with --allow-non-loopback'),
  needs: needsSchema,
});

export const includeEditSchema = z.object({
  kind: z.literal('include'),
  file: z.string(),
  include: z
    .string()
    .describe('Payload put before the anchor; __MODULE_SHA256__ stands for the hash of the module'),
  installAs: z.string().describe('Name of the module beside the file'),
  anchor: z.object({
    call: z
      .string()
      .describe('A call without arguments, a statement of its own at module level, exactly once'),
    before: z.string().describe('A call that must come after it'),
  }),
  needs: needsSchema,
});

export const retirementSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('file'), path: z.string() }),
  z.object({
    kind: z.literal('constant'),
    file: z.string(),
    target: z.string(),
    value: z.string(),
    function: z.string().describe('Must not take …'),
    parameter: z.string().describe('… this parameter'),
  }),
  z.object({ kind: z.literal('route'), path: z.string() }),
]);

export const otherSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('parameter-default'),
    by: z.string(),
    file: z.string(),
    function: z.string(),
    parameter: z.string(),
    value: z.string(),
    original: z.string(),
    why: z.string().describe('Why this alone has no effect'),
  }),
  z.object({
    kind: z.literal('constant'),
    by: z.string(),
    file: z.string(),
    target: z.string(),
    value: z.string(),
    original: z.string(),
    why: z.string(),
  }),
  z.object({
    kind: z.literal('assignment'),
    by: z.string(),
    value: z.string().describe('Right side of the assignment of our own edit'),
  }),
  z.object({
    kind: z.literal('block'),
    by: z.string(),
    file: z.string(),
    start: z.string(),
    end: z.string(),
    before: z.string().describe('A call that swallows the routes of a block that comes after it'),
    uses: z.array(z.string()).describe('Module-level names that the block reads'),
  }),
]);

/** `patches/<id>/patch.json`. */
export const patchFileSchema = z.object({
  $schema: z.string().optional(),
  id,
  revision: z.number().int().min(1),
  title: z.string(),
  purpose: z.string(),
  capability: z.string(),
  engines: z
    .object({ from: z.string().nullable(), before: z.string().nullable() })
    .describe('For people and for a first choice; structure decides'),
  module: z.string().describe('Payload with install(app, **options) -> bool'),
  options: z.array(z.enum(['allow_non_loopback'])).describe('Options that install takes'),
  source: z.discriminatedUnion('kind', [assignmentEditSchema, includeEditSchema]),
  retires: z.object({ structure: z.array(retirementSchema), probe: z.string() }),
  others: z.array(otherSchema),
  verify: z.array(z.string()).describe('What is driven on a throw-away dashboard'),
});

/** `patches/overlay/overlay.json`: the dashboard plugin, and what it needs of an engine. */
export const overlayFileSchema = z.object({
  revision: z.number().int().min(1),
  files: z.array(z.string()),
  file: z.string(),
  anchor: z.object({ call: z.string(), before: z.string() }),
  needs: needsSchema,
  enabling: z
    .object({ files: z.array(z.string()), functions: z.array(z.string()), reads: z.string() })
    .describe('An engine whose function reads this name loads a plugin only when plugins.enabled names it'),
  isolation: z.string().describe('An engine with this file knows plugins.isolation'),
  rootHome: z
    .object({ function: z.string(), parameter: z.string() })
    .describe(
      'An engine whose function takes this parameter reads plugins of the root home, else of the effective one',
    ),
});

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

const targetSchema = z.object({
  kind: z.enum(['local', 'ssh', 'http']),
  name: z.string(),
  url: z.string().nullable(),
});
const toolSchema = z.object({ name: z.string(), version: z.string() });

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
  schemaVersion: z.string(),
  kind: z.literal('plan'),
  tool: toolSchema,
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
  schemaVersion: z.string(),
  kind: z.literal('status'),
  tool: toolSchema,
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
  schemaVersion: z.string(),
  kind: z.literal('marker'),
  tool: toolSchema,
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

/** `desktop-compat/journal/journal.json`: a change that is going on, with all that undoes or finishes it. */
export const journalSchema = z.object({
  journalVersion: z.literal(1),
  id: z.string(),
  action: z.enum(['apply', 'revert']),
  phase: z
    .enum(['staging', 'renaming', 'committed'])
    .describe('staging: no file was touched; renaming: some may be; committed: all are, and were verified'),
  at: z.string(),
  patches: z.array(z.string()),
  changes: z.array(
    z.object({
      path: z.string().describe('Real path'),
      beforeSha256: sha256.nullable(),
      afterSha256: sha256.nullable(),
      stagedNew: z.string().nullable().describe('New bytes beside the file'),
      stagedOld: z.string().nullable().describe('Old bytes beside the file: going back needs no space'),
      original: z.string().nullable().describe('Old bytes in the journal folder'),
      mode: z.number(),
      backup: z.boolean().describe('The old bytes hold nothing of ours and are kept'),
    }),
  ),
  folders: z.array(z.string()).describe('Made for this change, outermost first'),
  emptied: z.array(z.string()).describe('To be removed when the change is done, if empty; innermost first'),
  bytecode: z.array(z.string()).describe('Python files whose compiled form must go'),
  marker: markerSchema,
  shared: z.object({ action: z.enum(['write', 'remove', 'keep']), text: z.string() }),
  trees: z.array(z.string()).describe('Folders of trees that are locked too'),
});

export type OverlayFile = z.infer<typeof overlayFileSchema>;
export type PatchFile = z.infer<typeof patchFileSchema>;
export type AssignmentEdit = z.infer<typeof assignmentEditSchema>;
export type IncludeEdit = z.infer<typeof includeEditSchema>;
export type Retirement = z.infer<typeof retirementSchema>;
export type Other = z.infer<typeof otherSchema>;
export type Carrier = z.infer<typeof carrierSchema>;
export type PatchState = z.infer<typeof stateSchema>;
export type Refusal = z.infer<typeof refusalSchema>;
export type PlanOptions = z.infer<typeof optionsSchema>;
export type PlanStep = z.infer<typeof stepSchema>;
export type PlanDocument = z.infer<typeof planSchema>;
export type StatusDocument = z.infer<typeof statusSchema>;
export type ConfigUndo = z.infer<typeof configUndoSchema>;
export type MarkerEntry = z.infer<typeof markerEntrySchema>;
export type Marker = z.infer<typeof markerSchema>;
export type HistoryEntry = z.infer<typeof historyEntrySchema>;
export type Journal = z.infer<typeof journalSchema>;
