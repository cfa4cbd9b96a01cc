import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openSshHost } from '../../src/host/ssh/open.ts';
import { canRunSshd, type Rig, sshRig } from '../support/sshd.ts';

/** Everything that other accounts of both sides could look at. */
const processTable = (): string =>
  execFileSync('ps', ['axeww', '-o', 'pid=,args='], { encoding: 'utf8', maxBuffer: 1e8 });

describe.runIf(canRunSshd)('secrets', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await sshRig();
  });
  afterAll(() => rig?.end());

  it('stay out of process tables, errors and the logs of the server', async () => {
    const server = await rig.sshd(['PasswordAuthentication yes', 'LogLevel DEBUG3']);
    const account = await rig.account('secret', { password: 'canary-ssh-password' });
    const configFile = join(rig.dir, 'secret-config');
    const key = rig.keygen('secret-key', ['-N', 'canary-ssh-passphrase']);
    await writeFile(
      configFile,
      `UserKnownHostsFile ${rig.clientHome}/.ssh/known_hosts\nIdentityFile ${key}\n`,
    );
    const questions = {
      password: async () => 'canary-ssh-password',
      passphrase: async () => 'canary-ssh-passphrase',
    };
    const host = await openSshHost(rig.options(server, account, { configFile, questions }));
    const running = host.script('token=canary-ssh-script; sleep 0.6; echo done', ['canary-ssh-argument'], {
      stdin: 'canary-ssh-input',
    });
    await sleep(300);
    expect(
      processTable()
        .split('\n')
        .filter((line) => line.includes('canary-ssh-')),
    ).toEqual([]);
    expect((await running).stdout.toString()).toBe('done\n');
    await host.createFile(`${account.home}/f`, Buffer.from('canary-ssh-bytes'), 0o600);
    await host.close();
    expect(inspect(host, { depth: 20, showHidden: true })).not.toContain('canary-ssh-');
    expect(server.logs()).not.toContain('canary-ssh-');
    const wrong = { password: async () => 'canary-ssh-wrong', passphrase: async () => 'canary-ssh-wrong' };
    const error: unknown = await openSshHost(
      rig.options(server, account, { configFile, questions: wrong }),
    ).catch((thrown: unknown) => thrown);
    expect(inspect(error, { depth: 20, showHidden: true }) + String((error as Error).stack)).not.toContain(
      'canary-ssh-',
    );
    expect(server.logs()).not.toContain('canary-ssh-');
  });

  it('of a local engine do not reach the host', async () => {
    const server = await rig.sshd(['AcceptEnv *']);
    const account = await rig.account('env');
    for (const systemSsh of [false, true]) {
      const options = rig.options(server, account, { systemSsh });
      options.local.env = {
        ...options.local.env,
        HERMES_HOME: '/canary-ssh-home',
        HERMES_API_KEY: 'canary-ssh-key',
      };
      const host = await openSshHost(options);
      expect((await host.run(['env'])).stdout.toString()).not.toMatch(/HERMES|canary/);
      await host.close();
    }
  });
});
