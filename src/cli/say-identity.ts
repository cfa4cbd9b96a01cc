import type { Home, Install } from '../engine/schema.ts';
import type { Host } from '../host/types.ts';
import { shown } from '../report/shown.ts';
import { type Io, write } from './io.ts';

/**
 * Over ssh: as whom, on which machine and where the next step writes. On stderr before the first write, also with --yes and
 * --quiet. Nothing for this machine.
 */
export async function sayIdentity(
  io: Io,
  host: Host,
  { home, install }: { home: Pick<Home, 'path'> | null; install: Pick<Install, 'root' | 'version'> | null },
): Promise<void> {
  if (host.kind === 'local') return;
  const { user, hostname } = await host.identity();
  const where = home === null ? 'no HERMES_HOME' : `HERMES_HOME ${home.path}`;
  const what =
    install === null ? 'no install' : `install ${install.root} (${install.version ?? 'unknown version'})`;
  await write(
    io.stderr,
    `hermes-compat: ${shown(`${host.name}: ${user} on ${hostname}, ${where}, ${what}`, 2000)}\n`,
  );
}
