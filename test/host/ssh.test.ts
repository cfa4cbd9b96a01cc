import { describe } from 'vitest';

import { openSshHost } from '../../src/host/ssh/open.ts';
import type { SshOptions } from '../../src/host/ssh/types.ts';
import { type AccountOptions, canRunSshd, has, sshRig } from '../support/sshd.ts';
import { hostContract, type Subject } from './contract.ts';
import { isFull } from '../support/full.ts';

const over =
  (account: AccountOptions, more: Partial<SshOptions> = {}) =>
  async (): Promise<Subject> => {
    const rig = await sshRig();
    const login = await rig.account('login', account);
    const owner = more.become === undefined ? login : await rig.account('owner');
    if (more.become !== undefined) await rig.sudo(login, 'ALL=(ALL) NOPASSWD: ALL');
    const server = await rig.sshd();
    const host = await openSshHost(
      rig.options(server, login, { ...more, ...(more.become === undefined ? {} : { become: owner.name }) }),
    );
    const end = async (): Promise<void> => {
      await host.close();
      await rig.end();
    };
    return { host, dir: owner.home, end };
  };

const noise = 'echo noise; echo more >&2\n';

const slow: [string, string, () => Promise<Subject>][] = [
  [
    'a noisy fish account',
    '/usr/bin/fish',
    over({ shell: '/usr/bin/fish', files: { '.config/fish/config.fish': noise } }),
  ],
  ['a noisy tcsh account', '/bin/tcsh', over({ shell: '/bin/tcsh', files: { '.tcshrc': 'echo noise\n' } })],
  ['a noisy zsh account', '/usr/bin/zsh', over({ shell: '/usr/bin/zsh', files: { '.zshenv': noise } })],
  ['another account by sudo', '/usr/bin/sudo', over({}, { become: 'owner' })],
];

describe.runIf(canRunSshd)('over ssh', () => {
  hostContract('a bash account', over({ shell: '/bin/bash' }));
  describe.runIf(has('/usr/bin/ssh'))('and', () => {
    hostContract('the ssh program', over({}, { systemSsh: true }));
  });
  for (const [name, program, open] of slow)
    describe.runIf(isFull && has(program))('and', () => hostContract(name, open));
});
