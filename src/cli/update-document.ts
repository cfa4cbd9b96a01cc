import { leftAlone } from '../lifecycle/restart.ts';
import type { UpdateResult } from '../lifecycle/update/result.ts';
import type { UpdateDocument } from '../lifecycle/update/schema.ts';
import type { NotedProcess, UpdateState } from '../lifecycle/update/state.ts';
import { addressOf } from '../target/address.ts';
import type { Target } from '../target/types.ts';
import { documentHead } from '../tool.ts';
import type { ExitCode } from './exit-codes.ts';

type Action = UpdateDocument['action'];

const head = (target: Target, action: Action) => ({
  ...documentHead('update'),
  target: { kind: target.kind, name: target.name, url: null },
  action,
});

const withStart = (process: NotedProcess) => ({ ...process, startAgain: process.startAgain ?? null });

/** What would happen. */
export function dryRun(state: UpdateState, target: Target, action: Action): UpdateDocument {
  return {
    ...head(target, action),
    outcome: 'dry-run',
    continuedFrom: null,
    install: state.install,
    home: state.home,
    before: state.before,
    after: null,
    processes: state.processes.map((each) => ({ ...withStart(each), ended: null })),
    toTakeOut: state.taken.map(({ patch }) => patch),
    edits: state.edits.map(({ path, kind }) => ({ path, outcome: 'noted', why: kind })),
    branchChange: state.branchChange ?? null,
    updater: null,
    parked: [],
    patches: [],
    dashboards: [],
    restart: [],
    verdict: null,
    report: null,
    findings: [],
    exitCode: 0,
  };
}

/** How it ended. */
export function documentOf(result: UpdateResult, target: Target, action: Action): UpdateDocument {
  const { state, after, report, settled } = result;
  const failed = action === 'update' && state.exitCode !== 0;
  const same = after !== null && after.head === state.before.head && after.version === state.before.version;
  const outcome =
    action === 'pre-update' ? 'prepared' : failed ? 'update-failed' : same ? 'already-current' : 'updated';
  return {
    ...head(target, action),
    outcome,
    continuedFrom: result.continuedFrom,
    install: state.install,
    home: state.home,
    before: state.before,
    after,
    processes: state.processes.map((each) => ({
      ...withStart(each),
      ended: result.ended.includes(each.pid),
    })),
    toTakeOut: state.taken.map(({ patch }) => patch),
    edits: result.edits,
    branchChange: state.branchChange ?? null,
    updater:
      action === 'update'
        ? {
            command: result.command,
            exitCode: state.exitCode,
            receipt: result.receipt,
            log: result.log,
          }
        : null,
    parked: result.parked,
    patches: settled.patches,
    dashboards: result.dashboards,
    restart: result.restart.map((running) =>
      leftAlone(running, { kind: target.kind, name: addressOf(target) }, 'it is not ours to end'),
    ),
    verdict: report?.verdict ?? null,
    report,
    findings: report?.findings.filter(({ severity }) => severity !== 'info').map(({ code }) => code) ?? [],
    exitCode: exitCodeOf(result, failed),
  };
}

/** A failed update with ours in its place again is 5; an edit of the user that is not back is 6. */
function exitCodeOf({ report, settled, edits, dashboards }: UpdateResult, failed: boolean): ExitCode {
  if (edits.some(({ outcome }) => outcome === 'parked' || outcome === 'other')) return 6;
  if (failed) return 5;
  if (settled.patches.some(({ outcome }) => outcome === 'refused')) return 4;
  if (dashboards.some(({ outcome }) => outcome === 'failed')) return 1;
  return (report?.exitCode ?? 0) as ExitCode;
}
