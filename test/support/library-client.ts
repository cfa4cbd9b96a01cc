import { WebSocket } from 'ws';

export interface Answer<T = Record<string, unknown>> {
  status: number;
  type: string;
  body: T;
}

export interface Row {
  id: string;
  name: string;
  provider: string;
  model: string;
  baseUrl: string;
  createdAt: number;
  contextLength?: number;
}

/** The calls of a client on one dashboard. */
export function libraryClient(url: string, token: string | null) {
  const call = async <T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Answer<T>> => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    const type = answer.headers.get('content-type') ?? '';
    return { status: answer.status, type, body: (type.includes('json') ? JSON.parse(text) : { text }) as T };
  };
  const path = '/api/model/library';
  return {
    call,
    list: (query = '') => call<{ models: Row[]; detail?: string }>('GET', path + query),
    add: (body: unknown, query = '') => call<Row & { detail?: string }>('POST', path + query, body),
    change: (id: string, body: unknown, query = '') =>
      call<{ ok?: boolean; model?: Row; detail?: string }>('PATCH', `${path}/${id}${query}`, body),
    remove: (id: string, query = '') =>
      call<{ ok?: boolean; detail?: string }>('DELETE', `${path}/${id}${query}`),
  };
}

/** Status of the upgrade of /api/ws: 101, or that of the refusal. */
export function upgradeStatus(url: string, token: string): Promise<number> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/ws?token=${encodeURIComponent(token)}`);
  return new Promise((resolve, reject) => {
    socket.once('open', () => {
      socket.terminate();
      resolve(101);
    });
    socket.once('unexpected-response', (_request, answer) => resolve(answer.statusCode ?? 0));
    socket.on('error', (error) => reject(error));
  });
}
