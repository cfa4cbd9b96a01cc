import { z } from 'zod';
import { headSchema, targetSchema } from '../../document-schema.ts';
import { reportSchema, verdictSchema } from '../../judge/schema.ts';
import { restartSchema, settledSchema } from '../hook-schema.ts';

/** What `update`, `pre-update` and `post-update` print. Loaded only to publish; code uses the types. */

const versionSchema = z.object({
  version: z.string().nullable(),
  generation: z.string().nullable(),
  head: z.string().nullable().describe('Commit of a checkout'),
});

export const updateSchema = z.object({
  ...headSchema('update'),
  target: targetSchema,
  action: z.enum(['update', 'pre-update', 'post-update']),
  outcome: z
    .enum(['updated', 'already-current', 'update-failed', 'prepared', 'dry-run'])
    .describe('update-failed: the updater said so; `after` is what is there now, with ours in its place'),
  continuedFrom: z.string().nullable().describe('Step at which an earlier run was cut'),
  install: z.string(),
  home: z.string(),
  before: versionSchema,
  after: versionSchema.nullable(),
  processes: z
    .array(
      z.object({
        pid: z.number(),
        user: z.string(),
        command: z.string(),
        install: z.string().nullable(),
        owner: z.string(),
        launched: z.boolean(),
        ended: z.boolean().nullable(),
        restart: z
          .array(z.array(z.string()))
          .describe('Commands of the unit, job or container that keeps it'),
        startAgain: z
          .array(z.string())
          .nullable()
          .describe('argv that starts it again as it was, with its HERMES_HOME; null: not known'),
      }),
    )
    .describe('What the end of the updater ends, whatever install it belongs to'),
  toTakeOut: z.array(z.string()).describe('Source edits of ours, taken out before'),
  edits: z
    .array(z.object({ path: z.string(), outcome: z.string(), why: z.string().nullable() }))
    .describe("The user's own edits: noted, kept, put-back, parked or other"),
  branchChange: z
    .object({ from: z.string(), to: z.string() })
    .nullable()
    .describe('The updater leaves the branch that was checked out, and updates another'),
  updater: z
    .object({
      command: z.array(z.string()),
      exitCode: z.number().nullable(),
      receipt: z.object({ outcome: z.string(), localChanges: z.string().nullable() }).nullable(),
      log: z.string(),
    })
    .nullable(),
  parked: z.array(z.string()).describe('Stashes that the updater left'),
  patches: z.array(settledSchema),
  dashboards: z
    .array(
      z.object({
        port: z.number(),
        outcome: z.enum(['running', 'started', 'failed']),
        pid: z.number().nullable(),
        url: z.string().nullable(),
        why: z.string().nullable(),
      }),
    )
    .describe('Dashboards that launch had started'),
  restart: z.array(restartSchema).describe('Running dashboards with older code, which are not ours to end'),
  verdict: verdictSchema.nullable(),
  findings: z.array(z.string()).describe('Codes of the final check'),
  report: reportSchema.nullable().describe('The final check, as doctor prints it; null where none was made'),
  exitCode: z.number(),
});

export type UpdateDocument = z.infer<typeof updateSchema>;
