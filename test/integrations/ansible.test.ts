import { execFile } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Reports } from '../../src/judge/schema.ts';
import { refusal } from '../docs/commands.ts';
import { ansibleBin } from '../support/ansible.ts';
import { bin } from '../support/bin.ts';
import { type Engine, freePort, requireEngines, startEngine } from '../support/engines.ts';
import { canRunSshd, type Rig, type Sshd, sshRig } from '../support/sshd.ts';
import { treeHashes } from '../support/tree-hashes.ts';
import { isFull } from '../support/full.ts';

const folder = fileURLToPath(new URL('../../integrations/ansible/', import.meta.url));
const role = join(folder, 'roles/hermes_compat');

describe('the role as data', () => {
  const yaml = async (path: string): Promise<unknown> => parse(await readFile(join(role, path), 'utf8'));

  test('every variable is specified, and every specified one has a default', async () => {
    const defaults = Object.keys((await yaml('defaults/main.yml')) as object);
    const specs = (await yaml('meta/argument_specs.yml')) as {
      argument_specs: { main: { options: object } };
    };
    const specified = Object.keys(specs.argument_specs.main.options);
    expect(defaults.filter((name) => name !== 'hermes_compat_host').toSorted()).toEqual(specified.toSorted());
  });

  test('the commands of its tasks are ones that the program takes', async () => {
    let found = 0;
    for (const name of await readdir(join(role, 'tasks'))) {
      const text = await readFile(join(role, 'tasks', name), 'utf8');
      for (const [, list = ''] of text.matchAll(/hermes_compat_command \+ \[([^\]]*)\]/g)) {
        found += 1;
        const words = list.split(',').map((word) => /^\s*'([^']+)'\s*$/.exec(word)?.[1] ?? 'x');
        const rest = words[0] === 'report' ? ['x.json', '--format', 'html', '--output', 'x'] : [];
        expect(await refusal([...words, ...rest])).toBeNull();
      }
    }
    expect(found).toBe(4);
  });

  test('no task writes on a host: all run on the controller, without becoming another user there', async () => {
    for (const name of ['patch.yml', 'check.yml', 'report.yml'])
      for (const task of (await yaml(`tasks/${name}`)) as Record<string, unknown>[])
        if (Object.keys(task).some((key) => /\.(command|copy|file)$/.test(key)))
          expect(task).toMatchObject({ delegate_to: 'localhost', become: false });
  });
});

const ansible = isFull ? await ansibleBin() : null;
const versions = ['0.14.0', '0.16.0', '0.19.0'];
const usable = ansible !== null && canRunSshd && (await requireEngines(...versions));

/** What a play says of a host at its end. */
interface Recap {
  ok: number;
  changed: number;
  unreachable: number;
  failed: number;
}

