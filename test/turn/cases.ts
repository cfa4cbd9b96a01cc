import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { LogRecord, Part, Timeline, Turn } from '../../src/turn/index.ts';

/** One recording of `cases/turns` with what must come out of it. */
export interface TurnCase {
  name: string;
  engine: string;
  records: LogRecord[];
  expected: { turns: unknown[]; comparison?: unknown };
  stored: unknown;
}

const root = join(import.meta.dirname, '../../cases');

export function turnCases(): TurnCase[] {
  const engines = readdirSync(join(root, 'turns'));
  return engines.flatMap((engine) => {
    const folder = join(root, 'turns', engine);
    const files = readdirSync(folder).filter((file) => /\.jsonl(\.gz)?$/.test(file));
    return files.map((file) => readCase(engine, folder, file));
  });
}

export function turnCase(name: string): TurnCase {
  const found = turnCases().find((one) => one.name === name);
  if (found === undefined) throw new Error(`no case ${name}`);
  return found;
}

function readCase(engine: string, folder: string, file: string): TurnCase {
  const bytes = readFileSync(join(folder, file));
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  const base = join(folder, file.replace(/\.jsonl(\.gz)?$/, ''));
  return {
    name: `${engine}/${file.replace(/\.jsonl(\.gz)?$/, '')}`,
    engine,
    records: text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line)),
    expected: JSON.parse(readFileSync(`${base}.expected.json`, 'utf8')),
    stored: readJson(`${base}.stored.json`),
  };
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

export function reconcileCases(file: string): Record<string, unknown>[] {
  return JSON.parse(readFileSync(join(root, 'reconcile', file), 'utf8'));
}

/** A timeline reduced to the keys of `cases/README.md`, long texts as their digest. */
export function plain(timeline: Timeline): unknown[] {
  return timeline.turns.map(plainTurn);
}

export function plainTurn(turn: Turn): Record<string, unknown> {
  const { index, session, origin, prompt, final, outcome, degraded, artifacts } = turn;
  const parts = turn.parts.map(plainPart);
  return {
    index,
    session,
    origin,
    prompt,
    parts,
    final: final === null ? null : digest(final),
    outcome,
    degraded,
    artifacts,
  };
}

function plainPart(part: Part): Record<string, unknown> {
  switch (part.type) {
    case 'tool':
      return { type: 'tool', callId: part.callId, name: part.name, status: part.status };
    case 'error':
      return { type: 'error', error: part.error };
    case 'text':
    case 'reasoning': {
      const text = digest(part.text);
      return typeof text === 'string' ? { type: part.type, text } : { type: part.type, ...text };
    }
    default:
      return part satisfies never;
  }
}

function digest(text: string): string | { sha256: string; length: number } {
  const length = Array.from(text).length;
  return length < 20_000 ? text : { sha256: createHash('sha256').update(text, 'utf8').digest('hex'), length };
}
