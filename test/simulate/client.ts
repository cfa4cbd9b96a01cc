import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';

import { type LogRecord, reduce, type Turn } from '../../src/turn/index.ts';

/** A plain gateway client for tests: calls, waits for events, keeps a frame log. */

/** A dashboard, real or not. */
interface Server {
  url: string;
  token: string | null;
}

const clients: WebSocket[] = [];

export const closeClients = (): void => {
  for (const client of clients.splice(0)) client.terminate();
};

interface Frame {
  id?: string;
  method?: string;
  params?: { type: string; seq?: number; payload?: Record<string, unknown> };
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}

export interface Client {
  frames: Frame[];
  log: LogRecord[];
  call: (method: string, params?: unknown) => Promise<Frame>;
  event: (type: string, count?: number) => Promise<Frame>;
  /** Waits for a request of the server. */
  request: (method: string) => Promise<Frame>;
  answer: (request: Frame, result: unknown) => void;
}

export const open = async (
  { url, token }: Server,
  query = `token=${token}`,
  limitMs = 5000,
): Promise<Client> => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/ws?${query}`);
  clients.push(socket);
  const frames: Frame[] = [];
  const log: Client['log'] = [];
  socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as Frame;
    frames.push(frame);
    log.push({ t: performance.now(), dir: 'in', frame });
  });
  await once(socket, 'open');
  const until = async (wanted: (frame: Frame) => boolean, count = 1): Promise<Frame> => {
    for (let waited = 0; waited < limitMs; waited += 10) {
      const found = frames.filter(wanted);
      if (found.length >= count) return found[count - 1] as Frame;
      await pause(10);
    }
    throw new Error(`never came; seen: ${JSON.stringify(frames).slice(-2000)}`);
  };
  let next = 0;
  return {
    frames,
    log,
    call: (method, params = {}) => {
      next += 1;
      const id = `t${next}`;
      const frame = { jsonrpc: '2.0', id, method, params };
      log.push({ t: performance.now(), dir: 'out', frame });
      socket.send(JSON.stringify(frame));
      return until((answer) => answer.id === id && answer.method === undefined);
    },
    event: (type, count) => until(({ params }) => params?.type === type, count),
    request: (method) => until((frame) => frame.method === method && frame.id !== undefined),
    answer: ({ id }, result) => {
      const frame = { jsonrpc: '2.0', id, result };
      log.push({ t: performance.now(), dir: 'out', frame });
      socket.send(JSON.stringify(frame));
    },
  };
};

/** What the log shows, as turns. */
export const turnsOf = ({ log }: Client): readonly Turn[] => reduce(log).turns;

export const chat = async (client: Client): Promise<{ id: string; stored: string }> => {
  const created = await client.call('session.create', { cols: 80 });
  const id = String(created.result?.['session_id']);
  const title = await client.call('session.title', { session_id: id });
  return { id, stored: String(title.result?.['session_key']) };
};
