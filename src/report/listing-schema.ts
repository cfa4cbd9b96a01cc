import { z } from 'zod';
import { headSchema } from '../document-schema.ts';
import { capabilityIds } from '../judge/capability-ids.ts';
import { findingSchema } from '../judge/schema.ts';

/** What `explain`, `contract` and `doctor --list-checks` print as JSON: what the program knows, not what it saw. Loaded only to publish. */

const meaning = {
  code: z.string(),
  severity: findingSchema.shape.severity,
  verdict: z
    .enum(['incompatible', 'needs-remedy', 'unknown'])
    .nullable()
    .describe('Verdict that an error of this code leads to; null where it changes none'),
  retryable: z.boolean().describe('Trying again can help without a change by a person'),
  says: z.string(),
  means: z.string(),
  seen: z.string(),
  todo: z.string(),
};

export const explanationSchema = z.object({ ...headSchema('explanation'), ...meaning });

export const codesSchema = z.object({ ...headSchema('codes'), codes: z.array(z.object(meaning)) });

export const checksSchema = z.object({
  ...headSchema('checks'),
  checks: z.array(z.object({ id: z.string(), summary: z.string() })),
});

/** A file of `clients/`. */
export const clientSchema = z.object({
  name: z.string(),
  title: z.string(),
  requires: z.array(z.enum(capabilityIds)),
  contract: z
    .object({
      wanted: z.number().describe('The lowest contract that the client is happy with'),
      known: z.number().describe('The highest that it was written for'),
      required: z.boolean().describe('Below `wanted` it refuses to work instead of warning'),
    })
    .nullable(),
  source: z.string().describe('Where this was read'),
  date: z.string(),
});

export const clientsSchema = z.object({ ...headSchema('clients'), clients: z.array(clientSchema) });
