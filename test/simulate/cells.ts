import type { ProbeFacts } from '../../src/probe/types.ts';
import { isFull } from '../support/full.ts';

/** Which real engines the stand-in is compared with, and what may differ between two starts of one engine. */
export interface Cell {
  version: string;
  mode: 'plain' | 'chat' | 'gated' | 'headless' | 'no-token' | 'wrong-token';
  /** Runs in the gate; the others in the full suite. */
  gate: boolean;
}

/** 0.15.2 with what its package lacks, see `repairedEngine`; 0.20.0.post2 ships no login provider. */
const cells: readonly Cell[] = [
  { version: '0.13.0', mode: 'no-token', gate: false },
  { version: '0.14.0', mode: 'plain', gate: true },
  { version: '0.14.0', mode: 'chat', gate: true },
  { version: '0.14.0', mode: 'wrong-token', gate: false },
  { version: '0.15.2', mode: 'plain', gate: false },
  { version: '0.15.2', mode: 'chat', gate: false },
  { version: '0.16.0', mode: 'plain', gate: true },
  { version: '0.16.0', mode: 'gated', gate: false },
  { version: '0.17.0', mode: 'plain', gate: false },
  { version: '0.17.0', mode: 'gated', gate: false },
  { version: '0.18.2', mode: 'plain', gate: false },
  { version: '0.18.2', mode: 'gated', gate: false },
  { version: '0.18.2', mode: 'headless', gate: false },
  { version: '0.19.0', mode: 'plain', gate: true },
  { version: '0.19.0', mode: 'no-token', gate: false },
  { version: '0.19.0', mode: 'wrong-token', gate: false },
  { version: '0.19.0', mode: 'gated', gate: false },
  { version: '0.19.0', mode: 'headless', gate: false },
  { version: '0.20.0.post2', mode: 'plain', gate: false },
  { version: '0.20.0.post2', mode: 'headless', gate: false },
  { version: '0.21.0.post1', mode: 'plain', gate: false },
  { version: '0.21.0.post1', mode: 'gated', gate: false },
  { version: '0.21.0.post1', mode: 'headless', gate: false },
  { version: '0.21.4.post1', mode: 'plain', gate: false },
  { version: '0.21.4.post1', mode: 'gated', gate: false },
  { version: '0.22.2.post1', mode: 'plain', gate: true },
  { version: '0.22.2.post1', mode: 'no-token', gate: false },
  { version: '0.22.2.post1', mode: 'gated', gate: false },
  { version: '0.22.2.post1', mode: 'headless', gate: false },
];

export const cellsOfThisRun = cells.filter(({ gate }) => gate || isFull);

/** Keys whose values depend on the clock, the machine, the secret or the length of a path. */
const volatileKeys = ['phases', 'ms', 'afterMs', 'fingerprint', 'tokenFingerprint', 'hermesHome'];
/** The same, of frames and of bodies that are no refusal: those begin with paths and free disk space. */
const volatileContent = ['bytes', 'detail'];

const isRefusal = (value: object): boolean => 'status' in value && Number(value.status) >= 400;

const without = (value: unknown, drops: readonly string[]): unknown => {
  if (Array.isArray(value)) return value.map((each) => without(each, drops));
  if (typeof value !== 'object' || value === null) return value;
  const kept = isRefusal(value) ? volatileKeys : drops;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      kept.includes(key) ? '(volatile)' : without(each, kept),
    ]),
  );
};

/** Facts without what differs between two starts: `port` is the dashboard's. */
export const comparable = (facts: ProbeFacts, port: number): unknown =>
  without(JSON.parse(JSON.stringify(facts).replaceAll(String(port), 'PORT')), [
    ...volatileKeys,
    ...volatileContent,
  ]);
