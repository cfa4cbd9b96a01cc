import { z } from 'zod';
import { headSchema, targetSchema } from '../document-schema.ts';
import { capabilitySchema } from '../probe/schema.ts';

/** What the facts mean for a client. Loaded only to publish; code uses the types. */

export const verdictSchema = z.enum(['compatible', 'needs-remedy', 'incompatible', 'unknown']);

export const argsSchema = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.string())]),
);

export const remedySchema = z.object({
  id: z.string(),
  carrier: z.enum(['config', 'launch', 'overlay', 'source', 'update']),
  where: z.enum(['here', 'on-host']),
  patch: z.string().optional(),
  commands: z.array(z.array(z.string())).describe('argv arrays; printed quoted for a shell'),
  lines: z
    .array(z.string())
    .optional()
    .describe('Lines to put into a configuration, where that is the remedy'),
  restart: z.enum(['none', 'dashboard']),
  reversible: z.boolean(),
});

export const findingSchema = z.object({
  code: z.string(),
  check: z.string(),
  severity: z.enum(['error', 'warn', 'info']),
  confidence: z.enum(['certain', 'likely', 'possible']),
  args: argsSchema,
  evidence: z.array(z.string()).describe('What was seen, each a short sentence'),
  retryable: z.boolean(),
  needsHuman: z.boolean().describe('Only a change by a person helps'),
  fix: z.array(z.string()).describe('Ids of remedies in this report, best first'),
  known: z
    .object({ until: z.string(), reason: z.string() })
    .optional()
    .describe(
      'Accepted by the baseline of a preflight: it stays in the verdict, but does not decide the exit code',
    ),
});

export const checkSchema = z.object({
  id: z.string(),
  status: z.enum(['pass', 'warn', 'fail', 'skip', 'error']).describe('error: could not be checked'),
  reason: z.string(),
  durationMs: z.number(),
});

const usableSchema = z.object({ usable: z.enum(['yes', 'no', 'unknown']), why: z.string() });

export const reportSchema = z.object({
  ...headSchema('report'),
  target: targetSchema,
  client: z.string(),
  verdict: verdictSchema,
  clients: z.record(z.string(), verdictSchema),
  exitCode: z.number(),
  engine: z.object({
    version: z.string().nullable(),
    generation: z.enum(['G0', 'G1', 'G2']).nullable(),
    contract: z.object({
      value: z.number().nullable(),
      from: z.enum(['rpc', 'source', 'version']).nullable(),
      state: z.enum(['known', 'none', 'unknown']),
    }),
    install: z.string().nullable(),
  }),
  capabilities: z.array(capabilitySchema),
  findings: z.array(findingSchema),
  checks: z.array(checkSchema),
  transport: z.object({
    auto: usableSchema.extend({ chooses: z.enum(['dashboard', 'legacy']).nullable() }),
    dashboard: usableSchema,
    legacy: usableSchema,
  }),
  remedies: z.array(remedySchema),
  change: z
    .object({
      outcome: z.enum(['done', 'nothing-to-do', 'dry-run']),
      patches: z.array(z.string()),
      files: z.array(z.string()),
      restarted: z.array(z.number()).describe('Processes that were ended and started again'),
      toRestart: z.array(z.number()).describe('Processes that still run the old code'),
    })
    .optional()
    .describe('What doctor --fix did before this report was made'),
  durationMs: z.number(),
});

export const reportsSchema = z.object({
  ...headSchema('reports'),
  reports: z.array(reportSchema),
  shard: z
    .object({ index: z.number(), count: z.number() })
    .optional()
    .describe('Which part of the targets file this is'),
  notRun: z.array(z.string()).optional().describe('Targets that were not reached before an interruption'),
  baseline: z
    .object({ expired: z.array(z.string()), unused: z.array(z.string()) })
    .optional()
    .describe('Entries of the baseline that are over, or that met nothing'),
  summary: z.object({
    total: z.number(),
    compatible: z.number(),
    'needs-remedy': z.number(),
    incompatible: z.number(),
    unknown: z.number(),
    exitCode: z.number(),
    durationMs: z.number(),
  }),
});

/** The last line of several reports as ndjson. */
export const reportsSummarySchema = reportsSchema
  .omit({ reports: true })
  .extend({ kind: z.literal('summary') });

export type Verdict = z.infer<typeof verdictSchema>;
export type Remedy = z.infer<typeof remedySchema>;
export type Finding = z.infer<typeof findingSchema>;
export type Check = z.infer<typeof checkSchema>;
export type Report = z.infer<typeof reportSchema>;
export type Reports = z.infer<typeof reportsSchema>;
