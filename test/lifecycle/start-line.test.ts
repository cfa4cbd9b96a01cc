import { expect, test } from 'vitest';
import type { EngineProcess } from '../../src/engine/schema.ts';
import { startAgainOf } from '../../src/lifecycle/update/processes.ts';

const install = '/opt/hermes agent';
const program = ['/opt/hermes agent/venv/bin/python', '/opt/hermes agent/venv/bin/hermes'];

const running = (over: Partial<EngineProcess> = {}): EngineProcess =>
  ({
    pid: 7,
    install,
    command: 'dashboard',
    argv: ['python3', './hermes', 'dashboard', '--no-open', '--port', '9130'],
    port: 9130,
    hermesHome: '/home/u/my home',
    env: { tui: null, webDist: null, sessionToken: 'sha256:abc', readable: true },
    ...over,
  }) as EngineProcess;

const local = { kind: 'local', name: 'local' };
const again = (over: Partial<EngineProcess> = {}, by = program) => startAgainOf(running(over), by, local);

test('with its own home and settings, by absolute paths, and never its token', () => {
  expect(again()).toEqual([
    'env',
    'HERMES_HOME=/home/u/my home',
    ...program,
    'dashboard',
    '--no-open',
    '--port',
    '9130',
  ]);
  const env = { tui: '1', webDist: '/srv/web', sessionToken: null, readable: true };
  expect(again({ env })?.slice(1, 4)).toEqual([
    'HERMES_HOME=/home/u/my home',
    'HERMES_DASHBOARD_TUI=1',
    'HERMES_WEB_DIST=/srv/web',
  ]);
});

test('a profile is found from the root home by its word', () => {
  const argv = ['/p', '/h', '-p', 'coder', 'serve'];
  const given = again({ argv, command: 'serve', hermesHome: '/home/u/.hermes/profiles/coder' });
  expect(given).toEqual(['env', 'HERMES_HOME=/home/u/.hermes', ...program, '-p', 'coder', 'serve']);
});

test('of an install that is not known its own absolute words', () => {
  const argv = ['/x/bin/python', '/x/bin/hermes', 'dashboard'];
  expect(again({ argv }, argv.slice(0, 2))).toEqual(['env', 'HERMES_HOME=/home/u/my home', ...argv]);
});

test.each([
  ['an environment that cannot be read', { env: { ...running().env, readable: false } }],
  ['a hidden word', { argv: ['/p', '/h', 'dashboard', '--token', '[redacted]'] }],
  ['a word that was cut', { argv: ['/p', '/h', 'dashboard', 'x'.repeat(1000)] }],
])('%s: our launch, with its home and port', (_name, over) => {
  expect(again(over)).toEqual([
    'hermes-compat',
    'launch',
    'local:/opt/hermes agent',
    '--home',
    '/home/u/my home',
    '--port',
    '9130',
  ]);
  expect(again({ ...over, command: 'serve' })).toBeNull();
});
