import { documentHead } from '../tool.ts';

interface Listed {
  id: string;
  summary: string;
}

/** The checks that `--only` and `--skip` know. */
export function checkList(checks: readonly Listed[], format: 'json' | 'text'): string {
  const listed = checks.map(({ id, summary }) => ({ id, summary }));
  if (format === 'json') return `${JSON.stringify({ ...documentHead('checks'), checks: listed }, null, 2)}\n`;
  const width = Math.max(...listed.map(({ id }) => id.length));
  return listed.map(({ id, summary }) => `${id.padEnd(width)}  ${summary}\n`).join('');
}