describe.runIf(isFull && usable)('with real ansible over a real sshd', { timeout: 600_000 }, () => {
  let rig: Rig;
  let server: Sshd;
  const engines: Engine[] = [];
  const homes: string[] = [];
  let inventory: string;
  let reports: string;

  beforeAll(async () => {
    rig = await sshRig();
    server = await rig.sshd(['PermitRootLogin yes', 'MaxStartups 100']);
    const hosts: Record<string, unknown> = {};
    for (const [at, version] of versions.entries()) {
      // Accounts of uid 0, so that they reach the shared engines.
      const account = await rig.account(`a${at}`, { root: true });
      const home = join(account.home, '.hermes');
      homes.push(home);
      engines.push(await startEngine({ version, home }));
      hosts[`engine-${version}`] = {
        ansible_host: '127.0.0.1',
        ansible_port: server.port,
        ansible_user: account.name,
      };
    }
    hosts['gone'] = { ansible_host: '127.0.0.1', ansible_port: await freePort(), ansible_user: 'nobody' };
    inventory = join(rig.dir, 'inventory.json');
    reports = join(rig.dir, 'reports');
    const vars = {
      hermes_compat_command: [process.execPath, bin],
      hermes_compat_client: 'hermes-one',
      hermes_compat_options: ['--ssh-config', join(rig.clientHome, '.ssh/config')],
      hermes_compat_report_dir: reports,
    };
    await writeFile(inventory, JSON.stringify({ all: { vars, hosts } }));
  }, 400_000);
  afterAll(async () => {
    await Promise.all(engines.map((engine) => engine.stop()));
    await rig?.end();
  });

  async function play(
    ...words: string[]
  ): Promise<{ code: number; text: string; recap: Map<string, Recap> }> {
    const { code, text } = await new Promise<{ code: number; text: string }>((resolve) => {
      execFile(
        join(ansible ?? '', 'ansible-playbook'),
        ['-i', inventory, join(folder, 'playbook.yml'), ...words],
        {
          env: {
            PATH: `${ansible}:/usr/local/bin:/usr/bin:/bin`,
            HOME: rig.clientHome,
            LANG: 'C.UTF-8',
            ANSIBLE_NOCOLOR: '1',
            ANSIBLE_HOME: join(rig.dir, 'ansible'),
            ANSIBLE_REMOTE_TEMP: join(rig.dir, 'ansible-tmp'),
            ANSIBLE_HOST_KEY_CHECKING: 'false',
            ANSIBLE_LOCALHOST_WARNING: 'false',
          },
          timeout: 500_000,
          maxBuffer: 64 << 20,
        },
        (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code), text: stdout + stderr }),
      );
    });
    const recap = new Map(
      [...text.matchAll(/^(\S+)\s+: ok=(\d+)\s+changed=(\d+)\s+unreachable=(\d+)\s+failed=(\d+)/gm)].map(
        ([, host = '', ...counts]) => {
          const [ok = 0, changed = 0, unreachable = 0, failed = 0] = counts.map(Number);
          return [host, { ok, changed, unreachable, failed }];
        },
      ),
    );
    return { code, text, recap };
  }

  const merged = async (): Promise<Record<string, string>> => {
    const { reports: all } = JSON.parse(await readFile(join(reports, 'report.json'), 'utf8')) as Reports;
    return Object.fromEntries(all.map(({ target, verdict }) => [target.name, verdict]));
  };
  const changed = (recap: Map<string, Recap>): string[] =>
    [...recap].filter(([, counts]) => counts.changed > 0).map(([host]) => host);
  /** Our own files in the homes; the engines themselves write beside them while they run. */
  const ours = async (): Promise<string[]> => {
    const found: string[] = [];
    for (const home of homes)
      for (const [path, hash] of await treeHashes('/nonexistent', home))
        if (/hermes-compat|desktop-compat|config\.yaml/.test(path)) found.push(`${home} ${path} ${hash}`);
    return found.toSorted();
  };
  let untouched: string[];
  beforeAll(async () => {
    untouched = await ours();
    expect(untouched.filter((line) => /compat/.test(line))).toEqual([]);
  });
  const patches = ['-e', '{"hermes_compat_patches": ["all"]}'];
  const before = {
    'engine-0.14.0': 'needs-remedy',
    'engine-0.16.0': 'needs-remedy',
    'engine-0.19.0': 'needs-remedy',
    gone: 'unknown',
  };

  test('looks at every host at once, changes nothing, and one that is gone does not spoil the report', async () => {
    const { code, text, recap } = await play('--forks', '4');
    expect(recap.size, text).toBe(4);
    expect(await merged()).toEqual(before);
    expect(changed(recap)).toEqual([]);
    expect(await ours()).toEqual(untouched);
    // The verdicts fail their hosts, after all is in the report.
    expect([code, [...recap].filter(([, { failed }]) => failed === 1).length]).toEqual([2, 4]);
    expect(text).toContain('needs-remedy: CHAT_DISABLED');
    expect(text).toContain('unknown: SSH_UNREACHABLE');
    expect(await readFile(join(reports, 'report.html'), 'utf8')).toMatch(/^<!doctype html>/);
  });

  test('check mode says what would change and changes nothing', async () => {
    const { text, recap } = await play(...patches, '--check', '--forks', '4');
    expect(changed(recap).toSorted(), text).toEqual(['engine-0.14.0', 'engine-0.16.0', 'engine-0.19.0']);
    expect(await ours()).toEqual(untouched);
    expect(await merged()).toEqual(before);
  });

  test('applies in batches; a second run reports no change', async () => {
    const batches = ['-e', 'hermes_compat_serial=2', '-e', '{"hermes_compat_fail_on": []}'];
    const first = await play(...patches, ...batches);
    expect(changed(first.recap).toSorted(), first.text).toEqual([
      'engine-0.14.0',
      'engine-0.16.0',
      'engine-0.19.0',
    ]);
    expect(first.code, first.text).toBe(0);
    const state = await ours();
    expect(state.length).toBeGreaterThan(6);
    const second = await play(...patches, ...batches);
    expect(changed(second.recap), second.text).toEqual([]);
    expect(second.code, second.text).toBe(0);
    expect(await ours()).toEqual(state);
    expect(Object.keys(await merged())).toHaveLength(4);
  });

  test('a host that cannot be judged leaves no report of yesterday', async () => {
    await rm(join(reports, 'report.json'), { force: true });
    const broken = ['-e', '{"hermes_compat_settings": {"require": ["nothing-of-this-name"]}}'];
    const { code, text } = await play(...broken);
    expect(code, text).toBe(2);
    expect(text).toMatch(/no capability \W*nothing-of-this-name/);
    expect((await readdir(join(reports, 'hosts'))).filter((name) => !name.endsWith('.target.json'))).toEqual(
      [],
    );
  });
});
