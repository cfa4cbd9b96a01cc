import { usageError } from '../../errors.ts';
import { shellHost } from './host.ts';
import { libraryTransport } from './library.ts';
import { resolveRoute } from './settings.ts';
import { openShells } from './shells.ts';
import type { SshHost, SshNote, SshOptions } from './types.ts';

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
  const route = await resolveRoute(options);
  notes.push(...route.notes);
  const transport = await libraryTransport(route, options.local, {
    acceptNewHostKey: options.acceptNewHostKey === true,
    questions: options.questions ?? {},
    timeoutMs,
    signal: options.signal,
  });
  options.onReady?.();
  try {
    return shellHost(transport, await openShells(transport, { become, timeoutMs }, notes), notes);
  } catch (error) {
    await transport.close();
    throw error;
  }
}
