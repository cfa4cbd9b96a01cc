import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../test/support/engines.ts';

/** A real sshd on loopback that lets this account in, as the alias `lab` of an ssh_config. Needs no root. */
export interface SshServer {
  config: string;
  stop(): Promise<void>;
}

const program = '/usr/sbin/sshd';

/** The cells over SSH need the server's program. */
export const canRunSshd = existsSync(program);

export async function startSshServer(folder: string): Promise<SshServer> {
  const dir = join(folder, 'ssh');
  const home = join(folder, 'ssh-home');
  await mkdir(dir, { mode: 0o700 });
  await mkdir(home);
  for (const name of ['host', 'id'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', join(dir, name)]);
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true });
  const port = await freePort();
  const lines = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${dir}/host`,
    `AuthorizedKeysFile ${dir}/id.pub`,
    'PermitRootLogin prohibit-password',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'StrictModes no',
    'UsePAM no',
    'PidFile none',
    // What lies in the home of this account has no part in the matrix.
    `SetEnv HOME=${home} PATH=/usr/local/bin:/usr/bin:/bin`,
    '',
  ];
  await writeFile(join(dir, 'sshd_config'), lines.join('\n'));
  const key = (await readFile(join(dir, 'host.pub'), 'utf8')).split(' ').slice(0, 2).join(' ');
  await writeFile(join(dir, 'known'), `[127.0.0.1]:${port} ${key}\n`);
  const config = join(dir, 'config');
  await writeFile(
    config,
    [
      'Host lab',
      '  HostName 127.0.0.1',
      `  Port ${port}`,
      `  User ${userInfo().username}`,
      `  IdentityFile ${dir}/id`,
      '  IdentitiesOnly yes',
      `  UserKnownHostsFile ${dir}/known`,
      '  GlobalKnownHostsFile /dev/null',
      '',
    ].join('\n'),
  );
  return { config, stop: await run(join(dir, 'sshd_config'), port) };
}

async function run(config: string, port: number): Promise<() => Promise<void>> {
  const dieWithUs = existsSync('/usr/bin/setpriv') ? ['/usr/bin/setpriv', '--pdeathsig', 'KILL'] : [];
  const argv = [...dieWithUs, program, '-D', '-e', '-f', config];
  const child = spawn(argv[0] as string, argv.slice(1), { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4000)));
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await gone;
  };
  for (let tries = 0; tries < 200 && child.exitCode === null; tries += 1) {
    if (await answers(port)) return stop;
    await sleep(50);
  }
  await stop();
  throw new Error(`sshd does not listen: ${said}`);
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
