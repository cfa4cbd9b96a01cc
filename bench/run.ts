// Everything that is measured, in one run. `--write` puts the results into docs/performance.md, docs/fleets.md and the README; `--quick` is a
// smaller run for trying it; `--only NAME` one part. Run: npm run bench -- --write
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { here } from './paths.ts';
import { doctor } from './doctor.ts';
import { fleet } from './fleet.ts';
import { hookRun } from './hook-run.ts';
import { plan } from './plan.ts';
import { preflightScaling } from './preflight.ts';
import { reducer } from './reducer.ts';
import { type Section, tableOf, textOf } from './section.ts';
import { ssh } from './ssh.ts';
import { startUp } from './start-up.ts';

const quick = process.argv.includes('--quick');
const only = process.argv[process.argv.indexOf('--only') + 1];
const wanted = (name: string): boolean => !process.argv.includes('--only') || only === name;

const parts: Record<string, () => Promise<Section | Section[] | null>> = {
  'start-up': () => startUp(quick ? 3 : 21),
  doctor: () => doctor(quick ? 3 : 11),
  ssh: () => ssh(quick ? 2 : 5),
  hook: () => hookRun(quick ? 3 : 15),
  plan: () => plan(quick ? 2 : 7),
  preflight: () => preflightScaling(quick ? 100 : 1000),
  fleet: () => fleet(quick ? [100] : [1000, 10_000]),
  reducer,
};

const began = new Date();
const loadBefore = loadavg()[0] ?? 0;
const sections: Section[] = [];
for (const [name, measure] of Object.entries(parts)) {
  if (!wanted(name)) continue;
  const result = await measure();
  if (result === null) console.log(`${name}: not possible here\n`);
  for (const section of result === null ? [] : [result].flat()) {
    sections.push(section);
    console.log(textOf(section));
  }
}
const missed = sections.flatMap((section) => section.missed);
for (const line of missed) console.log(`missed: ${line}`);

/** What the figures were measured on; nothing that names the machine. */
const machine = (): string => {
  const [first] = cpus();
  const minutes = Math.round((Date.now() - began.getTime()) / 60_000);
  return `${began.toISOString().slice(0, 10)}, in one run of ${minutes} minutes: ${cpus().length} × ${first?.model.trim() ?? 'unknown'}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, ${type()} ${release().split('-')[0]}, Node ${process.version}, hermes-compat ${version()}; load average ${loadBefore.toFixed(1)} at the beginning, ${(loadavg()[0] ?? 0).toFixed(1)} at the end.`;
};

const version = (): string =>
  execFileSync(process.execPath, [here('../bin/hermes-compat.js'), '--version'])
    .toString()
    .trim();

/** Replaces what stands between `<!-- NAME -->` and `<!-- /NAME -->`. */
async function fill(path: string, name: string, text: string): Promise<void> {
  const file = here(`../${path}`);
  const before = await readFile(file, 'utf8');
  const [start, end] = [before.indexOf(`<!-- ${name} -->`), before.indexOf(`<!-- /${name} -->`)];
  if (start < 0 || end < 0) throw new Error(`${path} has no place for ${name}`);
  await writeFile(file, `${before.slice(0, start)}<!-- ${name} -->\n\n${text}\n\n${before.slice(end)}`);
}

if (process.argv.includes('--write')) {
  if (quick || process.argv.includes('--only')) throw new Error('only a whole run is written');
  const misses =
    missed.length === 0
      ? 'Every limit was met.'
      : `Missed in this run:\n\n${missed.map((line) => `- ${line}`).join('\n')}`;
  const results = [
    machine(),
    ...sections.map((section) => textOf(section).trim().replace('## ', '### ')),
    misses,
  ];
  await fill('docs/performance.md', 'results', results.join('\n\n'));
  const titled = (title: string): Section[] => sections.filter((section) => section.title === title);
  const ratios = [...titled('Start-up'), ...titled('Doctor')];
  const [first] = ratios;
  if (first !== undefined)
    await fill('README.md', 'speed', tableOf({ ...first, rows: ratios.flatMap(({ rows }) => rows) }));
  const fleets = sections.filter(({ title }) => title.startsWith('Fleets'));
  await fill(
    'docs/fleets.md',
    'fleets',
    fleets.map((each) => `${each.note}\n\n${tableOf(each)}`).join('\n\n'),
  );
}
