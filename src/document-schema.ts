import { z } from 'zod';

/** Who wrote a document. */
export const toolSchema = z.object({ name: z.string(), version: z.string() });

/** The keys with which every JSON document of one kind begins, as `documentHead` makes them. */
export const headSchema = <K extends string>(
  kind: K,
): { schemaVersion: z.ZodString; kind: z.ZodLiteral<K>; tool: typeof toolSchema } => ({
  schemaVersion: z.string(),
  kind: z.literal(kind),
  tool: toolSchema,
});

/** What a document is about. */
export const targetSchema = z.object({
  kind: z.enum(['local', 'ssh', 'http']),
  name: z.string(),
  url: z.string().nullable(),
});
