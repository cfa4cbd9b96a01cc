// What became of each turn of a recording, and does the stored session show the same? Arguments: recording, stored rows (optional).
import { readFile } from 'node:fs/promises';
import { compare, type LogRecord, reduce, storedSessionsOf } from 'hermes-compat/turn';

const [recording = '', stored] = process.argv.slice(2);
const text = await readFile(recording, 'utf8');
const records = text
  .split('\n')
  .filter((line) => line !== '')
  .map((line): LogRecord => JSON.parse(line));
const { turns } = reduce(records);
for (const turn of turns) {
  const tools = turn.parts.filter((part) => part.type === 'tool').length;
  console.log(`${turn.index} ${turn.outcome ?? turn.phase}, ${tools} tools: ${turn.final ?? ''}`);
}
if (stored !== undefined) {
  const rows: unknown = JSON.parse(await readFile(stored, 'utf8'));
  const { differences } = compare(turns, storedSessionsOf(rows));
  console.log(differences.length === 0 ? 'stored: the same' : differences.map(({ code }) => code).join(' '));
}
