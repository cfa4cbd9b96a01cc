import { spawn } from 'node:child_process';
import { createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createReducer, type LogRecord } from '../src/turn/index.ts';
import type { Section } from './section.ts';

const sizes = [10_000, 100_000, 1_000_000, 10_000_000];
const gc = globalThis.gc ?? (() => undefined);

interface Measure {
  deltas: number;
  nsPerDelta: number;
  deltasPerSecond: number;
  heapBytesPerDelta: number;
}

const opening: LogRecord[] = [
  { dir: 'out', frame: { jsonrpc: '2.0', id: 'c1', method: 'session.create', params: {} } },
  { dir: 'in', frame: { jsonrpc: '2.0', id: 'c1', result: { session_id: 's', stored_session_id: 'st' } } },
  {
    dir: 'out',
    frame: { jsonrpc: '2.0', id: 'c2', method: 'prompt.submit', params: { session_id: 's', text: 'go' } },
  },
  { dir: 'in', frame: { jsonrpc: '2.0', id: 'c2', result: { status: 'streaming' } } },
  event('message.start', null),
];

function event(type: string, payload: unknown): LogRecord {
  return {
    t: 1,
    dir: 'in',
    frame: { jsonrpc: '2.0', method: 'event', params: { type, session_id: 's', payload } },
  };
}

/** Frames as a socket would give them: fresh objects, a thousand kinds of text. */
const deltas: LogRecord[] = Array.from({ length: 1000 }, (_, i) =>
  event('message.delta', { text: `w${i} ` }),
);

/** What many clients do: a new list with a new row for every delta. */
function createNaive() {
  let rows: { id: string; content: string }[] = [{ id: 'a', content: '' }];
  return {
    push(record: LogRecord) {
      const { params } = record.frame as { params: { payload: { text: string } } };
      rows = rows.map((row) =>
        row.id === 'a' ? { ...row, content: row.content + params.payload.text } : row,
      );
    },
    length: () => rows[0]?.content.trim().length ?? 0,
  };
}

/** Best of several runs, in processor time: other programs on the machine do not count. */
function measure(count: number, make: () => Subject): Measure {
  const runs = Math.max(1, Math.min(9, Math.floor(2_000_000 / count)));
  const all = Array.from({ length: runs }, () => measureOnce(count, make));
  return all.reduce((best, one) => (one.nsPerDelta < best.nsPerDelta ? one : best));
}

interface Subject {
  push(record: LogRecord): void;
  length(): number;
}

function measureOnce(count: number, make: () => Subject): Measure {
  gc();
  const before = process.memoryUsage().heapUsed;
  const subject = make();
  const start = process.cpuUsage();
  for (let i = 0; i < count; i += 1) subject.push(deltas[i % 1000]!);
  const { user, system } = process.cpuUsage(start);
  gc();
  const heap = process.memoryUsage().heapUsed - before;
  if (subject.length() === 0) throw new Error('nothing was reduced');
  const ns = (user + system) * 1000;
  return {
    deltas: count,
    nsPerDelta: Math.round(ns / count),
    deltasPerSecond: Math.round(count / (ns / 1e9)),
    heapBytesPerDelta: Math.round((heap / count) * 10) / 10,
  };
}

function ours() {
  const reducer = createReducer();
  for (const record of opening) reducer.push(record);
  return {
    push: (record: LogRecord) => reducer.push(record),
    length: () => reducer.finish().turns[0]?.parts.length ?? 0,
  };
}

