import { z } from 'zod';
import { headSchema } from '../document-schema.ts';

/** The document of a run that ended with an error and was asked for JSON. Loaded only to publish. */
export const errorSchema = z.object({
  ...headSchema('error'),
  error: z.object({
    kind: z.enum(['usage', 'unchecked', 'refused', 'rolled-back', 'half-done', 'interrupted', 'bug']),
    finding: z.string().nullable().describe('Code of CODES.md, where one fits'),
    message: z.string(),
    args: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
    commands: z.array(z.array(z.string())).describe('What to do now: argv arrays'),
    journal: z.string().nullable(),
  }),
  exitCode: z.number(),
});
