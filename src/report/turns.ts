import type { RecordingDocument, TurnsDocument } from '../live/schema.ts';
import { advice, sentence } from './messages.ts';
import { paragraph, shown } from './shown.ts';

const marks = { pass: '✓', fail: '✗', error: '?', skip: '-' } as const;

/** Text of `turn`: one line a scenario, below it what was expected where it came out otherwise. */
export function turnsText(document: TurnsDocument): string {
  const { scenarios, findings, notes, target, engine } = document;
  const where = target.url ?? target.name;
  const way = document.transport === 'legacy' ? ' (API server)' : '';
  const lines = [
    `Turns over ${where}${way}${engine.version === null ? '' : `, Hermes ${engine.version}`}`,
    '',
  ];
  for (const { id, status, got, expected, why, ms } of scenarios) {
    const took = status === 'skip' ? '' : `  (${(ms / 1000).toFixed(1)} s)`;
    lines.push(...paragraph(`${marks[status]} ${id.padEnd(19)}${shown(got ?? why ?? '')}${took}`, 0, 21));
    if (status === 'fail' || status === 'error') lines.push(...paragraph(`expected: ${expected}`, 21, 21));
    if (got !== null && why !== null) lines.push(...paragraph(shown(why), 21, 21));
  }
  for (const finding of findings)
    lines.push(
      '',
      ...paragraph(`${String(finding.args['scenario'])}: ${shown(sentence(finding))}`),
      ...paragraph(`${shown(advice(finding))} (${finding.code})`, 2, 2),
    );
  if (notes.length > 0) lines.push('', ...notes.flatMap((note) => paragraph(`note: ${shown(note)}`)));
  const count = (status: keyof typeof marks): number =>
    scenarios.filter((scenario) => scenario.status === status).length;
  const rest = [
    count('fail') > 0 ? `${count('fail')} not` : '',
    count('error') > 0 ? `${count('error')} without an end` : '',
    count('skip') > 0 ? `${count('skip')} not over this transport` : '',
  ];
  lines.push(
    '',
    [`${count('pass')} of ${scenarios.length} as expected`, ...rest.filter((part) => part !== '')].join(', '),
  );
  return `${lines.join('\n')}\n`;
}

export function recordingText({ file, frames, turns, session, removed }: RecordingDocument): string {
  const kept =
    session === null
      ? ''
      : removed
        ? ' The session that was made for it is deleted.'
        : ` The session is ${session}.`;
  return [
    ...paragraph(`${frames} frames of ${turns} turn${turns === 1 ? '' : 's'} in ${file}.${kept}`, 0, 0),
    'System prompt and credentials are left out; the text of the chat is in it:',
    'read it before you pass it on.',
    `See it: hermes-compat replay ${file} --verbose`,
    '',
  ].join('\n');
}
