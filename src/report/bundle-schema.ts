import { z } from 'zod';
import { headSchema } from '../document-schema.ts';
import { reportSchema } from '../judge/schema.ts';
import { factsSchema } from '../probe/schema.ts';

/** The document of `bundle`, for bug reports. Loaded only to publish. */
export const bundleSchema = z.object({
  ...headSchema('bundle'),
  node: z.string().describe('Version of Node.js, with its v'),
  platform: z.string(),
  environment: z.array(z.string()).describe('Names of variables that matter here; never their values'),
  facts: factsSchema,
  report: reportSchema.omit({ durationMs: true }),
});
