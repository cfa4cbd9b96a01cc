import { CompatError } from '../../errors.ts';
import { firstLine, interrupted, sshError } from './failures.ts';

/** What the ssh program prints, and what it means. It ends with 255 for all of them. */
const meanings: readonly [RegExp, string][] = [
  [/REMOTE HOST IDENTIFICATION HAS CHANGED|Offending .* key/, 'SSH_HOSTKEY_CHANGED'],
  [/REVOKED HOST KEY|is marked as revoked|is revoked/i, 'SSH_HOSTKEY_REVOKED'],
  [/host key is known for|Host key verification failed|authenticity of host/i, 'SSH_HOSTKEY_UNKNOWN'],
  [/no matching .* found/i, 'SSH_KEX_MISMATCH'],
  [/Permission denied|Too many authentication failures|no authentication methods/i, 'SSH_AUTH_FAILED'],
  [/Bad configuration option|terminating, \d+ bad|Bad owner or permissions|ControlPath too long/i, 'usage'],
];

/** The finding for what the ssh program left in its log. */
export function systemFailure(name: string, log: string, signal: AbortSignal | undefined): CompatError {
  if (signal?.aborted === true) return interrupted(name);
  const [, finding = 'SSH_UNREACHABLE'] = meanings.find(([pattern]) => pattern.test(log)) ?? [];
  const lines = log.split('\n').filter((line) => line.trim() !== '' && !/^[@\s]+$/.test(line));
  const said = firstLine(
    lines.findLast((line) => meanings.some(([pattern]) => pattern.test(line))) ?? lines.at(-1) ?? '',
  );
  const message = `${name}: ssh says: ${said === '' ? 'nothing' : said}`;
  if (finding === 'usage') return new CompatError('usage', message);
  const offered = /Permission denied \(([^)]*)\)/.exec(log)?.[1]?.replaceAll(',', ', ') ?? '';
  return sshError(finding, message, {
    host: name,
    error: said,
    ...(finding === 'SSH_AUTH_FAILED' ? { offered } : {}),
  });
}
