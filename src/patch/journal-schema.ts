import { z } from 'zod';
import { markerSchema } from './schema.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

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

export type Journal = z.infer<typeof journalSchema>;
