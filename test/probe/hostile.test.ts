import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { closeAll, gateway, hermes, type Listening, look, raw, ready } from './servers.ts';

afterEach(closeAll);

describe('whatever a server says', () => {
  it('bytes', async () => {
    const heads = fc.constantFrom(
      '',
      'HTTP/1.1 200 OK\r\n',
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n',
      'HTTP/1.1 101 X\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
    );
    await fc.assert(
      fc.asyncProperty(heads, fc.uint8Array({ maxLength: 300 }), async (head, tail) => {
        const { url } = await raw((socket) => {
          socket.once('data', () => socket.end(Buffer.concat([Buffer.from(head), tail])));
        });
        const { facts } = await look(url, { timeoutMs: 1000 });
        expect(facts.status).toBeNull();
        await closeAll();
      }),
      { numRuns: 60 },
    );
  }, 120_000);

  it('documents', async () => {
    const anything = fc.json({ maxDepth: 4 });
    await fc.assert(
      fc.asyncProperty(
        fc.record({ status: anything, other: anything, frame: anything, named: fc.boolean() }),
        async (said) => {
          const reply = (body: string) => ({ headers: { 'content-type': 'application/json' }, body });
          const fields = said.named
            ? `{"version":"0.19.0","auth_required":${said.status.length % 2 === 0},"hermes_home":${said.status}}`
            : said.status;
          const { url } = await hermes({
            routes: {
              '/api/status': reply(fields),
              '/': {
                headers: { 'content-type': 'text/html' },
                body: `<html>__HERMES_SESSION_TOKEN__=${said.other}</html>`,
              },
              '/api/sessions': reply(said.other),
              '/api/auth/providers': reply(said.other),
              '/auth/password-login': reply(said.other),
              '/api/auth/ws-ticket': reply(said.other),
              '/api/model/options': reply(said.other),
              '/openapi.json': reply(said.other),
            },
            accepts: () => true,
            socket: (socket) => {
              socket.send(said.frame);
              gateway({ contract: said.frame })(socket);
            },
          });
          await look(url, { timeoutMs: 1500, credential: null });
          await closeAll();
        },
      ),
      { numRuns: 40 },
    );
  }, 120_000);
});

/** The built probe in a process of its own, so that its memory can be measured. */
describe('memory', () => {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  let built = '';
  beforeAll(() => {
    // Inside the clone, so that the compiled files find their packages.
    built = mkdtempSync(join(root, 'node_modules', '.probe-memory-'));
    execFileSync(
      process.execPath,
      [
        join(root, 'node_modules/typescript/bin/tsc'),
        '-p',
        'tsconfig.build.json',
        '--outDir',
        join(built, 'dist'),
        '--declaration',
        'false',
      ],
      { cwd: root },
    );
    writeFileSync(
      join(built, 'measure.mjs'),
      `import { probe } from './dist/probe/probe.js';
const needs = { sessionMessages: true, modelOptions: true, modelLibrary: true, modelSet: true, asset: true, contract: true, sessionProbe: 'auto', console: false };
const { facts } = await probe({ url: process.argv[2], origin: null, mode: 'auto', patience: 'normal', timeoutMs: 20000, needs,
  credential: { kind: 'token', source: 'env', secret: 'CANARY-b7Jw0yS2_t0ken.value+1', username: null, fingerprint: 'x' } });
process.stdout.write(JSON.stringify({ facts, mb: process.resourceUsage().maxRSS / 1024 }));\n`,
    );
    writeFileSync(join(built, 'package.json'), '{"type":"module"}');
  });
  afterAll(() => rmSync(built, { recursive: true, force: true }));

  const measure = (
    url: string,
  ): Promise<{
    mb: number;
    facts: {
      ws: { firstFrame: { bytes: number } | null; error: { code: string } | null }[];
      http: { body: { problem: string | null; keys: string[] } | null }[];
    };
  }> =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [join(built, 'measure.mjs'), url], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let out = '';
      child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
      child.once('close', (code) =>
        code === 0 ? resolve(JSON.parse(out)) : reject(new Error(`exit ${code}`)),
      );
    });

  const pump = (
    socket: { write(chunk: Buffer): boolean; destroyed: boolean; on(name: 'drain', then: () => void): void },
    chunk: Buffer,
  ): void => {
    const more = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', more);
    more();
  };

  it('a page of 5 GB, and every other body too', async () => {
    const listening: Listening = await raw((socket) => {
      socket.once('data', (data) => {
        const isStatus = data.toString().startsWith('GET /api/status');
        const body = JSON.stringify({ version: '0.19.0', auth_required: false, config_version: 1 });
        if (isStatus)
          return void socket.end(
            `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
          );
        socket.write(
          'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5368709120\r\n\r\n{"a":"',
        );
        pump(socket, Buffer.alloc(262_144, 'x'));
      });
    });
    const { mb, facts } = await measure(listening.url);
    expect(facts.http.filter(({ body }) => body?.problem === 'too-large').length).toBeGreaterThan(5);
    expect(mb).toBeLessThan(200);
  });

  it.each([
    ['more objects than any answer has', 1_390_000, 0, 'too-large'],
    ['as many objects as are taken', 53_000, 3_900_000, null],
  ])('documents of 4 MiB with %s', async (_, objects, padding, problem) => {
    const many = `{"x":[{}${',{}'.repeat(objects)}],"y":"${'z'.repeat(padding)}"}`;
    const body = { headers: { 'content-type': 'application/json' }, body: many };
    const paths = ['health', 'sessions', 'model/options', 'model/library'];
    const { url } = await hermes({
      routes: {
        ...Object.fromEntries(paths.map((path) => [`/api/${path}`, body])),
        '/openapi.json': body,
        '/api/sessions/hermes-compat-no-such-session/messages': body,
      },
    });
    const { mb, facts } = await measure(url);
    expect(
      facts.http.filter(
        ({ body: seen }) => seen?.keys.join() === (problem === null ? 'x,y' : '') && seen.problem === problem,
      ).length,
    ).toBeGreaterThan(5);
    expect(mb).toBeLessThan(200);
  });

  it('a frame of 100 MB, and frames of 64 MiB one after the other', async () => {
    const { url } = await hermes({
      socket: (socket) => socket.send(Buffer.alloc(100_000_000, 'x'), { binary: false }),
    });
    const first = await measure(url);
    expect(first.facts.ws[0]?.error?.code).toBe('WS_ERR_UNSUPPORTED_MESSAGE_LENGTH');
    expect(first.mb).toBeLessThan(200);

    const many = await hermes({
      socket: (socket) => {
        const big = Buffer.alloc(64 * 1024 * 1024, 'x');
        socket.send(big, { binary: false });
        socket.send(big, { binary: false });
        socket.send(ready);
        gateway()(socket);
      },
    });
    const second = await measure(many.url);
    expect(second.facts.ws[0]?.firstFrame?.bytes).toBe(64 * 1024 * 1024);
    expect(second.mb).toBeLessThan(200);
  });
});
