import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { UpdateDocument } from '../../src/lifecycle/update/schema.ts';
import { freePort, requireEngines } from '../support/engines.ts';
import { canUpdate, realTree, type RealTree } from '../support/real-tree.ts';
import { canRunSshd, full } from '../support/sshd.ts';
import { bin } from '../support/bin.ts';

const trees: RealTree[] = [];
afterEach(async () => {
  for (const tree of trees.splice(0)) await tree.remove();
});

const ready = full && canUpdate && canRunSshd && (await requireEngines('0.14.0', '0.16.0', '0.19.0'));

/** A shell line that starts a server in the namespace of the update and then runs our program against it. */
async function overSsh(tree: RealTree): Promise<(words: string) => string[]> {
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
    `Host box\n  HostName 127.0.0.1\n  Port ${port}\n  User root\n  IdentityFile ${dir}/id\n  IdentitiesOnly yes\n  UserKnownHostsFile ${dir}/known\n`,
  );
  await mkdir('/run/sshd', { recursive: true });
  return (words) => [
    '/bin/sh',
    '-c',
    `/usr/sbin/sshd -D -f ${dir}/sshd_config 2>${dir}/log & sleep 1; exec ${process.execPath} ${bin} ${words} --ssh-config ${dir}/config`,
  ];
}

describe.skipIf(!ready)('real updates over SSH', () => {
  test.each([
    ['0.14.0', '0.16.0', 'source', { 'embedded-chat': 'retired', 'model-library': 'reapplied' }],
    ['0.16.0', '0.19.0', 'overlay', { 'model-library': 'kept' }],
  ] as const)('%s → %s, %s', { timeout: 1_200_000 }, async (from, to, carrier, expected) => {
    const tree = await realTree(from, [to]);
    trees.push(tree);
    const line = await overSsh(tree);
    const box = `ssh://box${tree.root}`;
    const applied = await tree.inside(
      line(`patch apply --carrier ${carrier} --target ${box} --home ${tree.home} --yes`),
    );
    expect(applied, applied.stderr).toMatchObject({ code: 0 });
    await tree.release(to);
    const result = await tree.inside(line(`update ${box} --home ${tree.home} --yes --json`));
    const said = JSON.parse(result.stdout) as UpdateDocument;
    expect(said, result.stderr).toMatchObject({
      outcome: 'updated',
      exitCode: 0,
      verdict: 'compatible',
      target: { kind: 'ssh' },
      after: { version: to },
    });
    expect(Object.fromEntries(said.patches.map(({ patch, outcome }) => [patch, outcome]))).toEqual(expected);
    expect(result.stderr).toContain('Update complete');
    // Whose files, before the first of them is written.
    const identity = `root on ${hostname()}, HERMES_HOME ${tree.home}, install ${tree.root} (${from})`;
    expect(result.stderr.split('\n')[0]).toMatch(/^hermes-compat: root@127\.0\.0\.1:\d+: /);
    expect(result.stderr.split('\n')[0]).toContain(identity);
    expect(tree.git('stash', 'list')).toBe('');
  });
});
