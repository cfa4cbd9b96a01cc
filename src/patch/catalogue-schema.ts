import { z } from 'zod';

/** Shapes of the files under `patches/`: what a patch is. Loaded only to parse or publish; code uses the types. */

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

export type OverlayFile = z.infer<typeof overlayFileSchema>;
export type PatchFile = z.infer<typeof patchFileSchema>;
export type AssignmentEdit = z.infer<typeof assignmentEditSchema>;
export type IncludeEdit = z.infer<typeof includeEditSchema>;
export type Retirement = z.infer<typeof retirementSchema>;
export type Other = z.infer<typeof otherSchema>;
