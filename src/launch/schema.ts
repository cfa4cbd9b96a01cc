import { z } from 'zod';
import { headSchema, targetSchema } from '../document-schema.ts';

/** What `launch` and `stop` print. Loaded only to publish; code uses the types. */

const head = <K extends string>(kind: K) => ({
  ...headSchema(kind),
  target: targetSchema,
  exitCode: z.number(),
});

export const launchSchema = z.object({
  ...head('launch'),
  outcome: z.enum(['started', 'failed', 'printed']),
  install: z.string(),
  version: z.string().nullable(),
  home: z.string(),
  url: z.string().nullable().describe('As its own machine reaches it'),
  pid: z.number().nullable(),
  port: z.number().nullable(),
  tokenFile: z
    .string()
    .nullable()
    .describe('File with the session token, mode 0600; the token itself is nowhere here'),
  log: z.string().nullable(),
  ws: z.enum(['open', 'unknown']).nullable().describe('open: 101 and a JSON-RPC answer with this token'),
  why: z.enum(['gated', 'token-in-env-file']).nullable().describe('Why ws is unknown'),
  seconds: z.number().nullable().describe('From its start to its first answer'),
  shell: z.array(z.string()).describe('--print: lines for a POSIX shell'),
  finding: z
    .object({
      code: z.string(),
      args: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
      evidence: z.array(z.string()).describe('Last lines of the engine'),
    })
    .nullable(),
});

export const stopSchema = z.object({
  ...head('stop'),
  stopped: z.array(
    z.object({
      pid: z.number(),
      port: z.number(),
      install: z.string(),
      outcome: z
        .enum(['stopped', 'killed', 'gone', 'denied', 'alive'])
        .describe('gone: it had ended by itself, or its pid is another process now; nothing was signalled'),
      log: z.string().nullable().describe('Kept when it had ended by itself'),
    }),
  ),
});

export type LaunchDocument = z.infer<typeof launchSchema>;
export type StopDocument = z.infer<typeof stopSchema>;
