import { describe, expect, it } from 'vitest';
import { parseEngineArgv, redactArgv } from '../../src/engine/argv.ts';

const script = ['/v/bin/python', '/v/bin/hermes'];

describe('parseEngineArgv', () => {
  it.each([
    [[...script, 'dashboard'], { command: 'dashboard', port: null, host: null, profile: null }],
    [
      [...script, 'dashboard', '--no-open', '--host', '0.0.0.0', '--port', '9120'],
      { host: '0.0.0.0', port: 9120 },
    ],
    [[...script, 'serve', '--port=0', '--isolated'], { command: 'serve', port: 0, isolated: true }],
    [[...script, '-p', 'coder', 'dashboard'], { command: 'dashboard', profile: 'coder' }],
    [[...script, '--profile=coder', 'gateway', 'run'], { command: 'gateway', profile: 'coder' }],
    [
      ['/v/bin/python', '-m', 'hermes_cli.main', '-p', 'default', 'dashboard', '--open-profile', 'x'],
      { command: 'dashboard', profile: 'default', openProfile: 'x' },
    ],
    [
      ['/v/bin/python', '-I', '-c', 'import hermes_cli', 'dashboard', '--port', '1'],
      { command: 'dashboard', port: 1 },
    ],
    [['/v/bin/python', '-X', 'utf8', '-E', '/v/bin/hermes', 'dashboard'], { command: 'dashboard' }],
    [[...script, 'chat', 'dashboard'], { command: 'other' }],
    [[...script], { command: 'other' }],
    [['/v/bin/python'], { command: 'other' }],
    [[...script, 'dashboard', '--port', 'x'], { port: null }],
    [[...script, 'dashboard', '--port', '70000'], { port: null }],
    [[...script, 'dashboard', '-p', 'no:xdist'], { profile: null }],
    [[...script, 'dashboard', '--port'], { port: null }],
  ])('%j', (argv, expected) => expect(parseEngineArgv(argv)).toMatchObject(expected));
});

describe('redactArgv', () => {
  it.each([
    [
      ['--ssh-session-token', 'SECRET'],
      ['--ssh-session-token', '[redacted]'],
    ],
    [['--ssh-owner-nonce=SECRET'], ['--ssh-owner-nonce=[redacted]']],
    [
      ['--session-token-file', '/run/t'],
      ['--session-token-file', '/run/t'],
    ],
    [['HERMES_DASHBOARD_SESSION_TOKEN=SECRET'], ['HERMES_DASHBOARD_SESSION_TOKEN=[redacted]']],
    [['OPENAI_API_KEY=SECRET'], ['OPENAI_API_KEY=[redacted]']],
    [
      ['--password', 'SECRET', '--port', '1'],
      ['--password', '[redacted]', '--port', '1'],
    ],
    [['http://u:SECRET@h/?token=SECRET&a=1'], ['http://[redacted]@h/?token=[redacted]&a=1']],
    [['wss://h/api/ws?ticket=SECRET'], ['wss://h/api/ws?ticket=[redacted]']],
    [
      ['python', '-c', 'token = "SECRET"', 'dashboard'],
      ['python', '-c', '[code]', 'dashboard'],
    ],
    [
      ['dashboard', '--host', '127.0.0.1'],
      ['dashboard', '--host', '127.0.0.1'],
    ],
  ])('%j', (argv, expected) => {
    expect(redactArgv(argv)).toEqual(expected);
    expect(JSON.stringify(redactArgv(argv))).not.toContain('SECRET');
  });

  it('is bounded', () => expect(redactArgv(['x'.repeat(100_000)])[0]).toHaveLength(1000));
});
