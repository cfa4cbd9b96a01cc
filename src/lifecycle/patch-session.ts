import type { Located } from '../engine/locate.ts';
import type { EngineProcess } from '../engine/schema.ts';
import { CompatError } from '../errors.ts';
import type { Whoami } from '../host/holder.ts';
import type { Host } from '../host/types.ts';
import { loadCatalogue } from '../patch/catalogue.ts';
import type { Session } from '../patch/change.ts';
import type { ChangeDocument, PlanDocument } from '../patch/schema.ts';
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

/** Dashboards that loaded what a change replaced: of the same home for the overlay, of the same install for the source. */
export function outdated(
  plan: PlanDocument,
  session: Session,
  processes: readonly EngineProcess[],
): EngineProcess[] {
  const { home, install } = session.scene;
  const homes = new Set([home.path, home.root]);
  const carriers = new Set(plan.steps.map(({ carrier }) => carrier));
  return processes.filter(({ command, hermesHome, install: runs }) => {
    if (command !== 'dashboard' && command !== 'serve') return false;
    const ofHome =
      carriers.has('overlay') && (hermesHome === null ? runs === install?.id : homes.has(hermesHome));
    return ofHome || (carriers.has('source') && install !== null && runs === install.id);
  });
}

export const restartEntry = (
  process: EngineProcess,
  restarted: boolean,
): ChangeDocument['restart'][number] => ({
  pid: process.pid,
  command: process.command,
  port: process.port,
  owner: process.owner.name === null ? process.owner.kind : `${process.owner.kind} ${process.owner.name}`,
  restarted,
});
