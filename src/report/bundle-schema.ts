import { z } from 'zod';
import { reportSchema } from '../judge/schema.ts';
import { factsSchema } from '../probe/schema.ts';

/** The document of `bundle`, for bug reports. Loaded only to publish. */
export const bundleSchema = z.object({
  schemaVersion: z.string(),
  kind: z.literal('bundle'),
  tool: z.object({ name: z.string(), version: z.string() }),
  node: z.string().describe('Version of Node.js, with its v'),
  platform: z.string(),
  environment: z.array(z.string()).describe('Names of variables that matter here; never their values'),
  facts: factsSchema,
  report: reportSchema.omit({ durationMs: true }),
});
