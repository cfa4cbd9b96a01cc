import type {
  ChangeDocument,
  HistoryDocument,
  PatchListDocument,
  PlanDocument,
  StatusDocument,
} from '../patch/schema.ts';
import { shellLine } from './shell-line.ts';
import { paragraph, shown, wrap } from './shown.ts';
import type { Style, Tone } from './style.ts';

/** Patch documents for people. Pure: document in, text out. */

const indent = (text: string, by: string): string =>
  wrap(text, 80 - by.length)
    .map((line) => `${by}${line}`)
    .join('\n');

export function listText({ patches }: PatchListDocument, style: Style): string {
  const blocks = patches.map((patch) => {
    const { from, before } = patch.engines;
    const engines =
      from === null && before === null
        ? 'all'
        : `${from ?? 'the first'} up to, without, ${before ?? 'no end'}`;
    return [
      `${style('strong', patch.id)}  revision ${patch.revision}  ${patch.title}`,
      indent(patch.purpose, '  '),
      `  gives     ${patch.capability}`,
      `  engines   ${engines} (structure decides)`,
      `  carriers  ${patch.carriers.join(', ')}`,
      indent(`retires   ${patch.retires}`, '  '),
    ].join('\n');
  });
  return `${blocks.join('\n\n')}\n`;
}

const placeLines = (
  { target, install, home }: Pick<PlanDocument, 'target' | 'install' | 'home'>,
  style: Style,
): string[] =>
  paragraph(`${shown(target.name)}  ${shown(install ?? 'no install')}  home ${shown(home)}`).map((line) =>
    style('dim', line),
  );

/** What would be written, as `git diff` shows it. */
export function planText(plan: PlanDocument, style: Style): string {
  const lines: string[] = [];
  lines.push(...placeLines(plan, style), '');
  for (const step of plan.steps) {
    const verb = step.action === 'remove' ? 'removes' : step.beforeSha256 === null ? 'makes' : 'changes';
    lines.push(`${style('strong', step.patch)} (${step.carrier}) ${verb} ${shown(step.path)}`);
    lines.push(...diffLines(step.diff, style), '');
  }
  for (const refusal of plan.refusals) {
    const which = `${style('bad', 'refused')}  ${refusal.patch} by ${refusal.carrier}`;
    lines.push(...paragraph(`${which}: ${shown(refusal.reason)}  (${refusal.code})`));
    if (refusal.lookedFor !== null)
      lines.push(...paragraph(`looked for  ${shown(refusal.lookedFor)}`, 2, 14));
    if (refusal.found !== null) lines.push(...paragraph(`found       ${shown(refusal.found)}`, 2, 14));
    if (refusal.alternative !== null)
      lines.push(...paragraph(`instead     ${shown(refusal.alternative)}`, 2, 14));
  }
  lines.push(...noteLines(plan, style));
  const { files, refusals } = plan;
  lines.push(
    files.length === 0
      ? refusals.length === 0
        ? 'Nothing to do.'
        : 'Nothing would be written.'
      : `${files.length} ${files.length === 1 ? 'file' : 'files'} to write.`,
  );
  return `${lines.join('\n')}\n`;
}

const noteLines = ({ notes }: PlanDocument, style: Style): string[] =>
  notes.flatMap(({ patch, text }) => paragraph(`${style('dim', patch)}  ${shown(text)}`));

/** A new file of ours is long and says nothing new: its first lines are enough. */
const shownLines = 24;

function diffLines(diff: string, style: Style): string[] {
  const lines = diff
    .split('\n')
    .slice(2)
    .filter((line) => line !== '');
  const cut = lines.length > shownLines + 4 ? lines.slice(0, shownLines) : lines;
  const toned = cut.map((line) => {
    const tone = toneOf(line);
    const text = shown(line.replaceAll('\t', '    '), 200);
    return `  ${tone === null ? text : style(tone, text)}`;
  });
  return cut === lines ? toned : [...toned, style('dim', `  … ${lines.length - shownLines} more lines`)];
}

