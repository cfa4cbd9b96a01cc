import { documentOf } from '../report/timeline-json.ts';
import type { TimelineEnd, TimelineWriter } from '../report/timeline.ts';
import {
  compare,
  createReducer,
  type LogRecord,
  type Outcome,
  type Reducer,
  type StoredSessions,
  type Turn,
} from '../turn/index.ts';
import type { FrameLog } from './frame-log.ts';
import type { Sink } from './sink.ts';

/** Longest arguments and results of tools that are kept, in characters. */
const valueLimit = 2000;

interface ReplayOptions {
  writer: TimelineWriter;
  sink: Sink;
  stored: StoredSessions | null;
  twice: boolean;
}

/** Reads a recording to its end and writes each turn as soon as nothing can change it any more. */
export async function replayLog(
  log: FrameLog,
  { writer, sink, stored, twice }: ReplayOptions,
): Promise<TimelineEnd> {
  const reducer = createReducer({ valueLimit });
  const check = twice ? createTwiceCheck() : null;
  const outcomes = new Map<Outcome, number>();
  const kept: Turn[] = [];
  let turns = 0;
  const put = async (settled: readonly Turn[]): Promise<void> => {
    for (const turn of settled) {
      if (turn.outcome !== null) outcomes.set(turn.outcome, (outcomes.get(turn.outcome) ?? 0) + 1);
      if (stored !== null) kept.push(withoutDetail(turn));
      check?.once(turn);
      await sink.write(writer.turn(turn, turns === 0));
      turns += 1;
    }
  };
  for await (const records of log.records) {
    for (const record of records) {
      reducer.push(record);
      check?.push(record);
    }
    await put(reducer.drain());
    check?.drain();
  }
  await put(reducer.finish().turns);
  return {
    turns,
    outcomes,
    comparison:
      stored === null
        ? null
        : compare(
            kept.map((turn) => ({ ...turn, stored: reducer.storedIds(turn.session) })),
            stored,
          ),
    changedByTwice: check?.changed() ?? null,
  };
}

/** What the comparison needs of a turn. */
function withoutDetail(turn: Turn): Turn {
  const parts = turn.parts.map((part) =>
    part.type === 'tool' ? { ...part, args: null, result: null } : part,
  );
  return { ...turn, parts, activity: [] };
}

/** The same recording with every numbered frame twice, and every other one again over a second socket that never submitted or attached. */
interface TwiceCheck {
  push(record: unknown): void;
  /** A turn of the recording as it is. */
  once(turn: Turn): void;
  drain(): void;
  changed(): number[];
}

function createTwiceCheck(): TwiceCheck {
  const doubled: Reducer = createReducer({ valueLimit });
  const open = new Map<number, string>();
  const changed = new Set<number>();
  const meet = (turn: Turn): void => {
    const text = JSON.stringify(documentOf(turn));
    const other = open.get(turn.index);
    if (other === undefined) open.set(turn.index, text);
    else {
      open.delete(turn.index);
      if (other !== text) changed.add(turn.index);
    }
  };
  return {
    push(record) {
      doubled.push(record);
      if (isNumbered(record)) doubled.push(record);
      else if (isReceived(record)) doubled.push({ ...record, conn: 'second socket' });
    },
    once: meet,
    drain: () => doubled.drain().forEach(meet),
    changed() {
      doubled.finish().turns.forEach(meet);
      for (const index of open.keys()) changed.add(index);
      return [...changed].sort((a, b) => a - b);
    },
  };
}

function isReceived(record: unknown): record is LogRecord {
  return typeof record === 'object' && record !== null && 'dir' in record && record.dir === 'in';
}

function isNumbered(record: unknown): boolean {
  const frame = isReceived(record)
    ? (record.frame as { params?: { seq?: unknown } } | null | undefined)
    : null;
  return typeof frame?.params?.seq === 'number';
}
