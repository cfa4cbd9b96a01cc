import type { LogRecord } from '../../src/turn/index.ts';

type Json = Record<string, unknown>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The `params` of an event line, else null. */
export function eventParams(record: LogRecord): Json | null {
  const { frame } = record;
  if (record.dir !== 'in' || !isObject(frame) || frame['method'] !== 'event') return null;
  return isObject(frame['params']) ? frame['params'] : null;
}

/** The events of an answer to `session.events.since`, else null. */
export function replayedEvents(record: LogRecord): Json[] | null {
  const { frame } = record;
  if (record.dir !== 'in' || !isObject(frame) || !isObject(frame['result'])) return null;
  const { events } = frame['result'];
  return Array.isArray(events) ? events.filter(isObject) : null;
}

export function isNumbered(records: readonly LogRecord[]): boolean {
  return records.some((record) => typeof eventParams(record)?.['seq'] === 'number');
}

/** Every numbered frame twice; without numbers every frame again over a second socket that never submitted or attached. */
export function twice(records: readonly LogRecord[]): LogRecord[] {
  const numbered = isNumbered(records);
  return records.flatMap((record) => {
    if (record.dir !== 'in') return [record];
    if (numbered) return typeof eventParams(record)?.['seq'] === 'number' ? [record, record] : [record];
    return [record, { ...record, conn: 'second' }];
  });
}

/** All copies come late, after the whole recording. */
export function againAtTheEnd(records: readonly LogRecord[]): LogRecord[] {
  const numbered = isNumbered(records);
  const copies = records.filter(
    (r) => r.dir === 'in' && (!numbered || typeof eventParams(r)?.['seq'] === 'number'),
  );
  return [...records, ...copies.map((record) => (numbered ? record : { ...record, conn: 'second' }))];
}

/** Numbered frames over a second socket, a little earlier or later than over the first. */
export function shiftedCopies(records: readonly LogRecord[], by: number): LogRecord[] {
  const out: LogRecord[] = [];
  const late: LogRecord[] = [];
  for (const record of records) {
    out.push(record);
    if (record.dir === 'in') late.push({ ...record, conn: 'second' });
    if (late.length > by) out.push(late.shift()!);
  }
  return [...out, ...late];
}

/** Makes request ids, runtime ids and stored ids of a recording its own. */
export function distinct(records: readonly LogRecord[], mark: string): LogRecord[] {
  const ids = new Set<string>();
  collectIds(records, ids);
  return records.map((record) => {
    if (record.dir === 'note') return record;
    const frame = rename(record.frame, ids, mark);
    if (isObject(frame) && 'id' in frame && typeof frame['id'] === 'string')
      frame['id'] = `${mark}${frame['id']}`;
    return { ...record, frame };
  });
}

const idKeys = new Set(['session_id', 'stored_session_id', 'session_key', 'resumed']);

function collectIds(value: unknown, ids: Set<string>): void {
  if (Array.isArray(value)) for (const one of value) collectIds(one, ids);
  if (!isObject(value)) return;
  for (const [key, one] of Object.entries(value)) {
    if (idKeys.has(key) && typeof one === 'string' && one !== '') ids.add(one);
    collectIds(one, ids);
  }
}

function rename(value: unknown, ids: ReadonlySet<string>, mark: string): unknown {
  if (Array.isArray(value)) return value.map((one) => rename(one, ids, mark));
  if (!isObject(value)) return value;
  const out: Json = {};
  for (const [key, one] of Object.entries(value)) {
    out[key] =
      idKeys.has(key) && typeof one === 'string' && ids.has(one) ? `${mark}${one}` : rename(one, ids, mark);
  }
  return out;
}

/** Two recordings on the same sockets, frame by frame in turn. */
export function interleave(a: readonly LogRecord[], b: readonly LogRecord[]): LogRecord[] {
  const out: LogRecord[] = [];
  for (let i = 0; i < Math.max(a.length, b.length); i += 1) {
    if (a[i] !== undefined) out.push(a[i]!);
    if (b[i] !== undefined) out.push(b[i]!);
  }
  return out;
}

