// Fails when an import under src/ points against the road of DESIGN: cli → report → lifecycle → patch → judge → probe → engine → host → target.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

const order = ['target', 'host', 'engine', 'probe', 'judge', 'patch', 'lifecycle', 'report', 'cli'];
/** Folders beside the road: what each may import. `errors.ts` and `tool.ts` at the root are open to all but turn. */
const beside = { turn: [], launch: ['target', 'host', 'engine', 'probe'], simulate: ['turn'], live: ['target', 'host', 'engine', 'probe', 'launch', 'simulate', 'turn'], schema: order };
const mayImport = (from, to) => {
  if (from === to) return true;
  if (from === 'cli' || from === 'index.ts') return true;
  if (from in beside)
    return beside[from].includes(to) || (from !== 'turn' && ['errors.ts', 'tool.ts'].includes(to));
  if (['errors.ts', 'tool.ts'].includes(to)) return !['errors.ts', 'tool.ts'].includes(from) || true;
  if (to in beside)
    return to === 'launch'
      ? order.indexOf(from) >= order.indexOf('patch')
      : ['turn', 'simulate', 'live'].includes(to) && from === 'report';
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
