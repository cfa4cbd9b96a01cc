import { z } from 'zod';

/** The file of `preflight --baseline`. Loaded only to parse or publish. */
export const baselineSchema = z.strictObject({
  $schema: z.string().max(2000).optional().describe('For editors'),
  known: z.array(
    z.strictObject({
      target: z.string().min(1).describe('Name of a target, or * for every one'),
      code: z
        .string()
        .regex(/^[A-Z][A-Z0-9_]+$/)
        .describe('Finding code'),
      until: z.iso.date().describe('Last day on which it is accepted, YYYY-MM-DD in UTC'),
      reason: z.string().min(1).max(500),
    }),
  ),
});
