import type { IncomingMessage, ServerResponse } from 'node:http';

/** One HTTP answer before it is sent. */
export interface Answer {
  status: number;
  type: string | null;
  body: string | Buffer;
  headers?: Record<string, string | string[]>;
}

export const json = (status: number, body: unknown, headers?: Answer['headers']): Answer => ({
  status,
  type: 'application/json',
  body: JSON.stringify(body),
  ...(headers && { headers }),
});

export const detail = (status: number, text: unknown): Answer => json(status, { detail: text });

export const text = (status: number, body: string): Answer => ({
  status,
  type: 'text/plain; charset=utf-8',
  body,
});

export const html = (status: number, body: string): Answer => ({
  status,
  type: 'text/html; charset=utf-8',
  body,
});

export const redirect = (location: string, headers: Record<string, string | string[]> = {}): Answer => ({
  status: 302,
  type: null,
  body: '',
  headers: { location, ...headers },
});

/** The engine's server names itself on every HTTP answer, in lower case, and lists no keep-alive header. */
export const send = (request: IncomingMessage, response: ServerResponse, answer: Answer): void => {
  const body = Buffer.from(answer.body);
  response.statusCode = answer.status;
  response.setHeader('server', 'uvicorn');
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  response.setHeader('content-length', body.length);
  if (answer.type !== null) response.setHeader('content-type', answer.type);
  if (/\bclose\b/i.test(request.headers.connection ?? '')) response.setHeader('connection', 'close');
  else response.removeHeader('connection');
  response.end(request.method === 'HEAD' ? undefined : body);
};
