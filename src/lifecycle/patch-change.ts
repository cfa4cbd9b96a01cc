import type { Located } from '../engine/locate.ts';
import type { EngineProcess } from '../engine/schema.ts';
import { change, planNow, type Session } from '../patch/change.ts';
import type { Plan } from '../patch/plan.ts';
import type { ChangeDocument, PlanDocument, PlanOptions } from '../patch/schema.ts';
import { documentHead } from '../tool.ts';
import { type RestartWish, restartAll } from './restart.ts';

export interface ChangeRequest {
  options: PlanOptions;
  saved: PlanDocument | null;
  dryRun: boolean;
  purge: boolean;
  restart: RestartWish;
  /** Shows the plan and asks. */
  consent(plan: Plan): Promise<boolean>;
}

/** Plan, consent, change, restart, as one document. @throws CompatError as `change` and `restartAll` do */
export async function changeTarget(
  session: Session,
  located: Located,
  request: ChangeRequest,
): Promise<ChangeDocument> {
  const { options, saved, consent } = request;
  const base = {
    ...documentHead('change'),
    target: session.scene.target,
    action: options.do,
    verified: [],
    restart: [],
    recovered: null,
    purged: [],
  };
  if (request.dryRun)
    return { ...base, outcome: 'dry-run', plan: (await planNow(session, options)).plan.document };
  const { plan, changed, verified, recovered } = await change(session, { options, saved, consent });
  const purged = request.purge ? await (await import('../patch/purge.ts')).purge(session) : [];
  const applied = options.do === 'apply' ? plan.document.steps.map(({ patch }) => patch) : [];
  const old = changed ? outdated(plan.document, session, located.processes) : [];
  return {
    ...base,
    outcome: changed ? 'done' : 'nothing-to-do',
    plan: plan.document,
    verified,
    restart: await restartAll(session.host, session.scene, old, request.restart, applied),
    recovered: recovered === null ? null : { at: recovered.journal.at, outcome: recovered.outcome },
    purged,
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
