import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openSshHost } from '../../src/host/ssh/open.ts';
import type { SshHost } from '../../src/host/ssh/types.ts';
import { canRunSshd, has, type Rig, type Sshd, sshRig } from '../support/sshd.ts';

const noise = 'echo "Welcome to *this* $host"; echo "second line"';

interface Variant {
  shell: string;
  files?: Record<string, string>;
  /** First line of what the login prints on its own. */
  noise?: string;
}

/** Accounts on which everything must work. */
const working: Record<string, Variant> = {
  dash: { shell: '/bin/dash' },
  fish: {
    shell: '/usr/bin/fish',
    files: { '.config/fish/config.fish': `${noise}\n` },
    noise: 'Welcome to *this* ',
  },
  tcsh: { shell: '/bin/tcsh', files: { '.tcshrc': 'echo "Welcome"; echo second\n' }, noise: 'Welcome' },
  zsh: {
    shell: '/usr/bin/zsh',
    files: { '.zshenv': `${noise}\nprintf 'no end of line'\nset -m\n` },
    noise: 'Welcome to *this* ',
  },
  noisy: { shell: '/bin/bash', files: { '.bashrc': `${noise}\n` }, noise: 'Welcome to *this* ' },
  escapes: {
    shell: '/bin/bash',
    files: { '.bashrc': `printf '\\033[31m\\033]0;title\\007Red\\033[0m\\n'\n` },
    noise: ']0;titleRed',
  },
  megabytes: {
    shell: '/bin/bash',
    files: { '.bashrc': 'head -c 3000000 /dev/zero | tr "\\\\0" x; echo\n' },
    noise: 'x'.repeat(200),
  },
  reader: { shell: '/bin/bash', files: { '.bashrc': 'read -r line\n' } },
  slow: { shell: '/bin/bash', files: { '.bashrc': 'sleep 1\n' } },
  pathless: { shell: '/bin/bash', files: { '.bashrc': 'export PATH=/usr/bin:/bin\n' } },
  exporting: {
    shell: '/bin/bash',
    files: { '.bashrc': 'export HERMES_HOME=/elsewhere LD_PRELOAD="" IFS=x POSIXLY_CORRECT=1; umask 000\n' },
  },
};

/** Accounts on which nothing can be run: what is said, quickly. */
const refusing: Record<string, Variant & { said: RegExp }> = {
  nologin: { shell: '/usr/sbin/nologin', said: /not available/ },
  leaving: { shell: '/bin/bash', files: { '.bashrc': 'exit 1\n' }, said: /^$/ },
  restricted: { shell: '/bin/rbash', said: /restricted/ },
  forced: { shell: '/bin/bash', said: /backup only/ },
  echoing: { shell: '/bin/bash', said: /./ },
  execfish: { shell: '/bin/bash', files: { '.bashrc': 'exec fish\n' }, said: /fish|unsupported|Unknown|\$/i },
  greedy: { shell: '/bin/bash', files: { '.bashrc': 'cat >/dev/null\n' }, said: /^$/ },
  endless: { shell: '/bin/bash', files: { '.bashrc': 'yes\n' }, said: /^y$/ },
};

const forcedCommand: Record<string, string> = { forced: 'echo backup only', echoing: 'cat' };

describe.runIf(canRunSshd)('accounts over ssh', () => {
  let rig: Rig;
  let server: Sshd;

  beforeAll(async () => {
    rig = await sshRig();
    server = await rig.sshd();
  });
  afterAll(() => rig?.end());

  const open = async (label: string, { shell, files }: Variant, timeoutMs = 8000): Promise<SshHost> => {
    const account = await rig.account(label, { shell, ...(files ? { files } : {}) });
    const command = forcedCommand[label];
    if (command !== undefined) {
      const keys = join(account.home, '.ssh/authorized_keys');
      await writeFile(keys, `command="${command}" ${await rig.publicKey()}`);
    }
    return openSshHost(rig.options(server, account, { timeoutMs }));
  };

  for (const [label, variant] of Object.entries(working)) {
    it.runIf(has(variant.shell))(`${label}: commands and files work, noise is told`, async () => {
      const host = await open(label, variant);
      try {
        const { stdout } = await host.script('printf "%s|" "$@"; printf "%s" "${HERMES_HOME-none}"', [
          "it's",
          '$x',
          'é',
        ]);
        expect(stdout.toString()).toBe("it's|$x|é|none");
        const home = (await host.script('printf %s "$HOME"')).stdout.toString();
        const bytes = Buffer.from(Array.from({ length: 50_000 }, (_, i) => i & 0xff));
        await host.createFile(`${home}/a b`, bytes, 0o640);
        expect((await host.readFile(`${home}/a b`)).equals(bytes)).toBe(true);
        expect((await host.stat(`${home}/a b`))?.mode).toBe(0o640);
        expect(await host.readdir(home)).toContain('a b');
        const told = host.notes.filter(({ code }) => code === 'STDOUT_NOISE').map(({ args }) => args['line']);
        expect(told).toEqual(variant.noise === undefined ? [] : [variant.noise.trim()]);
      } finally {
        await host.close();
      }
    });
  }

  for (const [label, variant] of Object.entries(refusing)) {
    it.runIf(has(variant.shell))(`${label}: one clear finding, no hang`, async () => {
      const started = Date.now();
      const error: unknown = await open(label, variant, 2500).then(
        (host) => host.close().then(() => 'it opened'),
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({ kind: 'unchecked', details: { finding: 'SSH_SHELL_UNUSABLE' } });
      const said = (error as { details: { args: Record<string, string> } }).details.args['line'];
      expect(said).toMatch(variant.said);
      expect(Date.now() - started).toBeLessThan(10_000);
    });
  }

  it('one session only: everything runs through it, one after the other', async () => {
    const single = await rig.sshd(['MaxSessions 1']);
    const account = await rig.account('single');
    const host = await openSshHost(rig.options(single, account));
    try {
      const results = await Promise.all([
        host.run(['sleep', '0.5'], { timeoutMs: 60_000 }),
        ...Array.from({ length: 5 }, (_, i) => host.run(['echo', String(i)])),
      ]);
      expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0]);
      const late = await host.run(['sleep', '64'], { timeoutMs: 300 });
      expect(late.timedOut).toBe(true);
      expect((await host.run(['echo', 'well'])).stdout.toString()).toBe('well\n');
    } finally {
      await host.close();
    }
  });

  it('what runs is ended when the host is closed', async () => {
    const account = await rig.account('closing');
    const host = await openSshHost(rig.options(server, account));
    const running = host
      .script('echo $$ >"$HOME/pid"; exec sleep 65', [], { timeoutMs: 90_000 })
      .catch(() => null);
    while ((await host.stat(`${account.home}/pid`)) === null);
    await host.close();
    await running;
    expect(rig.processes(account).filter((line) => line.includes('sleep 65'))).toEqual([]);
  });
});
