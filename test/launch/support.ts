import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, realpath } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

import { localHost } from '../../src/host/local.ts';
import type { Host } from '../../src/host/types.ts';
import type { LaunchHome, LaunchInstall, LaunchOptions } from '../../src/launch/plan.ts';
import { engineDir, sitePackages } from '../support/engines.ts';

/** This machine, with no more environment than an engine needs. */
export const host = localHost({
  path: '/usr/local/bin:/usr/bin:/bin',
  home: homedir(),
  platform: process.platform,
});

export const never = new AbortController().signal;

/** What discovery says about a rung of the ladder, as far as a start needs it. */
export async function installOf(version: string, venv = engineDir(version)): Promise<LaunchInstall> {
  const minor = Number(version.split('.')[1]);
  const site = await sitePackages(venv);
  return {
    id: site,
    root: site,
    packageDir: join(site, 'hermes_cli'),
    version,
    generation: minor < 16 ? 'G0' : version.startsWith('0.22') || version.startsWith('0.21.4') ? 'G2' : 'G1',
    interpreter: { path: join(venv, 'bin', 'python'), version: null },
    commands: [join(venv, 'bin', 'hermes')],
    method: 'uv',
  };
}

export async function scratchHome(): Promise<string> {
  return realpath(await mkdtemp(join(tmpdir(), 'hermes-launch-')));
}

export const homeAt = (path: string, root = path): LaunchHome => ({
  path,
  root,
  profile: null,
  envFile: { exists: false, readable: true, tui: null, webDist: null, sessionToken: null },
});

export const options = (given: Partial<LaunchOptions> = {}): LaunchOptions => ({
  port: 0,
  host: '127.0.0.1',
  webDist: null,
  engineArgs: [],
  env: {},
  seconds: 90,
  ...given,
});

/** Names in the folder of the launches; empty when it is gone. */
export const traces = (home: string): Promise<string[]> =>
  readdir(join(home, 'desktop-compat', 'launch')).catch(() => []);

/** Does anything of it run? A process that ended and was not yet collected does not. */
export const alive = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
};

const drop = '-dac_override,-dac_read_search';

/** For root, whom no file mode stops: commands on this host run without that privilege. */
export const withoutOverride = (host: Host): Host =>
  process.getuid?.() === 0
    ? {
        ...host,
        run: (argv, given) =>
          host.run(['/usr/bin/setpriv', '--bounding-set', drop, '--inh-caps', drop, ...argv], given),
      }
    : host;

interface Listed {
  pid: number;
  parent: number;
  args: string;
}

/** All that runs below a process, with command lines. */
export function childrenOf(pid: number): Listed[] {
  const all = execFileSync('ps', ['-eo', 'pid=,ppid=,args='])
    .toString()
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, own, parent, args]) => ({ pid: Number(own), parent: Number(parent), args: args ?? '' }));
  const below = (parent: number): Listed[] =>
    all.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)]);
  return below(pid);
}
