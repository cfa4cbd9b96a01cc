import { CompatError } from '../../errors.ts';
import { quoteAll } from '../../host/quote.ts';
import type { Host } from '../../host/types.ts';
import type { HookKind, HookPlace, HookRecord } from './types.ts';
import { homeId } from './watched-paths.ts';

/** One line in the account's table. The rest of the table stays byte for byte. */
export const cron: HookKind = {
  id: 'cron',
  does: 'every five minutes the files are compared; only a change costs more',
  limits: 'up to five minutes late, and only while a cron daemon runs',
  byHand:
    'Take its lines out with `crontab -e` (the comment that names hermes-compat, and the line with `hook run`), then run this again',
  async problem({ host }) {
    const table = await readTable(host);
    return typeof table === 'object' ? table.problem : null;
  },
  files: async () => [],
  async enable(place) {
    const before = await readTable(place.host);
    if (typeof before === 'object') throw refusal(before.problem);
    const lines = cronLines(place);
    if (before.includes(lines)) return { lines };
    const addedBreak = before !== '' && !before.endsWith('\n');
    await writeTable(place.host, `${before}${addedBreak ? '\n' : ''}${lines}`);
    return { lines, addedBreak };
  },
  async disable({ host }, record) {
    const { lines } = record;
    if (lines === null) return;
    const table = await readTable(host);
    if (typeof table === 'object') throw refusal(table.problem);
    if (table.includes(lines)) await writeTable(host, without(table, lines, record));
  },
  async linesState({ host }, { lines }) {
    const table = await readTable(host);
    if (typeof table === 'object' || lines === null) return 'gone';
    if (table.includes(lines)) return 'installed';
    return parts(lines).some((part) => table.includes(part)) ? 'changed' : 'gone';
  },
};

/** By which our lines are known when they were edited: the comment, and what is run. */
function parts(lines: string): string[] {
  const [comment = '', line = ''] = lines.split('\n');
  return [comment, line.split(' ').slice(5).join(' ')].filter((part) => part !== '');
}

const refusal = (problem: string): CompatError => new CompatError('refused', problem);

function without(table: string, lines: string, { addedBreak }: HookRecord): string {
  const at = table.indexOf(lines);
  const head = table.slice(0, at);
  const tail = table.slice(at + lines.length);
  return (addedBreak === true && tail === '' ? head.replace(/\n$/, '') : head) + tail;
}

/** `%` is a line break to cron, also in quotes. */
export const cronLines = ({ home, command }: HookPlace): string =>
  `# hermes-compat ${homeId(home.root)}: re-check after updates (hermes-compat hook remove cron)\n` +
  `*/5 * * * * ${quoteAll(command).replaceAll('%', '\\%')} >/dev/null 2>&1\n`;

async function readTable(host: Host): Promise<string | { problem: string }> {
  try {
    const { code, stdout, stderr } = await host.run(['crontab', '-l']);
    if (code === 0) return stdout.toString('utf8');
    if (/no crontab/i.test(stderr.toString('utf8'))) return '';
    return { problem: `crontab refuses: ${stderr.toString('utf8').trim().split('\n')[0] ?? ''}` };
  } catch {
    return { problem: 'there is no crontab command' };
  }
}

async function writeTable(host: Host, text: string): Promise<void> {
  const result =
    text === ''
      ? await host.run(['crontab', '-r'])
      : await host.run(['crontab', '-'], { stdin: Buffer.from(text) });
  if (result.code !== 0) throw refusal(`crontab: ${result.stderr.toString('utf8').trim()}`);
}
