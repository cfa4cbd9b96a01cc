import { z } from 'zod';

/** The file that `preflight` reads. Loaded only to parse or publish. */

const credentialKeys = {
  tokenEnv: z.string().min(1).optional().describe('Environment variable that holds the token'),
  tokenFile: z.string().min(1).optional().describe('File that holds the token; relative to this file'),
  username: z.string().min(1).max(200).optional(),
  passwordEnv: z.string().min(1).optional(),
  passwordFile: z.string().min(1).optional(),
};

const sharedKeys = {
  mode: z.enum(['auto', 'dashboard', 'legacy']).optional(),
  ...credentialKeys,
  require: z
    .array(z.string().min(1).max(80))
    .max(50)
    .optional()
    .describe('Capability ids that must be there besides what the client requires'),
  ca: z.string().min(1).optional().describe('PEM file of a certificate authority; relative to this file'),
  headerFile: z
    .string()
    .min(1)
    .optional()
    .describe('Extra request headers, one a line; relative to this file'),
  origin: z.string().min(1).max(2000).optional(),
  timeoutMs: z.number().int().min(100).max(3_600_000).optional().describe('Limit of this target as a whole'),
};

export const targetsFileSchema = z.strictObject({
  $schema: z.string().max(2000).optional().describe('For editors'),
  defaults: z.strictObject({ client: z.string().min(1).optional(), ...sharedKeys }).optional(),
  parallel: z.number().int().min(1).max(1000).optional().describe('How many targets at once'),
  targets: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(200),
        address: z
          .string()
          .min(1)
          .max(2000)
          .describe('local, local:/path, ssh://…, an ssh_config alias, or http(s)://…'),
        client: z.string().min(1).max(80).optional().describe('Required here or in defaults'),
        ...sharedKeys,
      }),
    )
    .min(1),
});

export type TargetsFile = z.infer<typeof targetsFileSchema>;
