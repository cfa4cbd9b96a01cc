import type { UpdateDocument } from '../lifecycle/update/schema.ts';
import type { UpdateState } from '../lifecycle/update/state.ts';
import { severityMarks } from './human-finding.ts';
import { sentence } from './messages.ts';
import { shellLine } from './shell-line.ts';
import { paragraph, shown } from './shown.ts';

type Planned = Pick<UpdateState, 'install' | 'home' | 'processes' | 'edits' | 'branchChange' | 'notTaken'> & {
  toTakeOut: string[];
};

/** What an update would do, for the question and for `--dry-run`. */
export function updatePlanText(planned: Planned): string {
  const { install, home, processes, edits, branchChange = null, toTakeOut, notTaken } = planned;
  const lines = [...paragraph(`Update of ${shown(install)} with ${shown(home)}`)];
  if (processes.length === 0) lines.push('No running process would be ended.');
  else
    lines.push(...paragraph('When it is done, the updater ends these processes, whatever they belong to:'));
  for (const { pid, user, owner, install: of, command, launched } of processes) {
    const whose = `${shown(user)}, ${shown(owner)}, ${shown(of ?? 'no known install')}`;
    lines.push(...paragraph(`${pid}  ${whose}: ${shown(command)}`, 2, 8));
    if (launched) lines.push('        launch started it: it is started again');
  }
  if (toTakeOut.length > 0)
    lines.push(...paragraph(`Taken out first, and put back where still needed: ${toTakeOut.join(', ')}`));
  if (notTaken !== null) lines.push(...paragraph(`Our edits stay in the tree: ${shown(notTaken)}`));
  if (branchChange !== null) lines.push(...paragraph(branchWords(branchChange)));
  if (edits.length > 0) {
    const some = edits.slice(0, 6).map(({ path }) => shown(path));
    lines.push(
      ...paragraph(
        `Your own edits, which fit the new version as far as it is known: ${some.join(', ')}${edits.length > 6 ? ' …' : ''}`,
      ),
    );
  }
  return `${lines.join('\n')}\n`;
}

const branchWords = ({ from, to }: { from: string; to: string }): string =>
  `The checkout is on the branch ${shown(from)}: the engine's updater changes to ${shown(to)} and updates that`;

/** How an update ended, for people. */
export function updateText(document: UpdateDocument): string {
  if (document.outcome === 'dry-run') {
    const edits = document.edits.map(({ path }) => ({ path, kind: 'changed' as const, sha256: null }));
    return updatePlanText({ ...document, edits, notTaken: null });
  }
  const lines = [
    ...paragraph(headline(document.outcome, document)),
    ...verdictLines(document),
    ...receiptLines(document),
    ...editLines(document),
    ...processLines(document),
  ];
  return `${lines.join('\n')}\n`;
}

function headline(
  outcome: Exclude<UpdateDocument['outcome'], 'dry-run'>,
  { before, after, updater }: UpdateDocument,
): string {
  const now = word(after ?? before);
  switch (outcome) {
    case 'prepared':
      return 'Our source edits are out: the tree is as upstream left it. Now update, then: hermes-compat post-update';
    case 'already-current':
      return `Already current: ${now}`;
    case 'updated':
      return `Updated: ${word(before)} → ${now}`;
    case 'update-failed':
      return `The engine's own update failed (exit ${updater?.exitCode ?? 'unknown'}); the engine is ${now}. Its words: ${shown(updater?.log ?? '')}`;
    default:
      return outcome satisfies never;
  }
}

function receiptLines({ updater }: UpdateDocument): string[] {
  const receipt = updater?.receipt ?? null;
  if (receipt === null) return [];
  const changes = receipt.localChanges === null ? '' : `, local changes ${shown(receipt.localChanges)}`;
  return paragraph(`Its receipt says: ${shown(receipt.outcome)}${changes}`);
}

/** What became of our edits and of the user's own. */
const editLines = ({ patches, edits, parked }: UpdateDocument): string[] =>
  [
    ...patches.map((each) => `${each.patch} (${each.carrier}): ${each.outcome}, ${shown(each.reason)}`),
    ...edits
      .filter(({ outcome }) => outcome !== 'kept')
      .map(
        ({ path, outcome, why }) =>
          `Your edit of ${shown(path)}: ${outcome}${why === null ? '' : `, ${shown(why)}`}`,
      ),
    ...parked.map((each) => `Parked in a stash: ${shown(each)}`),
  ].flatMap((line) => paragraph(line));

/** What runs, what was ended, and what still runs the old code. */
const processLines = ({ dashboards, processes, restart }: UpdateDocument): string[] => [
  ...dashboards.flatMap(({ outcome, port, why, url, pid }) =>
    paragraph(
      outcome === 'failed'
        ? `The dashboard on port ${port} did not start: ${shown(why ?? '')}`
        : `The dashboard on port ${port} runs${outcome === 'started' ? ' again' : ''}: ${url ?? ''} (pid ${pid ?? ''})`,
    ),
  ),
  ...processes.filter(({ ended, launched }) => ended === true && !launched).flatMap(endedLines),
  ...restart.flatMap(({ pid, owner, commands }) => [
    ...paragraph(`Process ${pid} (${shown(owner)}) still runs the old code. To restart it:`),
    ...commands.map((words) => `  ${shellLine(words)}`),
  ]),
];

/** A text of `ps` cannot be typed: it is shown, and called no command. */
function endedLines({
  pid,
  command,
  restart: by,
  startAgain,
}: UpdateDocument['processes'][number]): string[] {
  const commands = by.length > 0 || startAgain === null ? by : [startAgain];
  if (commands.length === 0) return paragraph(`The updater ended process ${pid}: ${shown(command)}`);
  return [
    `The updater ended process ${pid}. To start it again:`,
    ...commands.map((words) => `  ${shellLine(words)}`),
  ];
}

const verdictLines = ({ verdict, report }: UpdateDocument): string[] => [
  ...(verdict === null ? [] : [`Verdict: ${verdict}`]),
  ...(report?.findings ?? [])
    .filter(({ severity }) => severity !== 'info')
    .flatMap((finding) =>
      paragraph(
        `${severityMarks[finding.severity][1]} ${finding.code}: ${shown(sentence(finding), 400)}`,
        2,
        4,
      ),
    ),
];

const word = ({ version, head }: UpdateDocument['before']): string =>
  `${version ?? 'unknown version'}${head === null ? '' : ` at ${head.slice(0, 10)}`}`;
