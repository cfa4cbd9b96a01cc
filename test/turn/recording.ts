import { reduce, type LogRecord, type Turn } from '../../src/turn/index.ts';

/** Builds a recording frame by frame. Without other words everything happens on one socket in session `s` (stored `st`). */
export interface Recording {
  records: LogRecord[];
  /** Event of a session; null: without session id. */
  event(
    type: string,
    payload?: unknown,
    at?: { session?: string | null; conn?: string; seq?: number },
  ): Recording;
  /** Request of the client, with its answer at once unless `answer` is null. */
  call(method: string, params: unknown, answer: unknown, conn?: string): Recording;
  request(id: string, method: string, params: unknown, conn?: string): Recording;
  answer(id: string, result: unknown, conn?: string): Recording;
  refuse(id: string, error: unknown, conn?: string): Recording;
  submit(text: unknown, status?: string): Recording;
  text(text: string): Recording;
  tool(id: string, result?: unknown, name?: string): Recording;
  done(text: string | null, status?: string, more?: object): Recording;
  frame(dir: 'in' | 'out', frame: unknown, conn?: string): Recording;
  turns(): readonly Turn[];
}

export function recording(created = true): Recording {
  const records: LogRecord[] = [];
  let ids = 0;
  const push = (dir: 'in' | 'out', frame: unknown, conn?: string): Recording => {
    records.push({ t: records.length * 10, dir, frame, ...(conn === undefined ? {} : { conn }) });
    return self;
  };
  const self: Recording = {
    records,
    frame: push,
    event(type, payload, { session = 's', conn, seq } = {}) {
      const params = {
        type,
        ...(session === null ? {} : { session_id: session }),
        payload,
        ...(seq === undefined ? {} : { seq }),
      };
      return push('in', { jsonrpc: '2.0', method: 'event', params }, conn);
    },
    request: (id, method, params, conn) => push('out', { jsonrpc: '2.0', id, method, params }, conn),
    answer: (id, result, conn) => push('in', { jsonrpc: '2.0', id, result }, conn),
    refuse: (id, error, conn) => push('in', { jsonrpc: '2.0', id, error }, conn),
    call(method, params, answer, conn) {
      ids += 1;
      self.request(`r${ids}`, method, params, conn);
      return answer === null ? self : self.answer(`r${ids}`, answer, conn);
    },
    submit: (text, status = 'streaming') => self.call('prompt.submit', { session_id: 's', text }, { status }),
    text: (text) => self.event('message.delta', { text }),
    tool: (id, result = { exit_code: 0, output: 'ok', error: null }, name = 'terminal') =>
      self
        .event('tool.start', { tool_id: id, name, context: `run ${id}` })
        .event('tool.complete', { tool_id: id, name, result }),
    done: (text, status = 'complete', more = {}) => self.event('message.complete', { text, status, ...more }),
    turns: () => reduce(records).turns,
  };
  return created ? self.call('session.create', {}, { session_id: 's', stored_session_id: 'st' }) : self;
}

/** Parts in short: `text:…`, `think:…`, `tool:id status`, `error:…`. */
export function brief(turn: Turn | undefined): string[] {
  return (turn?.parts ?? []).map((part) => {
    if (part.type === 'tool') return `tool:${part.callId} ${part.status}`;
    if (part.type === 'error') return `error:${part.error}`;
    return part.type === 'text' ? `text:${part.text}` : `think:${part.text}`;
  });
}
