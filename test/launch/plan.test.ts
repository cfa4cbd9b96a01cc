import { describe, expect, test } from 'vitest';

import type { LaunchInstall } from '../../src/launch/plan.ts';
import { planLaunch } from '../../src/launch/plan.ts';
import { homeAt, options } from './support.ts';

const install = (given: Partial<LaunchInstall> = {}): LaunchInstall => ({
  id: '/venv',
  root: '/venv',
  packageDir: '/venv/lib/python3.11/site-packages/hermes_cli',
  version: '0.19.0',
  generation: 'G1',
  interpreter: { path: '/venv/bin/python', version: '3.11.7' },
  commands: ['/home/ann/.local/bin/hermes', '/venv/bin/hermes'],
  method: 'uv',
  ...given,
});
const home = homeAt('/home/ann/.hermes');
const old = install({ generation: 'G0', version: '0.14.0' });

describe('the start of a version', () => {
  test('0.16 and newer: no chat setting, takes a token', () => {
    const plan = planLaunch(install(), home, options({ port: 9200 }));
    expect(plan).toMatchObject({ takesToken: true, ports: [9200], connectTo: '127.0.0.1' });
    expect(plan.argv).toEqual(['/venv/bin/hermes', 'dashboard', '--no-open', '--host', '127.0.0.1']);
    expect(plan.env).toEqual({ HERMES_HOME: '/home/ann/.hermes' });
  });

  test('0.12 to 0.15: chat by the environment, on loopback only; their token cannot be chosen', () => {
    const plan = planLaunch(old, home, options());
    expect(plan.env).toEqual({ HERMES_HOME: '/home/ann/.hermes', HERMES_DASHBOARD_TUI: '1' });
    expect(plan.takesToken).toBe(false);
    expect(planLaunch(old, home, options({ host: '::1' })).env).toHaveProperty('HERMES_DASHBOARD_TUI');
    const open = options({ host: '0.0.0.0', env: { HERMES_DASHBOARD_TUI: '1' } });
    expect(planLaunch(old, home, open).env).not.toHaveProperty('HERMES_DASHBOARD_TUI');
    // 127.0.0.2 is public to the engine.
    expect(planLaunch(old, home, options({ host: '127.0.0.2' })).env).not.toHaveProperty(
      'HERMES_DASHBOARD_TUI',
    );
  });

  test('where the generation is unknown both are given', () => {
    const plan = planLaunch(install({ generation: null }), home, options());
    expect(plan.env).toHaveProperty('HERMES_DASHBOARD_TUI');
    expect(plan.takesToken).toBe(true);
  });

  test.each([
    ['--tui', ['--insecure', '--tui'], null],
    ['a beginning of --tui', ['--tu'], null],
    ['.env', ['--insecure'], '1'],
  ])('chat of 0.12 to 0.15 is never opened to the network: %s', (_name, engineArgs, tui) => {
    const at = { ...home, envFile: { ...home.envFile, tui } };
    const start = (host: string) => () => planLaunch(old, at, options({ host, engineArgs }));
    expect(start('0.0.0.0')).toThrow(expect.objectContaining({ kind: 'refused' }));
    expect(start('127.0.0.1')).not.toThrow();
  });

  test('without a port: 9119 when it is free, else any', () => {
    expect(planLaunch(install(), home, options({ port: null })).ports).toEqual([9119, 0]);
  });

  test('wildcard addresses are reached on loopback', () => {
    expect(planLaunch(install(), home, options({ host: '0.0.0.0' })).connectTo).toBe('127.0.0.1');
    expect(planLaunch(install(), home, options({ host: '::' })).connectTo).toBe('::1');
  });

  test("the user's environment is passed on, except what we set and what ties it to a desktop app", () => {
    const env = {
      OPENAI_API_KEY: 'k',
      HERMES_WEB_DIST: '/dist',
      HERMES_HOME: '/other',
      HERMES_DASHBOARD_SESSION_TOKEN: 't',
      HERMES_PARENT_PID: '7',
      HERMES_DESKTOP: '1',
      HERMES_DESKTOP_READY_FILE: '/f',
      HERMES_SERVE_HEADLESS: '1',
      HERMES_COMPAT_TOKEN: 's',
    };
    expect(planLaunch(install(), home, options({ env })).env).toEqual({
      OPENAI_API_KEY: 'k',
      HERMES_WEB_DIST: '/dist',
      HERMES_HOME: '/home/ann/.hermes',
    });
    expect(planLaunch(install(), home, options({ env, webDist: '/mine' })).env['HERMES_WEB_DIST']).toBe(
      '/mine',
    );
  });

  test.each([
    ['the script beside the interpreter', {}, '/venv/bin/hermes'],
    [
      'no script there: the module',
      { commands: ['/home/ann/.local/bin/coder'] },
      '/venv/bin/python -P -m hermes_cli.main',
    ],
    [
      'Nix: its wrapper',
      { commands: ['/run/current-system/sw/bin/hermes'], method: 'nix' as const },
      '/run/current-system/sw/bin/hermes',
    ],
    ['no interpreter known', { interpreter: null, commands: ['/usr/bin/hermes'] }, '/usr/bin/hermes'],
  ])('what is run: %s', (_name, given, expected) => {
    const { argv } = planLaunch(install(given), home, options());
    expect(argv.slice(0, argv.indexOf('dashboard')).join(' ')).toBe(expected);
  });

  test('nothing to run', () => {
    expect(() => planLaunch(install({ interpreter: null, commands: [] }), home, options())).toThrow(
      /no Python/,
    );
  });

  test.each(['--stop', '--sto', '--status', '--port', '--port=1', '--host=::', '--ho'])(
    '%s is not passed on',
    (word) => {
      expect(() => planLaunch(install(), home, options({ engineArgs: [word] }))).toThrow(
        expect.objectContaining({ kind: 'usage' }),
      );
    },
  );

  test('other arguments are', () => {
    const { argv } = planLaunch(install(), home, options({ engineArgs: ['--isolated', '--skip-build'] }));
    expect(argv.slice(-2)).toEqual(['--isolated', '--skip-build']);
  });
});
