import { spawnSync } from 'node:child_process';
import { performance } from 'node:perf_hooks';

/** One comparison: two commands run in turn (A B A B …), so that a change of the machine's speed hits both. */
export interface Ratio {
  name: string;
  /** Median wall milliseconds. */
  ours: number;
  base: number;
  /** Median of the ratios pair by pair. */
  ratio: number;
  limit: number | null;
}

const median = (values: number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

function wall(argv: readonly string[], env: Record<string, string>): number {
  const [command = '', ...args] = argv;
  const began = performance.now();
  const result = spawnSync(command, args, {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: 'ignore',
  });
  if (result.error !== undefined) throw result.error;
  return performance.now() - began;
}

export function compare(
  name: string,
  ours: readonly string[],
  base: readonly string[],
  options: { runs: number; limit: number | null; env?: Record<string, string> },
): Ratio {
  const env = options.env ?? {};
  wall(ours, env);
  wall(base, env);
  const a: number[] = [];
  const b: number[] = [];
  for (let run = 0; run < options.runs; run += 1) {
    a.push(wall(ours, env));
    b.push(wall(base, env));
  }
  return {
    name,
    ours: median(a),
    base: median(b),
    ratio: median(a.map((value, i) => value / (b[i] ?? value))),
    limit: options.limit,
  };
}
