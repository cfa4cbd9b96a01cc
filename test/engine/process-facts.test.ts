import { describe, expect, it } from 'vitest';
import { hostClock, startTicks } from '../../src/engine/clock.ts';
import { parseLedger, readyPort } from '../../src/engine/ledger.ts';
import { parseListeners, parseLsof, socketInodes } from '../../src/engine/listeners.ts';
import { ownerOf } from '../../src/engine/process-owner.ts';
import { psLine } from '../../src/engine/ps-line.ts';

describe('hostClock', () => {
  it('takes the finer uptime where it agrees with btime', () => {
    const clock = hostClock('1796055740.797761302', '1533.45', '1796054207');
    expect(clock.toleranceMs).toBe(100);
    expect(clock.startMs('114023')).toBe(Math.round((1796055740.797761 - 1533.45 + 1140.23) * 1000));
  });

  it.each([
    ['an uptime of its own in a container', '1796055740.79', '12.5', '1796054207'],
    ['a clock of whole seconds', '1796055740', '1533.45', '1796054207'],
  ])('falls back to btime: %s', (_, now, uptime, boot) => {
    const clock = hostClock(now, uptime, boot);
    expect(clock.startMs('100')).toBe(1796054208_000);
    expect(clock.toleranceMs).toBeGreaterThan(1000);
  });

  it('says null where the host does not tell', () => {
    expect(hostClock('1796055740', '', '').startMs('1')).toBeNull();
    expect(hostClock('1796055740.5', '1', '').startMs(null)).toBeNull();
  });
});

it('startTicks reads behind a name with blanks and parentheses', () => {
  const rest = 'S 1 2 3 0 -1 4194560 15834 0 0 0 194 13 0 0 20 0 6 0 114023 262672384';
  expect(startTicks(`7 (python) ${rest}`)).toBe('114023');
  expect(startTicks(`7 (a) b (c) ${rest}`)).toBe('114023');
  expect(startTicks('')).toBeNull();
});

describe('sockets', () => {
  const line = (address: string, state = '0A') =>
    `   0: ${address} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  1000        0 41220 1 0000000030a4db0b 100 0 0 10 0`;
  it.each([
    ['0100007F:239F', '127.0.0.1', 9119],
    ['00000000:0050', '0.0.0.0', 80],
    ['00000000000000000000000000000000:239F', '::', 9119],
    ['00000000000000000000000001000000:239F', '::1', 9119],
    ['0000000000000000FFFF00000100007F:239F', '127.0.0.1', 9119],
    ['000080FE00000000FF005450B6AD1DFE:239F', 'fe80:0:0:0:5054:ff:fe1d:adb6', 9119],
  ])('%s', (hex, address, port) =>
    expect(parseListeners([line(hex)])).toEqual([{ address, port, uid: 1000, inode: '41220' }]),
  );

  it('only those that listen', () =>
    expect(parseListeners([line('0100007F:239F', '01'), 'sl local_address', ''])).toEqual([]));

  it('socketInodes', () => {
    const lines = [
      '/proc/7/fd:',
      'lrwx------ 1 root root 64 Nov 30 16:15 11 -> socket:[24864]',
      '/proc/8/fd:',
    ];
    expect(socketInodes(lines)).toEqual(
      new Map([
        [7, new Set(['24864'])],
        [8, new Set()],
      ]),
    );
  });

  it('parseLsof', () => {
    const lines = [
      'p41',
      'cpython3.1',
      'u501',
      'f5',
      'n*:9119',
      'f6',
      'n[::1]:9120',
      'p42',
      'u0',
      'n127.0.0.1:80->x',
    ];
    expect(parseLsof(lines)).toEqual([
      { pid: 41, uid: 501, program: 'python3.1', address: '0.0.0.0', port: 9119 },
      { pid: 41, uid: 501, program: 'python3.1', address: '::1', port: 9120 },
    ]);
  });
});

