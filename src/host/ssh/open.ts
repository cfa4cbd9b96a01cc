import { CompatError, usageError } from '../../errors.ts';
import { filesOnlyHost, shellHost } from './host.ts';
import { libraryTransport } from './library.ts';
import { checkName, resolveRoute } from './settings.ts';
import { openShells } from './shells.ts';
import type { SshHost, SshNote, SshOptions, Transport } from './types.ts';

const defaultTimeoutMs = 15_000;

/**
 * Opens another machine. One connection; commands and files go through one remote shell, tunnels beside it.
 *
 * @throws CompatError usage for a name that cannot be one, else unchecked with a code of the SSH section of CODES.md
 */
export async function openSshHost(options: SshOptions): Promise<SshHost> {
  const { become = null, timeoutMs = defaultTimeoutMs } = options;
  if (become !== null && !/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/.test(become))
    throw usageError('--become needs an account name (letters, digits, dots, dashes)');
  const notes: SshNote[] = [];
  const transport = await (options.systemSsh === true ? bySystem : byLibrary)(options, timeoutMs, notes);
  options.onReady?.();
  try {
    return shellHost(transport, await openShells(transport, { become, timeoutMs }, notes), notes);
  } catch (error) {
    const files = become === null && isUnusable(error) ? await transport.files() : null;
    if (files !== null) return filesOnlyHost(transport, files, error as CompatError, notes);
    await transport.close();
    throw error;
  }
}

const isUnusable = (error: unknown): boolean =>
  error instanceof CompatError && error.details.finding === 'SSH_SHELL_UNUSABLE';

async function bySystem(options: SshOptions, timeoutMs: number): Promise<Transport> {
  checkName({ host: options.address, user: options.user ?? null, port: options.port ?? null });
  const { systemTransport } = await import('./system.ts');
  return systemTransport(options, timeoutMs);
}

async function byLibrary(options: SshOptions, timeoutMs: number, notes: SshNote[]): Promise<Transport> {
  const route = await resolveRoute(options);
  notes.push(...route.notes);
  return libraryTransport(route, options.local, {
    acceptNewHostKey: options.acceptNewHostKey === true,
    questions: options.questions ?? {},
    timeoutMs,
    signal: options.signal,
  });
}