function toneOf(line: string): Tone | null {
  if (line.startsWith('@@')) return 'dim';
  if (line.startsWith('+')) return 'good';
  return line.startsWith('-') ? 'bad' : null;
}

const stateTones: Record<StatusDocument['patches'][number]['state'], Tone> = {
  applied: 'good',
  'not-needed': 'good',
  'applied-by-other': 'good',
  absent: 'warn',
  'applied-older': 'warn',
  modified: 'warn',
  blocked: 'bad',
  unknown: 'unsure',
};

export function statusText(status: StatusDocument, style: Style, verbose: boolean): string {
  const lines = [...placeLines(status, style), ''];
  for (const patch of status.patches) {
    const tone =
      patch.effective === 'no' && patch.state.startsWith('applied') ? 'warn' : stateTones[patch.state];
    const carrier = patch.carrier === null ? '' : `  by ${patch.carrier}`;
    const effect = patch.effective === 'no' && patch.carrier !== null ? '  without effect' : '';
    lines.push(`${patch.id.padEnd(16)} ${style(tone, patch.state)}${carrier}${effect}`);
    lines.push(indent(shown(patch.reason), '                 '));
    if (verbose)
      for (const file of patch.files)
        lines.push(`                 ${shown(file.path)}  ${file.sha256 ?? 'not there'}`);
  }
  if (status.findings.length > 0) lines.push('');
  for (const { code, severity, text, path } of status.findings) {
    const tone = severity === 'error' ? 'bad' : severity === 'warn' ? 'warn' : 'dim';
    lines.push(...paragraph(`${style(tone, code)}  ${shown(text)}`));
    if (path !== null) lines.push(`  ${shown(path)}`);
  }
  return `${lines.join('\n')}\n`;
}

export function changeText(change: ChangeDocument, style: Style): string {
  const lines: string[] = [];
  if (change.recovered !== null) {
    const how = change.recovered.outcome === 'finished' ? 'finished' : 'taken back';
    lines.push(`A change of ${change.recovered.at} had been cut; it was ${how} first.`);
  }
  const names = [...new Set(change.plan.steps.map(({ patch }) => patch))].join(', ');
  if (change.outcome === 'done')
    lines.push(`${style('good', change.action === 'apply' ? 'Applied' : 'Reverted')}: ${names}`);
  if (change.outcome === 'nothing-to-do') {
    lines.push(...noteLines(change.plan, style), 'Nothing to do.');
  }
  if (change.verified.length > 0)
    lines.push(
      `Checked on a throw-away dashboard: ${names} ${names.includes(',') ? 'work' : 'works'} (${change.verified.length} steps)`,
    );
  for (const each of change.restart) {
    const what = `${each.command} process ${each.pid}${each.port === null ? '' : ` on port ${each.port}`} (${each.owner})`;
    lines.push(
      ...paragraph(
        each.restarted
          ? `Restarted: ${what}, now process ${each.newPid ?? 'unknown'}${each.why === null ? '' : ` (${each.why})`}`
          : `${style('warn', 'Restart needed')}: ${what} still runs what it loaded before (${each.why ?? ''})`,
      ),
      ...each.commands.map((words) => `  ${shellLine(words)}`),
    );
  }
  for (const path of change.purged) lines.push(`${style('dim', 'removed')} ${shown(path)}`);
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

export function historyText({ entries }: HistoryDocument, style: Style): string {
  if (entries.length === 0) return 'Nothing was changed here.\n';
  const blocks = entries.map((entry) => {
    const outcome = entry.outcome === 'done' ? '' : `, ${entry.outcome}`;
    const files = entry.files.map(
      ({ path, beforeSha256, afterSha256 }) =>
        `  ${shown(path)}  ${beforeSha256?.slice(0, 12) ?? 'nothing'} → ${afterSha256?.slice(0, 12) ?? 'nothing'}`,
    );
    const why = entry.why === null ? [] : paragraph(shown(entry.why), 2, 2);
    return [
      `${style('dim', entry.at)}  ${entry.action}${outcome}  ${entry.patches.join(', ')}`,
      ...why,
      ...files,
    ].join('\n');
  });
  return `${blocks.join('\n')}\n`;
}
