import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { startSimulator } from '../../src/simulate/index.ts';
import { runCli } from '../support/cli.ts';

// What people give from afar that is almost right, and what they read then.

const open: { close: () => unknown }[] = [];
afterAll(() => Promise.all(open.map((each) => each.close())));

function listening(server: Server): Promise<string> {
  open.push(server);
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}

const doctor = async (args: string[]): Promise<string> => {
  const result = await runCli(['doctor', '--client', 'minimal', ...args], {
    env: { HERMES_COMPAT_TOKEN: 'CANARY-token-0123456789' },
  });
  expect(result.stdout + result.stderr).not.toContain('CANARY');
  expect(result.code).toBe(3);
  return result.stdout.replaceAll(/\s+/g, ' ');
};

test('http to a port that speaks TLS and just closes', async () => {
  const pem = readFileSync(new URL('../support/certs/site.pem', import.meta.url), 'utf8');
  const said = await doctor([`http://${await listening(createSecureServer({ key: pem, cert: pem }))}`]);
  expect(said).toContain('✗ HTTP_TO_TLS likely');
  expect(said).toContain('hermes.example');
});

test('the address of a page or an endpoint, taken from somewhere, and the wrong mode', async () => {
  const engine = await startSimulator({ release: '0.19.0', token: 'CANARY-token-0123456789' });
  open.push(engine);
  const pasted = await doctor([`${engine.url}/api/status`]);
  expect(pasted).toContain(`✗ WRONG_PATH certain`);
  expect(pasted).toContain(`Use ${engine.url}.`);
  const legacy = await doctor([engine.url, '--mode', 'legacy']);
  expect(legacy).toContain(`A Hermes dashboard answers at ${engine.url}, not the gateway’s API server.`);
  expect(legacy).toContain('Leave --mode legacy out');
});

test('a gate that answers 401 to everything, and a challenge for browsers', async () => {
  const all401 = createServer((_, response) => {
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"detail":"Unauthorized"}');
  });
  expect(await doctor([`http://${await listening(all401)}/hermes`])).toContain('✗ EDGE_REFUSES_HTTP certain');
  const challenge = createServer((_, response) => {
    response
      .writeHead(403, { 'cf-ray': '8a1', 'content-type': 'text/html' })
      .end('<title>Just a moment...</title>');
  });
  const said = await doctor([`http://${await listening(challenge)}`]);
  expect(said).toContain('Let /api/ (and /auth/) skip the challenge by a rule of Cloudflare');
});
