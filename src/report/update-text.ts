import type { UpdateDocument } from '../lifecycle/update/schema.ts';
import type { UpdateState } from '../lifecycle/update/state.ts';
import { severityMarks } from './human-finding.ts';
import { sentence } from './messages.ts';
import { shellLine } from './shell-line.ts';
import { shown } from './shown.ts';

type Planned = Pick<UpdateState, 'install' | 'home' | 'processes' | 'edits' | 'notTaken'> & {
  toTakeOut: string[];
};

/** What an update would do, for the question and for `--dry-run`. */
export function updatePlanText({ install, home, processes, edits, toTakeOut, notTaken }: Planned): string {
  const lines = [`Update of ${shown(install)} with ${shown(home)}`];
  if (processes.length === 0) lines.push('No running process would be ended.');
  else lines.push('When it is done, the updater ends these processes, whatever they belong to:');
  for (const { pid, user, owner, install: of, command, launched } of processes) {
    lines.push(
      `  ${pid}  ${shown(user)}, ${shown(owner)}, ${shown(of ?? 'no known install')}: ${shown(command)}`,
    );
    if (launched) lines.push('        launch started it: it is started again');
  }
  if (toTakeOut.length > 0)
    lines.push(`Taken out first, and put back where still needed: ${toTakeOut.join(', ')}`);
  if (notTaken !== null) lines.push(`Our edits stay in the tree: ${shown(notTaken)}`);
  if (edits.length > 0)
    lines.push(
      `Your own edits, which fit the new version as far as it is known: ${edits
        .slice(0, 6)
        .map(({ path }) => shown(path))
        .join(', ')}${edits.length > 6 ? ' …' : ''}`,
    );
  return `${lines.join('\n')}\n`;
}

/** How an update ended, for people. */
export function updateText(document: UpdateDocument): string {
  const { outcome, before, after, updater, patches, edits, parked, dashboards, restart, processes } =
    document;
  const lines: string[] = [];
  switch (outcome) {
    case 'dry-run':
      return updatePlanText({
        ...document,
        edits: document.edits.map(({ path }) => ({ path, kind: 'changed', sha256: null })),
        notTaken: null,
      });
    case 'prepared':
      lines.push(
        'Our source edits are out: the tree is as upstream left it. Now update, then: hermes-compat post-update',
      );
      break;
    case 'already-current':
      lines.push(`Already current: ${word(after ?? before)}`);
      break;
    case 'updated':
      lines.push(`Updated: ${word(before)} → ${word(after ?? before)}`);
      break;
    case 'update-failed':
      lines.push(
        `The engine's own update failed (exit ${updater?.exitCode ?? 'unknown'}); the engine is ${word(after ?? before)}. Its words: ${shown(updater?.log ?? '')}`,
      );
      break;
    default:
      outcome satisfies never;
  }
  if (updater?.receipt != null)
    lines.push(
      `Its receipt says: ${shown(updater.receipt.outcome)}${updater.receipt.localChanges === null ? '' : `, local changes ${shown(updater.receipt.localChanges)}`}`,
    );
  for (const each of patches)
    lines.push(`${each.patch} (${each.carrier}): ${each.outcome}, ${shown(each.reason)}`);
  for (const each of edits)
    if (each.outcome !== 'kept')
      lines.push(
        `Your edit of ${shown(each.path)}: ${each.outcome}${each.why === null ? '' : `, ${shown(each.why)}`}`,
      );
  for (const each of parked) lines.push(`Parked in a stash: ${shown(each)}`);
  for (const each of dashboards)
    lines.push(
      each.outcome === 'failed'
        ? `The dashboard on port ${each.port} did not start: ${shown(each.why ?? '')}`
        : `The dashboard on port ${each.port} runs${each.outcome === 'started' ? ' again' : ''}: ${each.url ?? ''} (pid ${each.pid ?? ''})`,
    );
  for (const { pid, command, launched, ended, restart: by } of processes)
    if (ended === true && !launched)
      lines.push(
        `The updater ended process ${pid}. To start it again: ${by.length === 0 ? shown(command) : by.map(shellLine).join(' && ')}`,
      );
  for (const each of restart)
    lines.push(
      `Process ${each.pid} (${shown(each.owner)}) still runs the old code. To restart it:`,
      ...each.commands.map((words) => `  ${shellLine(words)}`),
    );
  if (document.verdict !== null) lines.push(`Verdict: ${document.verdict}`);
  for (const finding of document.report?.findings ?? [])
    if (finding.severity !== 'info')
      lines.push(`  ${severityMarks[finding.severity][1]} ${finding.code}: ${shown(sentence(finding), 200)}`);
  return `${lines.join('\n')}\n`;
}

const word = ({ version, head }: UpdateDocument['before']): string =>
  `${version ?? 'unknown version'}${head === null ? '' : ` at ${head.slice(0, 10)}`}`;
