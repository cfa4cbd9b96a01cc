import { z } from 'zod';
import { headSchema, targetSchema } from '../document-schema.ts';

/** What `hook …` prints. Loaded only to publish; code uses the types. */

const head = <K extends string>(kind: K) => ({
  ...headSchema(kind),
  target: targetSchema,
  home: z.string(),
});

export const settledSchema = z.object({
  patch: z.string(),
  carrier: z.enum(['overlay', 'source']),
  outcome: z
    .enum(['kept', 'reapplied', 'retired', 'taken-over', 'not-missed', 'refused'])
    .describe(
      'retired: the engine has it of its own; taken-over: another edit does it; not-missed: gone, and the dashboard works without',
    ),
  code: z.string().nullable().describe('Finding code of a refusal'),
  reason: z.string(),
});

export const restartSchema = z.object({
  pid: z.number(),
  command: z.string(),
  port: z.number().nullable(),
  owner: z.string(),
  restarted: z.boolean(),
  why: z.string().nullable(),
  newPid: z.number().nullable(),
  commands: z.array(z.array(z.string())).describe('What restarts it, by who keeps it'),
});

export const hooksSchema = z.object({
  ...head('hooks'),
  hooks: z.array(
    z.object({
      id: z.enum(['overlay', 'systemd-user', 'systemd-system', 'launchd', 'cron', 'git', 'wrapper']),
      state: z
        .enum(['installed', 'changed', 'gone', 'not-installed'])
        .describe('changed: somebody wrote over it; gone: it was installed and is not there any more'),
      possible: z.boolean(),
      problem: z.string().nullable().describe('Why it cannot be used here'),
      does: z.string(),
      limits: z.string(),
      files: z.array(z.object({ path: z.string(), text: z.string().nullable() })),
    }),
  ),
  done: z.array(z.string()).describe('What install or remove did'),
});

export const hookRunSchema = z.object({
  ...head('hook-run'),
  outcome: z.enum(['nothing-recorded', 'unchanged', 'busy', 'updating', 'checked', 'failed']),
  changed: z.array(z.string()).describe('What differs since the last look'),
  patches: z.array(settledSchema),
  restart: z
    .array(restartSchema)
    .describe('Running dashboards older than what was written; they are not ended'),
  message: z.string().nullable(),
});

export type HooksDocument = z.infer<typeof hooksSchema>;
export type HookRunDocument = z.infer<typeof hookRunSchema>;