/** Each delta cut into single characters; numbers are given anew, in replays too. `step` 1000 leaves gaps between all numbers. */
export function singleCharacters(records: readonly LogRecord[], step = 1): LogRecord[] {
  const sizes = new Map<string, Map<number, number>>();
  const note = (params: Json): void => {
    const { session_id: id, seq } = params;
    if (typeof id !== 'string' || typeof seq !== 'number') return;
    if (!sizes.has(id)) sizes.set(id, new Map());
    sizes.get(id)!.set(seq, charactersOf(params)?.length ?? 1);
  };
  for (const record of records) {
    const params = eventParams(record);
    if (params !== null) note(params);
    for (const event of replayedEvents(record) ?? []) note(event);
  }
  const firsts = new Map([...sizes].map(([id, bySeq]) => [id, newNumbers(bySeq)]));
  const split = (params: Json): Json[] => {
    const { session_id: id, seq } = params;
    const first = typeof id === 'string' && typeof seq === 'number' ? firsts.get(id)?.get(seq) : undefined;
    const pieces = charactersOf(params);
    const all =
      pieces === null
        ? [params]
        : pieces.map((text) => ({ ...params, payload: { ...(params['payload'] as Json), text } }));
    return first === undefined ? all : all.map((one, i) => ({ ...one, seq: step * (first + i) }));
  };
  return records.flatMap((record) => {
    const params = eventParams(record);
    if (params !== null)
      return split(params).map((one) => ({ ...record, frame: { ...(record.frame as Json), params: one } }));
    const events = replayedEvents(record);
    if (events === null) return [record];
    const frame = record.frame as Json;
    return [
      {
        ...record,
        frame: { ...frame, result: { ...(frame['result'] as Json), events: events.flatMap(split) } },
      },
    ];
  });
}

function charactersOf(params: Json): string[] | null {
  const { type, payload } = params;
  if (type !== 'message.delta' && type !== 'reasoning.delta') return null;
  const text = isObject(payload) ? payload['text'] : null;
  return typeof text === 'string' && text !== '' ? Array.from(text) : null;
}

function newNumbers(sizes: Map<number, number>): Map<number, number> {
  const out = new Map<number, number>();
  let shift = 0;
  for (const [seq, size] of [...sizes].sort((a, b) => a[0] - b[0])) {
    out.set(seq, seq + shift);
    shift += size - 1;
  }
  return out;
}

/** Events and keys that no engine has sent so far, between and inside all frames. */
export function withUnknown(records: readonly LogRecord[]): LogRecord[] {
  return records.flatMap((record, i) => {
    if (record.dir === 'note') return [record];
    const { frame } = record;
    const marked = isObject(frame) ? { ...frame, x_new_key: { deep: [1, { a: null }] } } : frame;
    if (isObject(marked) && isObject(marked['params'])) {
      const params: Json = { ...marked['params'], x_trace: `t${i}`, x_list: [[], {}] };
      if (isObject(params['payload']))
        params['payload'] = { ...params['payload'], x_more: { text: 'not text' } };
      marked['params'] = params;
    }
    const id = eventParams(record)?.['session_id'];
    const event = (type: string, session?: unknown) => ({
      ...record,
      dir: 'in' as const,
      frame: {
        jsonrpc: '2.0',
        method: 'event',
        params: { type, session_id: session, payload: { text: 'unknown', status: 'complete' } },
      },
    });
    const odd = [
      event('weather.report'),
      { ...record, dir: 'in' as const, frame: { jsonrpc: '2.0', method: 'surprise', params: {} } },
      { ...record, dir: 'in' as const, frame: [1, 'two', null] },
      { ...record, dir: 'in' as const, frame: 'text' },
      {
        ...record,
        dir: 'in' as const,
        frame: { jsonrpc: '2.0', id: `nobody-asked-${i}`, result: { session_id: 'x' } },
      },
    ];
    const scoped =
      typeof id === 'string'
        ? [event('weather.report', id), event('plan.update', id), event('message', id)]
        : [];
    return [...scoped, { ...record, frame: marked }, ...odd];
  });
}
