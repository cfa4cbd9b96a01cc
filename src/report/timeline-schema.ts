import { z } from 'zod';
import { headSchema } from '../document-schema.ts';

/** The document of `replay --json`. Loaded only to publish; code uses the types of `turn/`. */

const nullableTime = z.number().nullable().describe('Milliseconds of the recording');

const textSchema = z
  .union([z.string(), z.object({ sha256: z.string().length(64), length: z.int() })])
  .describe('Texts of 20,000 characters or more are given as the digest of their UTF-8');

const times = { startedAt: nullableTime, endedAt: nullableTime };

/** A long text has `sha256` and `length` in place of `text`. */
const textKeys = {
  text: z.string().optional(),
  sha256: z.string().length(64).optional(),
  length: z.int().optional(),
};

const partSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('reasoning'), ...textKeys, ...times }),
  z.object({ type: z.literal('text'), ...textKeys, role: z.enum(['process', 'final']), ...times }),
  z.object({
    type: z.literal('tool'),
    callId: z.string(),
    name: z.string(),
    status: z.enum(['completed', 'failed', 'cancelled', 'denied', 'running']),
    context: z.string().nullable(),
    args: z.json().describe('Shortened when long'),
    result: z.json().describe('Shortened when long'),
    ...times,
  }),
  z.object({ type: z.literal('error'), error: z.string() }),
]);

const toolCountsSchema = z.object({
  completed: z.int(),
  failed: z.int(),
  cancelled: z.int(),
  denied: z.int(),
  running: z.int(),
});

const turnSchema = z.object({
  index: z.int().describe('Turns in the order in which they were sent or started'),
  session: z.string().describe('Runtime id'),
  origin: z.enum(['user', 'engine']),
  prompt: textSchema.nullable(),
  parts: z.array(partSchema),
  final: textSchema.nullable().describe('The last text of a completed turn'),
  outcome: z.enum([
    'completed',
    'cancelled',
    'interrupted',
    'compression_exhausted',
    'tool_limit_reached',
    'no_response',
    'error',
  ]),
  degraded: z.boolean().describe('Something of the turn was not seen; `lacks` says what'),
  artifacts: z.array(z.string()).describe('Files that successful tool calls created or changed'),
  stored: z.array(z.string()).describe('Stored ids that the session was seen with'),
  phase: z.literal('settled'),
  lacks: z.array(z.string()),
  evidence: z
    .array(z.object({ sign: z.string(), value: z.string().optional() }))
    .describe('What the outcome rests on'),
  confidence: z.enum(['certain', 'likely', 'possible']),
  activity: z.array(z.object({ kind: z.string(), text: z.string(), at: nullableTime })),
  summary: z.object({
    durationMs: z.number().nullable(),
    reasoning: z.int(),
    texts: z.int(),
    tools: toolCountsSchema,
    toolNames: z.record(z.string(), z.int()),
    compressions: z.int(),
    retries: z.int(),
    artifacts: z.int(),
  }),
  references: z.array(z.string()).describe('Workspace links and images that are only mentioned'),
  questions: z.array(
    z.object({
      kind: z.string(),
      id: z.string().nullable(),
      text: z.string(),
      callId: z.string().nullable(),
    }),
  ),
  redirects: z.array(z.string()).describe('Prompts that redirected this turn'),
  compacted: z.boolean().describe('Compaction had been seen in the session by then'),
  startedAt: nullableTime,
  endedAt: nullableTime,
});

const comparisonSchema = z.object({
  equal: z.boolean(),
  differences: z.array(z.object({ turn: z.int().nullable(), code: z.string() })),
});

export const timelineSchema = z.object({
  ...headSchema('timeline'),
  file: z.string().optional().describe('Only among several'),
  turns: z.array(turnSchema),
  comparison: comparisonSchema.optional().describe('With --stored'),
  twice: z
    .object({ equal: z.boolean(), changed: z.array(z.int()) })
    .optional()
    .describe('With --twice'),
});
