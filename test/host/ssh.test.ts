import { describe } from 'vitest';

import { openSshHost } from '../../src/host/ssh/open.ts';
import { canRunSshd, sshRig } from '../support/sshd.ts';
import { hostContract } from './contract.ts';

describe.runIf(canRunSshd)('over ssh', () => {
  hostContract('a bash account', async () => {
    const rig = await sshRig();
    const account = await rig.account('bash');
    const server = await rig.sshd();
    const host = await openSshHost(rig.options(server, account));
    const end = async (): Promise<void> => {
      await host.close();
      await rig.end();
    };
    return { host, dir: account.home, end };
  });
});
