import { usageError } from '../errors.ts';
import type { ExamineInput } from '../lifecycle/examine.ts';
import type { ApiServer } from '../live/legacy-chat.ts';
import type { Way } from '../live/way.ts';
import { parseBaseUrl } from '../target/parse.ts';
import type { Target } from '../target/types.ts';
import type { Io } from './io.ts';
import { type RawOptions, readSecretOption } from './request.ts';

/** The API server of a gateway that answers and takes the key. */
export interface LegacyTarget {
  way: Way;
  server: ApiServer;
  close(): Promise<void>;
}

/** Where the API server is: `--api-server`, else the URL that is the target itself; null where nothing names one. */
export function apiServerUrl(target: Target, options: RawOptions): string | null {
  const named = options['apiServer'];
  const url = typeof named === 'string' ? parseBaseUrl(named) : target.kind === 'http' ? target.url : null;
  return url === null ? null : url.replace(/\/v1$/, '');
}

/** @throws CompatError usage where nothing names an API server; unchecked where it does not answer or refuses the key */
export async function openLegacyTarget(
  target: Target,
  options: RawOptions,
  io: Io,
  input: ExamineInput,
): Promise<LegacyTarget> {
  const url = apiServerUrl(target, options);
  if (url === null)
    throw usageError(
      'legacy mode goes to the API server of the gateway: name it with --api-server URL (as seen from the target host)',
    );
  const { findApiServer } = await import('../live/legacy-chat.ts');
  const key = await readKey(options, io, input);
  const host = target.kind === 'ssh' ? await input.openHost(target) : null;
  const close = async (): Promise<void> => host?.close();
  const way: Way = {
    url,
    used: key === null ? { kind: 'none' } : { kind: 'bearer', token: key },
    origin: null,
    connection: { ...input.connection, ...(host === null ? {} : { connect: host.connect }) },
  };
  try {
    return { way, server: await findApiServer(way), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The key of the API server is another secret than the dashboard's token, unless the target is the API server itself. */
async function readKey(options: RawOptions, io: Io, input: ExamineInput): Promise<string | null> {
  const given = await readSecretOption(options, io, 'apiKeyEnv', 'apiKeyFile', 'the key of the API server');
  if (given !== null) return given;
  const named = io.env['HERMES_COMPAT_API_KEY'];
  if (named !== undefined && named !== '') return named;
  const { credential } = input;
  return options['apiServer'] === undefined && credential?.kind === 'token' ? credential.secret : null;
}
