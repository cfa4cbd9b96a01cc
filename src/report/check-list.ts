import { documentHead } from '../tool.ts';
import { paragraph } from './shown.ts';

interface Listed {
  id: string;
  summary: string;
}

/** The checks that `--only` and `--skip` know. */
export function checkList(checks: readonly Listed[], format: 'json' | 'text'): string {
  const listed = checks.map(({ id, summary }) => ({ id, summary }));
  if (format === 'json') return `${JSON.stringify({ ...documentHead('checks'), checks: listed }, null, 2)}\n`;
  const width = Math.max(...listed.map(({ id }) => id.length));
  const lines = listed.flatMap(({ id, summary }) =>
    paragraph(`${id.padEnd(width)}  ${summary}`, 0, width + 2),
  );
  return `${lines.join('\n')}\n`;
}