/** A log of about this many bytes: turns with thoughts, deltas and tools with long results. */
async function writeLog(path: string, bytes: number): Promise<void> {
  const out = createWriteStream(path);
  const put = async (record: LogRecord) => {
    if (!out.write(`${JSON.stringify(record)}\n`))
      await new Promise<void>((resolve) => out.once('drain', () => resolve()));
  };
  let written = 0;
  for (const record of opening.slice(0, 2)) await put(record);
  for (let turn = 0; written < bytes; turn += 1) {
    await put({
      dir: 'out',
      frame: {
        jsonrpc: '2.0',
        id: turn,
        method: 'prompt.submit',
        params: { session_id: 's', text: `go ${turn}` },
      },
    });
    await put({ dir: 'in', frame: { jsonrpc: '2.0', id: turn, result: { status: 'streaming' } } });
    await put(event('message.start', null));
    for (let call = 0; call < 4; call += 1) {
      await put(event('tool.start', { tool_id: `call_${turn}_${call}`, name: 'terminal', context: 'yes' }));
      await put(
        event('tool.complete', {
          tool_id: `call_${turn}_${call}`,
          name: 'terminal',
          result: { output: 'line\n'.repeat(8000), exit_code: 0 },
        }),
      );
    }
    for (let i = 0; i < 2000; i += 1) await put(deltas[i % 1000]!);
    await put(
      event('message.complete', {
        status: 'complete',
        text: deltas
          .concat(deltas)
          .map((d) => (d.frame as { params: { payload: { text: string } } }).params.payload.text)
          .join(''),
      }),
    );
    written += 4 * 40_000 + 2000 * 140 + 12_000;
  }
  await new Promise<void>((resolve) => out.end(() => resolve()));
}

interface Replayed {
  megabytes: number;
  seconds: number;
  peakMegabytes: number;
}

/** Peak memory as the kernel saw it; the report itself is thrown away. */
async function replay(path: string, format: string): Promise<Replayed> {
  const start = process.hrtime.bigint();
  const child = spawn(
    '/bin/sh',
    [
      '-c',
      `"$0" bin/hermes-compat.js replay "$1" --format ${format} >/dev/null & p=$!; while kill -0 $p 2>/dev/null; do grep VmHWM /proc/$p/status 2>/dev/null; sleep 0.2; done; wait $p`,
      process.execPath,
      path,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`replay ended with ${String(code)}`);
  const peaks = [...text.matchAll(/VmHWM:\s+(\d+) kB/g)].map((match) => Number(match[1]) / 1024);
  return {
    megabytes: Math.round(statSync(path).size / 1e6),
    seconds: Math.round(Number(process.hrtime.bigint() - start) / 1e7) / 100,
    peakMegabytes: Math.round(Math.max(0, ...peaks)),
  };
}

const unit = (value: number): string => value.toLocaleString('en-US');

/** Time and memory per delta beside a naive reducer; then whole logs through the program. Needs --expose-gc for the memory. */
export async function reducer(): Promise<Section[]> {
  const folder = mkdtempSync(join(tmpdir(), 'reducer-bench-'));
  try {
    measure(100_000, ours);
    measure(100_000, createNaive);
    const results = sizes.map((count) => ({
      ours: measure(count, ours),
      naive: measure(count, createNaive),
    }));
    const [small, large] = [join(folder, 'small.jsonl'), join(folder, 'large.jsonl')];
    await writeLog(small, 20_000_000);
    await writeLog(large, 200_000_000);
    const logs: [string, Replayed][] = [
      ['json', await replay(small, 'json')],
      ['json', await replay(large, 'json')],
      ['human', await replay(large, 'human')],
    ];
    const slowest = Math.min(...results.map(({ ours: { deltasPerSecond } }) => deltasPerSecond));
    return [
      {
        title: 'Reducer',
        note: 'Processor time and heap per delta of one growing answer, beside a reducer that makes a new list with a new row for each delta, as many clients do.',
        head: [
          'Deltas',
          'ours, ns a delta',
          'deltas a second',
          'heap, bytes a delta',
          'naive, ns',
          'naive heap, bytes',
        ],
        rows: results.map(({ ours: a, naive: b }) => [
          unit(a.deltas),
          unit(a.nsPerDelta),
          unit(a.deltasPerSecond),
          String(a.heapBytesPerDelta),
          unit(b.nsPerDelta),
          String(b.heapBytesPerDelta),
        ]),
        missed:
          slowest < 1_000_000
            ? [`the reducer: ${unit(slowest)} deltas a second, the limit is 1,000,000`]
            : [],
      },
      {
        title: 'Replay',
        note: 'Whole logs through `hermes-compat replay`. Memory is the peak that the kernel saw.',
        head: ['Log', 'format', 'seconds', 'peak memory, MB'],
        rows: logs.map(([format, log]) => [
          `${log.megabytes} MB`,
          format,
          String(log.seconds),
          String(log.peakMegabytes),
        ]),
        missed: [],
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
