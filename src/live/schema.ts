import { z } from 'zod';
import { headSchema, targetSchema } from '../document-schema.ts';

/** What `turn` and `record` print. Loaded only to publish; code uses the types. */

const resultSchema = z.object({
  id: z.string(),
  status: z
    .enum(['pass', 'fail', 'error', 'skip'])
    .describe('error: it could not be brought to an end; skip: this transport cannot be asked'),
  got: z
    .string()
    .nullable()
    .describe(
      'Outcome of each turn; differences of the stored rows; turns not seen whole; faults of the engine',
    ),
  expected: z.string(),
  from: z
    .enum(['table', 'outcomes'])
    .describe('The committed cell of this release, or for others the outcomes alone'),
  why: z.string().nullable(),
  lost: z
    .object({ turn: z.number(), error: z.string() })
    .optional()
    .describe(
      'The dashboard failed in the middle of this turn: its error belongs there, and its prompt is not sent again',
    ),
  ms: z.number(),
});

const findingSchema = z.object({
  code: z.string(),
  args: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
});

export const turnsSchema = z.object({
  ...headSchema('turns'),
  target: targetSchema,
  suite: z.enum(['basic', 'full']),
  transport: z.enum(['dashboard', 'legacy']),
  engine: z.object({ version: z.string().nullable() }),
  scenarios: z.array(resultSchema),
  findings: z.array(findingSchema),
  notes: z.array(z.string()).describe('What this transport cannot show, what was left behind'),
  exitCode: z.number(),
});

export const recordingSchema = z.object({
  ...headSchema('recording'),
  target: targetSchema,
  file: z.string(),
  frames: z.number(),
  turns: z.number(),
  session: z.string().nullable().describe('The stored id'),
  removed: z.boolean().describe('The session that was made for it is deleted again'),
  notes: z.array(z.string()).describe('What was left behind'),
  exitCode: z.number(),
});

export const scenariosSchema = z.object({
  ...headSchema('scenarios'),
  scenarios: z.array(z.object({ id: z.string(), says: z.string() })),
});

export type ScenariosDocument = z.infer<typeof scenariosSchema>;
export type TurnsDocument = z.infer<typeof turnsSchema>;
export type RecordingDocument = z.infer<typeof recordingSchema>;
