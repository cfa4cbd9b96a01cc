import { existsSync } from 'node:fs';

import { describe } from 'vitest';

import { openSshHost } from '../../src/host/ssh/open.ts';
import type { SshOptions } from '../../src/host/ssh/types.ts';
import { type AccountOptions, canRunSshd, full, has, sshRig } from '../support/sshd.ts';
import { hostContract, type Subject } from './contract.ts';

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

describe.runIf(canRunSshd)('over ssh', () => {
  hostContract('a bash account', over({ shell: '/bin/bash' }));
  if (existsSync('/usr/bin/ssh')) hostContract('the ssh program', over({}, { systemSsh: true }));
  if (!full) return;
  if (has('/usr/bin/fish'))
    hostContract(
      'a noisy fish account',
      over({ shell: '/usr/bin/fish', files: { '.config/fish/config.fish': noise } }),
    );
  if (has('/bin/tcsh'))
    hostContract('a noisy tcsh account', over({ shell: '/bin/tcsh', files: { '.tcshrc': 'echo noise\n' } }));
  if (has('/usr/bin/zsh'))
    hostContract('a noisy zsh account', over({ shell: '/usr/bin/zsh', files: { '.zshenv': noise } }));
  if (has('/usr/bin/sudo')) hostContract('another account by sudo', over({}, { become: 'owner' }));
});
