import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { closedPort } from './closed-port.ts';
import { here, node, program } from './paths.ts';
import type { Section } from './section.ts';

// A preflight of many stand-in targets over a slow line against the ideal for its parallelism: what each kind of target takes
// alone, packed onto that many lanes in the order of the file, the time limits of silent ones included.
const delayMs = 50;
const timeoutMs = 3000;
const limits = { ratio: 1.2, memoryMb: 300 };

/** In a hundred targets, so many of each. */
const mix: Record<string, number> = {
  good: 40,
  newest: 20,
  'chat-off': 10,
  'foreign-host': 6,
  'no-upgrade': 5,
  'other-token': 5,
  gated: 4,
  'login-page': 3,
  'bad-gateway': 3,
  closed: 2,
  silent: 2,
};

interface Reports {
  reports: { target: { name: string }; verdict: string; durationMs: number }[];
  summary: Record<string, number>;
}

/** Helpers that are ended at the end of a measurement. */
export const children: ChildProcess[] = [];

/** Starts a helper process and gives its first line of JSON. */
export async function helper(name: string, input?: string): Promise<unknown> {
  const child = spawn(node, [here(name)], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  if (input !== undefined) child.stdin.write(`${input}\n`);
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line);
  throw new Error(`${name} said nothing`);
}

/** A seeded shuffle: silent targets stand anywhere in the file, in every run at the same places. */
function shuffled<T>(items: readonly T[]): T[] {
  const list = [...items];
  let seed = 20_261_130;
  for (let at = list.length - 1; at > 0; at -= 1) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    const other = seed % (at + 1);
    [list[at], list[other]] = [list[other] as T, list[at] as T];
  }
  return list;
}

/** Peak resident memory of a running process, in MiB. Source: proc(5), VmHWM. */
const peakOf = async (pid: number): Promise<number> =>
  Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''))?.[1] ?? 0) /
  1024;

export async function preflight(
  file: string,
  output: string,
  lanes: number,
): Promise<{ wallMs: number; peakMb: number; document: Reports }> {
  const began = performance.now();
  const child = spawn(
    node,
    [program, 'preflight', file, '--parallel', String(lanes), '--json', '--output', output],
    {
      env: { PATH: process.env['PATH'] ?? '', HOME: tmpdir(), BENCH_TOKEN: 'token-of-the-bench-0123456789' },
      stdio: 'inherit',
    },
  );
  let peakMb = 0;
  const watch = setInterval(
    () => void peakOf(child.pid ?? 0).then((mb) => (peakMb = Math.max(peakMb, mb))),
    50,
  );
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearInterval(watch);
  const wallMs = performance.now() - began;
  if (code !== 1) throw new Error(`preflight ended with ${code}, not with 1`);
  return { wallMs, peakMb, document: JSON.parse(await readFile(output, 'utf8')) as Reports };
}

const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** Every target begins on the lane that is free first. */
function packed(durations: readonly number[], lanes: number): number {
  const free = Array.from({ length: lanes }, () => 0);
  for (const duration of durations) {
    const lane = free.indexOf(Math.min(...free));
    free[lane] = (free[lane] ?? 0) + duration;
  }
  return Math.max(...free);
}

/** @param count a thousand by default, as in the limit of the design */
export async function preflightScaling(count = 1000, parallel = 16): Promise<Section> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-preflight-'));
  try {
    const targets = await targetsOf(count);
    const fileOf = async (name: string, list: typeof targets): Promise<string> => {
      const path = join(folder, name);
      await writeFile(path, JSON.stringify({ defaults: { client: 'minimal', timeoutMs }, targets: list }));
      return path;
    };
    const samples = Object.keys(mix).flatMap((kind) =>
      targets.filter(({ name }) => name.startsWith(`${kind}-`)).slice(0, 5),
    );
    const alone = await preflight(await fileOf('alone.json', samples), join(folder, 'alone-report.json'), 1);
    const of = (name: string): number => {
      const kind = name.slice(0, name.lastIndexOf('-'));
      return median(
        alone.document.reports
          .filter(({ target }) => target.name.startsWith(`${kind}-`))
          .map(({ durationMs }) => durationMs),
      );
    };
    const idealMs = packed(
      targets.map(({ name }) => of(name)),
      parallel,
    );
    const all = await preflight(await fileOf('all.json', targets), join(folder, 'all-report.json'), parallel);
    const ratio = all.wallMs / idealMs;
    const name = `${count} targets, ${parallel} at once`;
    return {
      title: 'Preflight',
      note: `Stand-ins of eleven kinds over lines of 2 × ${delayMs} ms, silent ones with a limit of ${timeoutMs / 1000} s among them. The ideal is what each takes alone, packed onto that many lanes in the order of the file.`,
      head: ['Measured', 'wall, s', 'ideal, s', 'ratio', 'limit', 'peak memory, MiB', 'limit'],
      rows: [
        [
          name,
          (all.wallMs / 1000).toFixed(1),
          (idealMs / 1000).toFixed(1),
          ratio.toFixed(2),
          `≤ ${limits.ratio}`,
          all.peakMb.toFixed(0),
          `< ${limits.memoryMb}`,
        ],
      ],
      missed: [
        ...(ratio > limits.ratio
          ? [`${name}: ${ratio.toFixed(2)} of the ideal, the limit is ${limits.ratio}`]
          : []),
        ...(all.peakMb >= limits.memoryMb ? [`${name}: ${all.peakMb.toFixed(0)} MiB`] : []),
      ],
    };
  } finally {
    for (const child of children.splice(0)) child.kill();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Targets of the mix, each behind a slow line of its own. */
async function targetsOf(count: number): Promise<{ name: string; address: string; tokenEnv?: string }[]> {
  const ports = (await helper('stand-ins.mjs')) as Record<string, number>;
  const closed = await closedPort();
  const kinds = shuffled(
    Array.from({ length: Math.ceil(count / 100) }, () =>
      Object.entries(mix).flatMap(([kind, share]) => Array.from({ length: share }, () => kind)),
    ).flat(),
  ).slice(0, count);
  const open = kinds.filter((kind) => kind !== 'closed');
  const slow = (await helper(
    'slow-line.mjs',
    JSON.stringify({ delayMs, to: open.map((kind) => ports[kind]) }),
  )) as number[];
  let next = 0;
  return kinds.map((kind, index) => ({
    name: `${kind}-${index}`,
    address: `http://127.0.0.1:${kind === 'closed' ? closed : slow[next++]}`,
    ...(kind === 'gated' ? {} : { tokenEnv: 'BENCH_TOKEN' }),
  }));
}
