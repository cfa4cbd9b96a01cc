import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Report } from '../../src/judge/schema.ts';
import { startSimulator } from '../../src/simulate/index.ts';
import {
  bytes,
  canary,
  closeAll,
  hermes,
  type Hermes,
  type Listening,
  raw,
  status,
} from '../probe/servers.ts';
import { document, runCli } from '../support/cli.ts';

// Nothing secret goes where nobody sent it: not after a redirect, by HTTP or by WebSocket, and not to a service that is not a Hermes.

const headerSecret = 'CANARY-header-of-the-edge-0123';
const password = 'CANARY-password-0123456789';

/** Another origin that keeps every byte that it gets, and answers as a Hermes would, so that a follower would go on. */
interface Recorder extends Listening {
  heard: () => string;
}

async function recorder(): Promise<Recorder> {
  let heard = '';
  const listening = await raw((socket: Socket) => {
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString('latin1');
      const body = JSON.stringify(status);
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    });
  });
  return Object.assign(listening, { heard: () => heard });
}

let folder: string;
let other: Recorder;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'no-leak-'));
  await writeFile(join(folder, 'headers'), `X-Edge-Secret: ${headerSecret}\n`);
  other = await recorder();
});
afterEach(async () => {
  await closeAll();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

async function check(url: string, args: string[] = []): Promise<Report> {
  const result = await runCli(
    [
      'doctor',
      url,
      '--client',
      'hermes-desktop',
      '--json',
      '--timeout',
      '20',
      '--header-file',
      join(folder, 'headers'),
      ...args,
    ],
    {
      env: {
        ...(args.includes('--username') ? {} : { HERMES_COMPAT_TOKEN: canary }),
        THE_PASSWORD: password,
      },
    },
  );
  expect(`${result.stdout}${result.stderr}`).not.toContain('CANARY');
  return document<Report>(result);
}

const codes = (report: Report): string[] => report.findings.map(({ code }) => code);

/** What a server was told that a stranger may not know. */
const secretsIn = (listening: Listening): string[] =>
  listening.seen.flatMap((each) => {
    const text = JSON.stringify(each);
    return [canary, encodeURIComponent(canary), password].filter((secret) => text.includes(secret));
  });

describe('a redirect to another origin', () => {
  test.each([301, 302, 303, 307, 308])(
    '%i from the first question on: nobody follows, and no token was sent before',
    async (code) => {
      const to = (path: string) => ({ status: code, headers: { location: `${other.url}${path}` } });
      const routes = Object.fromEntries(
        ['/api/status', '/', '/health', '/api/sessions', '/api/ws'].map((path) => [path, to(path)]),
      );
      const here = await hermes({ routes });
      expect(codes(await check(here.url))).toEqual(['EDGE_LOGIN']);
      expect(secretsIn(here)).toEqual([]);
      expect(other.heard()).toBe('');
    },
  );

  const later: Hermes['routes'] = {};
  test.each([
    ['of the protected reads', { ...later, '/api/sessions': 307, '/api/model/options': 302 }],
    ['of the page and its script', { ...later, '/': 302 }],
    ['of the public reads', { ...later, '/api/health': 308, '/openapi.json': 301 }],
  ])('%s only, after a Hermes has named itself', async (_, given) => {
    const routes = Object.fromEntries(
      Object.entries(given as Record<string, number>).map(([path, code]) => [
        path,
        { status: code, headers: { location: `${other.url}${path}?token=${canary}` } },
      ]),
    );
    await check((await hermes({ routes })).url);
    expect(other.heard()).toBe('');
  });

  test('of the WebSocket only', async () => {
    const here = await hermes({
      upgrade: (request, socket) =>
        socket.end(
          `HTTP/1.1 302 Found\r\nLocation: ws://127.0.0.1:${other.port}${request.url ?? ''}\r\nContent-Length: 0\r\n\r\n`,
        ),
    });
    expect(codes(await check(here.url))).toContain('EDGE_REFUSES_WS');
    expect(other.heard()).toBe('');
  });

  test('of a login, of its ticket, and a page whose script is elsewhere', async () => {
    for (const [path, code] of [
      ['/auth/password-login', 307],
      ['/api/auth/ws-ticket', 307],
      ['/api/auth/providers', 302],
    ] as const) {
      const here = await hermes({
        routes: {
          '/api/status': { body: { ...status, auth_required: true, auth_providers: ['basic'] } },
          '/auth/password-login': {
            headers: { 'set-cookie': `hermes_session_at=${canary}; Path=/` },
            body: { ok: true },
          },
          [path]: { status: code, headers: { location: `${other.url}${path}` } },
        },
      });
      await check(here.url, ['--username', 'ann', '--password-env', 'THE_PASSWORD']);
      expect(other.heard()).toBe('');
    }
    const page = `<html><script>window.__HERMES_SESSION_TOKEN__="x";</script><script src="${other.url}/app.js"></script></html>`;
    await check(
      (await hermes({ routes: { '/': { headers: { 'content-type': 'text/html' }, body: page } } })).url,
    );
    expect(other.heard()).toBe('');
  });

  test('a redirect inside the same origin is not followed with it either', async () => {
    const here = await hermes({
      routes: {
        '/api/status': { status: 302, headers: { location: '/hermes/api/status' } },
        '/hermes/api/status': { body: status },
      },
    });
    await check(here.url);
    expect(secretsIn(here)).toEqual([]);
    expect(here.seen.map(({ url }) => url)).not.toContain('/hermes/api/status');
  });
});

describe('a service that is no Hermes', () => {
  test.each([
    ['a login page', 'login-page'],
    ['another product', 'html-everywhere'],
    ['another product with JSON', 'other-service'],
    ['the API server', 'api-server'],
    ['basic authentication', 'basic-auth'],
    ['a failing upstream', 'bad-gateway'],
  ])('%s is asked bare questions only', async (_, fault) => {
    const stranger = await startSimulator({
      release: '0.19.0',
      faults: [fault],
      token: 'another-token-0123456789',
    });
    const heard = await listenInFront(stranger.port);
    const report = await check(heard.url);
    await stranger.close();
    expect(report.verdict).toBe('unknown');
    expect(heard.text()).toContain('GET /api/status HTTP/1.1');
    expect(heard.text()).not.toContain('Upgrade: websocket');
    for (const secret of [canary, encodeURIComponent(canary)]) expect(heard.text()).not.toContain(secret);
    // The headers of the file are meant for whoever stands in front of the named address, and go there.
    expect(heard.text()).toContain(headerSecret);
  });

  test.each([
    ['silence in another protocol', 'SSH-2.0-OpenSSH_9.2p1\r\n'],
    [
      'a Hermes that says it is one, broken',
      'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n{"version":"0.19.0","release_date":"x"',
    ],
  ])('%s', async (_, answer) => {
    const stranger = await bytes(answer);
    const heard = await listenInFront(stranger.port);
    await check(heard.url);
    expect(heard.text()).not.toContain(canary);
  });

  test('in legacy mode the key goes to what calls itself the API server, and nowhere else', async () => {
    const stranger = await startSimulator({ release: '0.19.0', faults: ['html-everywhere'] });
    const heard = await listenInFront(stranger.port);
    await check(heard.url, ['--mode', 'legacy']);
    await stranger.close();
    expect(heard.text()).not.toContain(canary);
    const elsewhere = await hermes({
      routes: { '/health': { status: 302, headers: { location: `${other.url}/health` } } },
    });
    await check(elsewhere.url, ['--mode', 'legacy']);
    expect(secretsIn(elsewhere)).toEqual([]);
    expect(other.heard()).toBe('');
  });
});

/** Hears every byte on the way to a port. */
async function listenInFront(port: number): Promise<{ url: string; text: () => string }> {
  const { connect } = await import('node:net');
  let text = '';
  const { url } = await raw((client) => {
    const upstream = connect(port, '127.0.0.1');
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
    client
      .on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
      .on('close', () => upstream.destroy());
    client.pipe(upstream).pipe(client);
  });
  return { url, text: () => text };
}
