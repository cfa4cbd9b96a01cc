import { request } from 'node:http';
import type { Host } from '../host/types.ts';
import type { LaunchRecord } from '../launch/record.ts';

/** GET /api/model/library of a dashboard that `launch` started, as a client asks it. null: its token is not known. */
export async function libraryAnswers(
  host: Host,
  { host: bind, port, tokenFile }: LaunchRecord,
  signal: AbortSignal,
): Promise<boolean | null> {
  if (tokenFile === null) return null;
  const token = (await host.readFile(tokenFile, 4096)).toString('utf8').trim();
  const socket = await host.connect(bind, port, signal);
  try {
    return await new Promise<boolean>((resolve) => {
      const call = request({
        createConnection: () => socket,
        path: '/api/model/library',
        headers: {
          host: `${bind.includes(':') ? `[${bind}]` : bind}:${port}`,
          authorization: `Bearer ${token}`,
        },
        signal,
      });
      call.once('error', () => resolve(false));
      call.once('response', (answer) => {
        answer.resume();
        const type = answer.headers['content-type'] ?? '';
        answer.once('end', () => resolve(answer.statusCode === 200 && type.includes('json')));
      });
      call.end();
    });
  } finally {
    socket.destroy();
  }
}
