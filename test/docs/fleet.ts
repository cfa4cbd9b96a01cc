import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { startSimulator } from '../../src/simulate/index.ts';
import { connectProxy } from '../support/connect-proxy.ts';
import { root } from './markdown.ts';

/**
 * The machines that docs/ci.md and docs/remote.md speak of, as stand-ins on loopback: names below .example are reached through a
 * CONNECT proxy, https ones by a TLS front with an authority of its own.
 */
export interface Fleet {
  folder: string;
  env: Record<string, string>;
  close(): Promise<void>;
}

const token = 'CANARY-token-of-the-pages-0123';
const password = 'CANARY-password-of-the-pages';
const apiKey = 'CANARY-key-of-the-pages-0123';

export async function startFleet(): Promise<Fleet> {
  const folder = await mkdtemp(join(tmpdir(), 'pages-'));
  const [hermes, studio, team] = await Promise.all([
    startSimulator({ release: '0.19.0', token, library: true }),
    startSimulator({ release: '0.19.0', token, prefix: '/hermes' }),
    startSimulator({ release: '0.22.2', gated: { username: 'ci', password } }),
  ]);
  const ports: Record<string, number> = {
    'hermes.example': hermes.port,
    'studio.example': studio.port,
    'team.example': team.port,
  };
  const pem = certificates(folder);
  const front = listening(createSecureServer(pem, forward(ports)), ports);
  const gateway = createServer(apiServer).listen(0, '127.0.0.1');
  const proxy = await connectProxy((authority) => portOf(authority.startsWith('gateway.') ? gateway : front));
  await files(folder);
  return {
    folder,
    env: {
      PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`,
      HOME: folder,
      NO_COLOR: '1',
      HTTPS_PROXY: proxy.url,
      HTTP_PROXY: proxy.url,
      NODE_EXTRA_CA_CERTS: join(folder, 'company-ca.pem'),
      HERMES_FLEET_TOKEN: token,
      HERMES_TEAM_PASSWORD: password,
    },
    close: async () => {
      for (const server of [front, gateway]) {
        server.close();
        server.closeAllConnections();
      }
      await Promise.all([hermes.close(), studio.close(), team.close(), proxy.close()]);
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** What a person has beside the files that the pages show. */
async function files(folder: string): Promise<void> {
  await mkdir(join(folder, 'bin'));
  await mkdir(join(folder, 'secrets'));
  await writeFile(join(folder, '.hermes-token'), `${token}\n`);
  await writeFile(join(folder, 'secrets', 'api-server-key'), `${apiKey}\n`);
  const program = join(folder, 'bin', 'hermes-compat');
  await writeFile(
    program,
    `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'bin/hermes-compat.js')}' "$@"\n`,
  );
  await chmod(program, 0o755);
}

function certificates(folder: string): { key: string; cert: string } {
  const openssl = (words: string): void => {
    execFileSync('openssl', words.split(' '), { cwd: folder, stdio: 'ignore' });
  };
  const make = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2';
  openssl(`${make} -subj /CN=Company-CA -keyout ca.key -out company-ca.pem`);
  const names =
    '-subj /CN=fleet -addext subjectAltName=DNS:hermes.example,DNS:studio.example,DNS:team.example';
  openssl(
    `${make} -CA company-ca.pem -CAkey ca.key ${names} -addext basicConstraints=critical,CA:FALSE -keyout site.key -out site.pem`,
  );
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  return { key: read('site.key'), cert: read('site.pem') };
}

type Ports = Record<string, number>;

const heading = (
  message: IncomingMessage,
  ports: Ports,
): { port: number; headers: Record<string, string> } => {
  const port = ports[message.headers.host ?? ''] ?? 0;
  const headers = Object.fromEntries(
    Object.entries(message.headers).map(([name, value]) => [name, String(value)]),
  );
  return { port, headers: { ...headers, host: `127.0.0.1:${port}`, 'x-forwarded-proto': 'https' } };
};

const forward =
  (ports: Ports): RequestListener =>
  (message, response) => {
    const { port, headers } = heading(message, ports);
    const onward = request(
      { port, host: '127.0.0.1', path: message.url, method: message.method, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.writeHead(502).end());
    message.pipe(onward);
  };

function listening(server: Server, ports: Ports): Server {
  server.on('upgrade', (message: IncomingMessage, socket: Duplex) => {
    const { port, headers } = heading(message, ports);
    const upstream = connect(port, '127.0.0.1');
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    upstream.write(`GET ${message.url ?? '/'} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    for (const each of [socket, upstream]) each.on('error', () => each.destroy());
    socket.pipe(upstream).pipe(socket);
    socket.on('close', () => upstream.destroy());
  });
  return server.listen(0, '127.0.0.1');
}

/** The gateway's API server: its health names it, its models want the key. */
const apiServer: RequestListener = (message, response) => {
  const isAllowed = message.headers.authorization === `Bearer ${apiKey}`;
  const [status, body] =
    message.url === '/health'
      ? [200, { status: 'ok', platform: 'hermes-agent', version: '0.19.0' }]
      : message.url !== '/v1/models'
        ? [404, { error: 'not found' }]
        : isAllowed
          ? [200, { object: 'list', data: [] }]
          : [401, { error: { code: 'invalid_api_key' } }];
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
