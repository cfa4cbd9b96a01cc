import type { HookRunDocument, HooksDocument } from '../lifecycle/hook-schema.ts';
import { shellLine } from './shell-line.ts';
import { paragraph, shown } from './shown.ts';

/** `hook install`, `status` and `remove` for people. */
export function hooksText({ home, hooks, done }: HooksDocument): string {
  const lines = [`Hooks for ${shown(home)}`];
  for (const { id, state, possible, problem, does, limits } of hooks) {
    const here = possible ? words[state] : `${impossible[state]}: ${shown(problem ?? '')}`;
    lines.push(...paragraph(`${id.padEnd(15)} ${here}`, 2, 18));
    if (state !== 'not-installed') lines.push(...paragraph(`${does}; ${limits}`, 18, 18));
  }
  for (const each of done) lines.push(...paragraph(shown(each)));
  return `${lines.join('\n')}\n`;
}

const words: Record<HooksDocument['hooks'][number]['state'], string> = {
  installed: 'installed',
  changed: 'written over by somebody else',
  gone: 'was installed and is gone: hermes-compat hook install puts it back',
  'not-installed': 'not installed',
};

const impossible: typeof words = {
  ...words,
  gone: 'was installed and is not in effect any more',
  'not-installed': 'not here',
};

/** Files as `--dry-run` shows them. */
export const hookFilesText = ({ hooks }: HooksDocument): string =>
  hooks
    .flatMap(({ id, files, problem }) => [
      `# ${id}${problem === null ? '' : ` (not here: ${shown(problem)})`}\n`,
      ...files.map(({ path, text }) => `# would write ${shown(path)}\n${text ?? ''}\n`),
    ])
    .join('');

/** `hook run` for people; empty when nothing is to be told. */
export function hookRunText({ outcome, changed, patches, restart, message }: HookRunDocument): string {
  const lines: string[] = [];
  if (message !== null) lines.push(...paragraph(shown(message)));
  switch (outcome) {
    case 'nothing-recorded':
      lines.push('Nothing is recorded here: there is nothing to bring back.');
      break;
    case 'unchanged':
      lines.push('Unchanged since the last look.');
      break;
    case 'busy':
      lines.push('Another run is working on it.');
      break;
    case 'updating':
      lines.push('An engine update is still running; nothing was done.');
      break;
    case 'failed':
      break;
    case 'checked':
      if (changed.length > 0)
        lines.push(
          ...paragraph(
            `Changed: ${changed
              .slice(0, 8)
              .map((each) => shown(each))
              .join(', ')}`,
          ),
        );
      for (const each of patches)
        lines.push(...paragraph(`${each.patch} (${each.carrier}): ${each.outcome}, ${shown(each.reason)}`));
      for (const each of restart)
        lines.push(
          ...paragraph(`Process ${each.pid} (${shown(each.owner)}) is older than this. To restart it:`),
          ...each.commands.map((words) => `  ${shellLine(words)}`),
        );
      break;
    default:
      outcome satisfies never;
  }
  return `${lines.join('\n')}\n`;
}
