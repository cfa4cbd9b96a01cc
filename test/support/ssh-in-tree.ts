import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { bin } from './bin.ts';
import { freePort } from './engines.ts';
import type { RealTree } from './real-tree.ts';

/** A shell line that starts a server in the namespace of an update and then runs our program against it, as the alias `box`. */
export async function overSsh(tree: RealTree): Promise<(words: string) => string[]> {
  const dir = join(tree.folder, 'ssh');
  await mkdir(dir, { mode: 0o700 });
  for (const name of ['host', 'id'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(dir, name)]);
  const port = await freePort();
  await writeFile(
    join(dir, 'sshd_config'),
    [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${dir}/host`,
      `AuthorizedKeysFile ${dir}/id.pub`,
      'PermitRootLogin prohibit-password',
      'StrictModes no',
      'UsePAM no',
      'PidFile none',
      // The account of the tests has no part in this.
      `SetEnv HOME=${tree.folder} PATH=${tree.home}/bin:/usr/local/bin:/usr/bin:/bin`,
      'Subsystem sftp /usr/lib/openssh/sftp-server',
      '',
    ].join('\n'),
  );
  const key = (await readFile(join(dir, 'host.pub'), 'utf8')).split(' ').slice(0, 2).join(' ');
  await writeFile(join(dir, 'known'), `[127.0.0.1]:${port} ${key}\n`);
  await writeFile(
    join(dir, 'config'),
    `Host box\n  HostName 127.0.0.1\n  Port ${port}\n  User ${userInfo().username}\n  IdentityFile ${dir}/id\n  IdentitiesOnly yes\n  UserKnownHostsFile ${dir}/known\n`,
  );
  await mkdir('/run/sshd', { recursive: true });
  return (words) => [
    '/bin/sh',
    '-c',
    `/usr/sbin/sshd -D -f ${dir}/sshd_config 2>${dir}/log & sleep 1; exec ${process.execPath} ${bin} ${words} --ssh-config ${dir}/config`,
  ];
}
