import type { Located } from '../engine/locate.ts';
import { CompatError } from '../errors.ts';
import type { Whoami } from '../host/holder.ts';
import type { Host } from '../host/types.ts';
import { loadCatalogue } from '../patch/catalogue.ts';
import type { Session } from '../patch/change.ts';
import { verifyDashboard } from '../patch/verify.ts';
import type { Target } from '../target/types.ts';

/** What patches of one target run with. */
export async function patchSession(
  host: Host,
  target: Target,
  located: Located,
  who: Whoami,
  signal: AbortSignal | null,
): Promise<Session> {
  const { home, chosen } = located.host;
  if (home === null) {
    throw new CompatError('unchecked', 'no HERMES_HOME was found there', { finding: 'INSTALL_NOT_FOUND' });
  }
  if (located.host.partial && chosen?.install == null) {
    throw new CompatError(
      'unchecked',
      `${located.host.name} was not looked at to the end (${located.host.notes.map(({ text }) => text).join('; ')}), so it is not known what to change`,
    );
  }
  const install = located.installs.find(({ id }) => id === chosen?.install) ?? null;
  return {
    host,
    scene: { target: { kind: target.kind, name: target.name, url: null }, home, install },
    catalogue: await loadCatalogue(),
    who,
    signal,
    now: () => new Date().toISOString(),
    verify: verifyDashboard,
  };
}