describe('ownerOf', () => {
  const owner = (groups: string, parents = '', ownGroups = '0::/') =>
    ownerOf({ pid: 7, ownedPids: [], groups, ownGroups, parents });
  it.each([
    [
      '0::/system.slice/hermes-dashboard.service',
      { kind: 'systemd', name: 'hermes-dashboard.service', manager: 'system' },
    ],
    [
      '0::/user.slice/user-1000.slice/user@1000.service/app.slice/hermes.service',
      { kind: 'systemd', name: 'hermes.service', manager: 'user' },
    ],
    [
      '0::/system.slice/system-hermes.slice/hermes@ann\\x2dlee.service',
      { kind: 'systemd', name: 'hermes@ann-lee.service', manager: 'system' },
    ],
    [
      '12:pids:/system.slice/x.service 0::/system.slice/x.service',
      { kind: 'systemd', name: 'x.service', manager: 'system' },
    ],
    ['0::/user.slice/user-1000.slice/session-3.scope', { kind: 'manual', name: null }],
    [
      '0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-org.gnome.Terminal.slice/vte.scope',
      { kind: 'manual', name: null },
    ],
    ['0::/system.slice/cron.service', { kind: 'manual', name: null }],
    ['0::/system.slice/ssh.service', { kind: 'ssh', name: null }],
    [
      '0::/system.slice/docker-0123456789abcdef0123.scope',
      { kind: 'container', name: '0123456789abcdef0123' },
    ],
    ['5:cpu:/docker/0123456789abcdef0123', { kind: 'container', name: '0123456789abcdef0123' }],
    [
      '0::/machine.slice/libpod-0123456789abcdef.scope/container',
      { kind: 'container', name: '0123456789abcdef' },
    ],
    ['', { kind: 'unknown', name: null }],
  ])('%s', (groups, expected) => expect(owner(groups)).toEqual(expected));

  it('an SSH session among the parents', () =>
    expect(owner('0::/user.slice/user-0.slice/session-9.scope', '41:bash 40:sshd')).toEqual({
      kind: 'ssh',
      name: null,
    }));

  it.each([
    ['user 7 0 ai.hermes.dashboard', '1:', { kind: 'launchd', name: 'ai.hermes.dashboard', manager: 'user' }],
    [
      'system 6 0 ai.hermes.dashboard',
      '6:',
      { kind: 'launchd', name: 'ai.hermes.dashboard', manager: 'system' },
    ],
    ['user 6 0 application.com.apple.Terminal.1', '6:', { kind: 'unknown', name: null }],
    ['user 8 0 ai.hermes.dashboard', '1:', { kind: 'unknown', name: null }],
  ])('a job of launchd: %s', (job, parents, expected) =>
    expect(ownerOf({ pid: 7, ownedPids: [], groups: '', ownGroups: '', parents, jobs: [job] })).toEqual(
      expected,
    ),
  );

  it('our own container is not the owner', () => {
    const group = '5:cpu:/docker/0123456789abcdef0123';
    expect(owner(group, '', group)).toEqual({ kind: 'manual', name: null });
  });

  it('what launch started is its own', () =>
    expect(
      ownerOf({ pid: 7, ownedPids: [7], groups: '0::/system.slice/x.service', ownGroups: '', parents: '' }),
    ).toEqual({
      kind: 'launch',
      name: null,
    }));
});

describe('ledger and ready file', () => {
  it('keeps entries that have a pid and right types', () => {
    const text = JSON.stringify([
      {
        pid: 7,
        create_time: 12.5,
        host: '127.0.0.1',
        port: 9722,
        profile: '',
        hermes_home: '/h',
        __proto__: { port: 1 },
      },
      { pid: '7' },
      { pid: -1 },
      null,
      'x',
      { pid: 8, port: 99_999, create_time: 'x' },
    ]);
    expect(parseLedger(text)).toEqual([
      { pid: 7, createTime: 12.5, host: '127.0.0.1', port: 9722, profile: null, hermesHome: '/h' },
      { pid: 8, createTime: null, host: null, port: null, profile: null, hermesHome: null },
    ]);
  });

  it.each(['', '{', '{}', 'null', '"x"'])('nothing from %j', (text) => expect(parseLedger(text)).toEqual([]));

  it('readyPort', () => {
    expect(readyPort('{"port": 9119}')).toBe(9119);
    expect(readyPort('{"port": 0}')).toBeNull();
    expect(readyPort('{"port": "x"}')).toBeNull();
    expect(readyPort('')).toBeNull();
  });
});

it('psLine', () => {
  expect(
    psLine('  501     1   501 Mon Nov 30 16:15:47 2026     /v/bin/python /v/bin/hermes dashboard'),
  ).toEqual({
    pid: 501,
    ppid: 1,
    uid: 501,
    startMs: Date.UTC(2026, 10, 30, 16, 15, 47),
    argv: ['/v/bin/python', '/v/bin/hermes', 'dashboard'],
  });
  expect(psLine('garbage')).toBeNull();
});
