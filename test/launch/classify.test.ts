import { describe, expect, test } from 'vitest';

import { classifyStart, lastLines } from '../../src/launch/classify.ts';

const exited = (exitCode: number | null, ...tail: string[]) =>
  classifyStart(
    {
      outcome: 'exited',
      port: 9119,
      status: null,
      exitCode,
      holder: { pid: 41, command: 'nginx' },
      tail,
      seconds: 1,
    },
    '/home/ann/.hermes',
  );

// Lines as the releases print them.
describe('why an engine ended', () => {
  test.each([
    [
      '0.15.2',
      1,
      [
        '    from hermes_cli.dashboard_auth.middleware import (',
        "ModuleNotFoundError: No module named 'hermes_cli.dashboard_auth'",
      ],
      { code: 'ENGINE_BROKEN_PACKAGE', args: { module: 'hermes_cli.dashboard_auth' } },
    ],
    [
      'no fastapi',
      1,
      [
        'Web UI dependencies not installed (need fastapi + uvicorn).',
        "Import error: No module named 'fastapi'",
      ],
      { code: 'ENGINE_BROKEN_PACKAGE', args: { module: 'fastapi' } },
    ],
    [
      'half an update',
      1,
      [
        "ImportError: cannot import name 'should_require_auth' from 'hermes_cli.web_auth' (/x/hermes_cli/web_auth.py)",
      ],
      { code: 'ENGINE_BROKEN_PACKAGE', args: { module: 'hermes_cli.web_auth' } },
    ],
    [
      'up to 0.19',
      3,
      [
        "ERROR:    [Errno 98] error while attempting to bind on address ('127.0.0.1', 9119): address already in use",
        '  Hermes Web UI → http://127.0.0.1:9119',
      ],
      { code: 'PORT_IN_USE', args: { port: 9119, pid: 41, holder: 'process 41 (nginx)' } },
    ],
    [
      '0.22',
      75,
      [
        'BACKEND_PORT_IN_USE port=9119',
        '  Port 9119 on 127.0.0.1 is already in use — likely another backend.',
      ],
      { code: 'PORT_IN_USE', args: { port: 9119, pid: 41, holder: 'process 41 (nginx)' } },
    ],
    [
      '0.22, line lost',
      75,
      [],
      { code: 'PORT_IN_USE', args: { port: 9119, pid: 41, holder: 'process 41 (nginx)' } },
    ],
    [
      'a named profile from 0.17 on',
      0,
      [
        'Machine dashboard already running on port 9119.',
        "  Managing profile 'coder': http://127.0.0.1:9119/?profile=coder",
      ],
      { code: 'PORT_IN_USE', args: { port: 9119, pid: 41, holder: 'process 41 (nginx)' } },
    ],
    [
      '0.14 beyond loopback',
      1,
      [
        'Refusing to bind to 0.0.0.0 — the dashboard exposes API keys and config without robust authentication.',
        'Use --insecure to override (NOT recommended on untrusted networks).',
      ],
      { code: 'BIND_REFUSED', args: { host: '0.0.0.0', reason: 'guard' } },
    ],
    [
      '0.19 beyond loopback',
      1,
      [
        'Refusing to bind dashboard to :: — the auth gate engages on non-loopback binds, but no auth providers are registered.',
      ],
      { code: 'BIND_REFUSED', args: { host: '::', reason: 'guard' } },
    ],
    [
      'an address of another machine',
      3,
      [
        "ERROR:    [Errno 99] error while attempting to bind on address ('192.0.2.7', 9119): cannot assign requested address",
      ],
      { code: 'BIND_REFUSED', args: { host: '192.0.2.7', reason: 'no-such-address' } },
    ],
    [
      'a port for root',
      3,
      ["ERROR:    [Errno 13] error while attempting to bind on address ('127.0.0.1', 80): permission denied"],
      { code: 'BIND_REFUSED', args: { host: '127.0.0.1', reason: 'permission' } },
    ],
    [
      'a name without address',
      3,
      ['ERROR:    [Errno -2] Name or service not known'],
      { code: 'BIND_REFUSED', args: { host: null, reason: 'no-such-name' } },
    ],
    [
      '0.16 and --tui',
      2,
      ['usage: hermes [-h] [--version] [-z PROMPT]', 'hermes: error: unrecognized arguments: --tui'],
      { code: 'FLAG_UNSUPPORTED', args: { flag: '--tui' } },
    ],
    [
      'no dashboard command',
      2,
      ["hermes: error: argument command: invalid choice: 'dashboard' (choose from 'chat', 'model')"],
      { code: 'FLAG_UNSUPPORTED', args: { flag: 'dashboard' } },
    ],
    [
      'a checkout without npm',
      1,
      [
        'Web UI frontend not built and npm is not available.',
        'Install Node.js, then run:  cd web && npm install && npm run build',
      ],
      { code: 'WEB_BUILD_MISSING', args: { path: null } },
    ],
    [
      'HERMES_WEB_DIST leads nowhere',
      1,
      ['✗ HERMES_WEB_DIST is set but no web dist found at: /srv/dist', '  Or unset HERMES_WEB_DIST'],
      { code: 'WEB_BUILD_MISSING', args: { path: '/srv/dist' } },
    ],
    [
      'a read-only mount',
      1,
      ["OSError: [Errno 30] Read-only file system: '/home/ann/.hermes/cron'"],
      { code: 'HOME_READ_ONLY', args: { path: '/home/ann/.hermes/cron' } },
    ],
    [
      '0.22, home of another user',
      1,
      [
        'hermes: install state is not writable by this user (/home/ann/.hermes/installs/73a9/.repair-incomplete); run as the install owner',
      ],
      { code: 'HOME_READ_ONLY', args: { path: '/home/ann/.hermes/installs/73a9/.repair-incomplete' } },
    ],
    [
      '.env of another user',
      1,
      [
        '    return os.stat(self, follow_symlinks=follow_symlinks)',
        "PermissionError: [Errno 13] Permission denied: '/home/ann/.hermes/.env'",
      ],
      { code: 'HOME_UNREADABLE', args: { path: '/home/ann/.hermes/.env' } },
    ],
    [
      'home that cannot be written',
      1,
      ['    os.mkdir(self, mode)', "PermissionError: [Errno 13] Permission denied: '/home/ann/.hermes/cron'"],
      { code: 'HOME_READ_ONLY', args: { path: '/home/ann/.hermes/cron' } },
    ],
    [
      'a file elsewhere that cannot be read',
      1,
      ["PermissionError: [Errno 13] Permission denied: '/etc/shadow'"],
      { code: 'ENGINE_DIED', args: { exit: 1 } },
    ],
    [
      'a crash',
      -11,
      ['Fatal Python error: Segmentation fault'],
      { code: 'ENGINE_DIED', args: { exit: -11 } },
    ],
    ['nothing at all', 0, [], { code: 'ENGINE_DIED', args: { exit: 0 } }],
  ])('%s', (_name, exitCode, tail, expected) => {
    expect(exited(exitCode, ...tail)).toMatchObject(expected);
  });

  test('an engine that answers with errors', () => {
    const result = {
      outcome: 'unhealthy',
      port: 1,
      status: 500,
      exitCode: -15,
      holder: null,
      seconds: 6,
    } as const;
    expect(classifyStart({ ...result, tail: [] }, '/h')).toMatchObject({
      code: 'ENGINE_ERROR',
      args: { status: 500 },
    });
    const tail = ["PermissionError: [Errno 13] Permission denied: '/h/config.yaml'"];
    expect(classifyStart({ ...result, tail }, '/h')).toMatchObject({ code: 'HOME_UNREADABLE' });
  });

  test('the evidence is safe to show: no control characters, bounded', () => {
    const lines = lastLines([
      '\u001b[31mred\u0007',
      '',
      '   ^^^^',
      'x'.repeat(1000),
      ...Array<string>(40).fill('more'),
    ]);
    expect(lines).toHaveLength(12);
    expect(lastLines(['\u001b[31mred\u0007\u202e'])).toEqual([' [31mred']);
    expect(lastLines(['x'.repeat(1000)])[0]).toHaveLength(300);
  });
});
