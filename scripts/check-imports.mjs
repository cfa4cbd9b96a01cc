// Fails when an import under src/ points against the road of DESIGN: cli → report → lifecycle → patch → judge → probe → engine → host → target.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

const order = ['target', 'host', 'engine', 'probe', 'judge', 'patch', 'lifecycle', 'report', 'cli'];
/** Folders beside the road: what each may import. */
const beside = {
  turn: [],
  launch: ['target', 'host', 'engine', 'probe'],
  simulate: ['turn'],
  live: ['target', 'host', 'engine', 'probe', 'launch', 'simulate', 'turn'],
};
/** Files at the root, open to all but turn, which is a library of its own. */
const root = ['errors.ts', 'tool.ts', 'document-schema.ts'];
const mayImport = (from, to) => {
  if (from === to || from === 'cli' || from === 'index.ts') return true;
  if (root.includes(to)) return from !== 'turn';
  if (from in beside) return beside[from].includes(to);
  if (to === 'launch') return order.indexOf(from) >= order.indexOf('patch');
  if (to in beside) return from === 'report';
  return order.includes(to) && order.includes(from) && order.indexOf(to) < order.indexOf(from);
};
const src = resolve('src');
const files = readdirSync(src, { recursive: true, withFileTypes: true })
  .filter((e) => e.isFile() && e.name.endsWith('.ts'))
  .map((e) => join(e.parentPath, e.name));
const stage = (file) => relative(src, file).split(sep)[0];
const bad = [];
for (const file of files) {
  for (const [, spec] of readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
    const target = resolve(dirname(file), spec);
    if (!target.startsWith(src)) continue;
    if (!mayImport(stage(file), stage(target)))
      bad.push(`${relative('.', file)} imports ${spec}: ${stage(file)} may not import ${stage(target)}`);
  }
}
if (bad.length > 0) {
  console.error(bad.join('\n'));
  process.exitCode = 1;
}
