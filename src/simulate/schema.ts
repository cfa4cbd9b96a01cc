import { z } from 'zod';
import { headSchema } from '../document-schema.ts';

/** What `simulate` prints. Loaded only to publish; code uses the types. */

const named = z.object({ name: z.string(), says: z.string() });

export const simulatorSchema = z.object({
  ...headSchema('simulator'),
  what: z.enum(['dashboard', 'provider']),
  release: z.string().nullable(),
  faults: z.array(z.string()),
  url: z.string(),
  port: z.number(),
  token: z
    .string()
    .nullable()
    .describe('The one made up for this run; null where a credential was given, or a login is asked for'),
  login: z
    .object({ username: z.string(), password: z.string().nullable().describe('null: the given one') })
    .nullable(),
  pid: z.number(),
});

export const simulationsSchema = z.object({
  ...headSchema('simulations'),
  releases: z.array(
    z.object({
      version: z.string(),
      releaseDate: z.string(),
      generation: z.enum(['G0', 'G1', 'G2']),
      contract: z.number().nullable(),
      source: z.enum(['package', 'fork']),
    }),
  ),
  faults: z.array(named),
  scenarios: z.array(named),
});

export type SimulatorDocument = z.infer<typeof simulatorSchema>;
export type SimulationsDocument = z.infer<typeof simulationsSchema>;
