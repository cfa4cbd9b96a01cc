import type { Reading } from '../reading.ts';
import type { Remedy } from '../schema.ts';
import { compat } from './commands.ts';

/** Headers that let a program pass what stands in front; the same go with the WebSocket. The values are the person's. */
export const headerFile = (reading: Reading, lines: readonly string[]): Remedy => ({
  id: 'header-file',
  carrier: 'config',
  where: 'here',
  commands: [compat(reading, 'doctor', ['--header-file', 'FILE'])],
  lines: ['# in FILE, which only you can read:', ...lines],
  restart: 'none',
  reversible: true,
});

/** HTTP Basic (RFC 7617). */
export const basicAuthLines: readonly string[] = [
  '# BASE64 is what `printf %s USER:PASSWORD | base64` prints',
  'Authorization: Basic BASE64',
];

/** What an access gateway takes from a service: Cloudflare's are known, others name their own. */
export const gatewayLines = (isCloudflare: boolean): readonly string[] =>
  isCloudflare
    ? ['CF-Access-Client-Id: ID', 'CF-Access-Client-Secret: SECRET']
    : ['# the header that this login takes from a service', 'NAME: VALUE'];
