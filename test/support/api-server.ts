import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ApiServerStub {
  url: string;
  /** `POST /v1/chat/completions` and the like, in order. */
  log: string[];
  bodies: unknown[];
  close: () => Promise<void>;
}

/** An API server in the shapes of 0.19, which says one word to each prompt. For what needs no engine: refusals, streams that are cut. */
export async function startApiServer(key: string, cutAfter: number = Infinity): Promise<ApiServerStub> {
  const log: string[] = [];
  const bodies: unknown[] = [];
  const rows = new Map<string, { role: string; content: string }[]>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    log.push(`${request.method} ${path}`);
    const json = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (path === '/health') return json(200, { status: 'ok', platform: 'hermes-agent', version: '0.19.0' });
    if (request.headers.authorization !== `Bearer ${key}`)
      return json(401, { error: { message: 'Invalid API key', type: 'invalid_request_error' } });
    if (path === '/v1/capabilities')
      return json(200, { endpoints: { session_messages: {}, session_delete: {} } });
    const id = /^\/api\/sessions\/([^/]+)/.exec(path)?.[1];
    if (id !== undefined && request.method === 'DELETE') {
      rows.delete(id);
      return json(200, { object: 'hermes.session.deleted', deleted: true });
    }
    const data = rows.get(id ?? '');
    if (id !== undefined)
      return data === undefined ? json(404, {}) : json(200, { object: 'list', session_id: id, data });
    if (path !== '/v1/chat/completions') return json(404, {});
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { messages } = JSON.parse(body) as { messages: { role: string; content: string }[] };
      bodies.push(JSON.parse(body));
      const session = String(request.headers['x-hermes-session-id']);
      const prompt = messages.at(-1)?.content ?? '';
      rows.set(session, [
        ...(rows.get(session) ?? []),
        { role: 'user', content: prompt },
        { role: 'assistant', content: 'ready now' },
      ]);
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-hermes-session-id': session });
      const chunk = (delta: object, finish: string | null): string =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
      const stream = [
        chunk({ role: 'assistant' }, null),
        ': keepalive\n\n',
        chunk({ content: 'ready' }, null),
        chunk({ content: ' now' }, null),
        chunk({}, 'stop'),
        'data: [DONE]\n\n',
      ];
      response.write(stream.slice(0, cutAfter).join(''));
      if (cutAfter < stream.length) setTimeout(() => response.destroy(), 50);
      else response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    log,
    bodies,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
