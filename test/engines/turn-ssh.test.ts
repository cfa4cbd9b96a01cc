import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startProvider } from '../../src/simulate/index.ts';
import { type CliResult, document, runCli } from '../support/cli.ts';
import { engineDir, requireEngines, startEngine } from '../support/engines.ts';
import { type Account, canRunSshd, type Rig, type Sshd, sshRig } from '../support/sshd.ts';
import { isFull } from '../support/full.ts';

// Turns over SSH: the dashboard through a tunnel, and an engine started there whose scripted model runs here.

const versions = ['0.19.0', '0.22.2.post1'];
const usable = isFull && canRunSshd && (await requireEngines(...versions));
const ids = ['plain', 'interrupt', 'lost-socket'];

interface Turns {
  kind: 'turns';
  target: { kind: string; url: string };
  scenarios: { id: string; status: string; from: string; got: string; why: string | null }[];
  exitCode: number;
}

describe.skipIf(!usable)('turns over ssh', { timeout: 500_000 }, () => {
  let rig: Rig;
  let open: Sshd;
  let strict: Sshd;
  let account: Account;
  beforeAll(async () => {
    rig = await sshRig();
    account = await rig.account('turns', { root: true });
    [open, strict] = await Promise.all([
      rig.sshd(['PermitRootLogin yes']),
      rig.sshd(['PermitRootLogin yes', 'AllowTcpForwarding local']),
    ]);
  });
  afterAll(() => rig?.end());

  const turn = ({ port }: Sshd, path: string, args: string[], token?: string): Promise<CliResult> =>
    runCli(
      [
        'turn',
        `ssh://${account.name}@127.0.0.1:${port}${path}`,
        '--suite',
        'full',
        '--only',
        ids.join(','),
        '--yes',
        '--json',
        '--ssh-config',
        `${rig.clientHome}/.ssh/config`,
        ...args,
      ],
      {
        env: { HOME: rig.clientHome, ...(token === undefined ? {} : { HERMES_COMPAT_TOKEN: token }) },
        timeoutMs: 450_000,
      },
    );
  const passed = (result: CliResult): void => {
    const turns = document<Turns>(result);
    const asExpected = ids.map((id) => [id, 'pass', 'table']);
    expect(turns.scenarios.map(({ id, status, from }) => [id, status, from])).toEqual(asExpected);
    expect(turns.exitCode).toBe(0);
  };

  it.each(versions)('%s as it runs there', async (version) => {
    const provider = await startProvider();
    const home = await mkdtemp(join(tmpdir(), 'turn-ssh-'));
    await writeFile(
      join(home, 'config.yaml'),
      `model: {default: scripted-1, provider: custom, base_url: "${provider.url}", api_key: sk-scripted, context_length: 64000}\n`,
    );
    const engine = await startEngine({ version, home });
    try {
      const port = ['--scripted', '--port', String(engine.port)];
      passed(await turn(open, '', port, engine.token ?? ''));
      expect(provider.requests.some(({ purpose }) => purpose === 'turn')).toBe(true);
    } finally {
      await engine.stop();
      await provider.close();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    }
  });

  it.each(versions)('%s started there, its model here', async (version) => {
    const ways = version === '0.19.0' ? [[], ['--ssh-command']] : [[]];
    for (const way of ways) {
      const result = await turn(open, engineDir(version), way);
      passed(result);
      const { target } = document<Turns>(result);
      expect(target.kind).toBe('ssh');
      await expect(fetch(target.url)).rejects.toThrow();
    }
  });

  it('a server that forbids reverse tunnels is named, and what helps', async () => {
    for (const way of [[], ['--ssh-command']]) {
      const result = await turn(strict, engineDir('0.19.0'), way);
      expect(result.code).toBe(3);
      expect(document(result)).toMatchObject({
        kind: 'error',
        error: { finding: 'SSH_FORWARD_FORBIDDEN' },
      });
      expect(result.stdout).toContain('--scripted');
    }
  });
});
