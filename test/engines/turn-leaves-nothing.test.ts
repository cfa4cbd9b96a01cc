import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type Provider, startProvider } from '../../src/simulate/index.ts';
import { type CliResult, document, runCli } from '../support/cli.ts';
import { type Engine, requireEngines } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { later, turnScene } from '../support/turn-scene.ts';
import { isFull } from '../support/full.ts';

// `turn` and `record` in a home that is not theirs: whatever ends them, the list of sessions is as before.

const bin = fileURLToPath(new URL('../../bin/hermes-compat.js', import.meta.url));
const ready = await requireEngines('0.22.2.post1', '0.19.0', ...(isFull ? ['0.16.0'] : []));

const sessionsOf = async ({ url, token }: Engine): Promise<string[]> => {
  const headers = { 'X-Hermes-Session-Token': token ?? '' };
  const answer = await fetch(`${url}/api/sessions?limit=50`, { headers });
  return ((await answer.json()) as { sessions: { id: string }[] }).sessions.map(({ id }) => id);
};

/** Runs the program until the model writes its answer, then sends SIGINT. */
async function interrupted(args: string[], env: object, provider: Provider): Promise<CliResult> {
  const before = provider.requests.length;
  const child = spawn(process.execPath, [bin, ...args], {
    env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  later(() => child.kill('SIGKILL'));
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (text: Buffer) => (said.stdout += text.toString()));
  child.stderr.on('data', (text: Buffer) => (said.stderr += text.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  await expect
    .poll(() => provider.requests.length, { timeout: 90_000, interval: 100 })
    .toBeGreaterThan(before);
  await pause(800);
  child.kill('SIGINT');
  return { code: await ended, ...said };
}

const slow = 'slow n=100 delay=150';

describe.skipIf(!ready)('SIGINT in mid-turn', { timeout: 240_000 }, () => {
  it.each(isFull ? ['0.16.0', '0.19.0', '0.22.2.post1'] : ['0.22.2.post1'])('%s', async (version) => {
    const { folder, provider, start } = await turnScene(version, undefined, { byDefault: slow });
    const engine = await start();
    const env = { HERMES_COMPAT_TOKEN: engine.token ?? '' };
    const basic = await interrupted(['turn', engine.url, '--yes', '--json'], env, provider);
    expect(document(basic)).toMatchObject({ exitCode: 130, notes: [] });
    expect(basic.code).toBe(130);
    expect(await sessionsOf(engine)).toEqual([]);

    const [prompt, output] = [join(folder, 'prompt.txt'), join(folder, 'log.jsonl')];
    await writeFile(prompt, 'hello');
    const args = ['record', engine.url, '--yes', '--prompt-file', prompt, '--output', output];
    const recorded = await interrupted(args, env, provider);
    expect(recorded).toMatchObject({ code: 130, stderr: '' });
    expect(recorded.stdout).toContain(output);
    expect(recorded.stdout.replaceAll(/\s+/g, ' ')).toContain('The session that was made for it is deleted.');
    expect(await readFile(output, 'utf8')).toContain('session.interrupt');
    expect(await sessionsOf(engine)).toEqual([]);
    // An engine that wrote on would bring them back a little later.
    await pause(2000);
    expect(await sessionsOf(engine)).toEqual([]);
  });
});

describe.skipIf(!ready)('record', { timeout: 240_000 }, () => {
  it('--attach with an id that nobody knows makes neither a session nor a file', async () => {
    const { folder, start } = await turnScene('0.22.2.post1');
    const engine = await start();
    const output = join(folder, 'log.jsonl');
    const args = ['record', engine.url, '--yes', '--attach', '20200101_000000_abcdef', '--for', '2'];
    const result = await runCli([...args, '--output', output], {
      env: { HERMES_COMPAT_TOKEN: engine.token ?? '' },
    });
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining('has no session') });
    expect(await readdir(folder)).not.toContain('log.jsonl');
    expect(await sessionsOf(engine)).toEqual([]);
  });
});

describe.skipIf(!ready || !isFull)('turn --mode legacy', { timeout: 240_000 }, () => {
  it('SIGINT in mid-turn', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'legacy-left-'));
    later(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
    const provider = await startProvider({ byDefault: slow });
    later(() => provider.close());
    await mkdir(join(folder, '.hermes'));
    await writeFile(
      join(folder, '.hermes', 'config.yaml'),
      `model: {default: scripted-1, provider: custom, base_url: "${provider.url}", api_key: sk-scripted, context_length: 64000}\n`,
    );
    const key = 'a-key-of-the-gateway-0123';
    const gateway = await startGateway('0.22.2.post1', folder, key);
    later(() => gateway.stop());
    const args = ['turn', gateway.url, '--mode', 'legacy', '--token-env', 'KEY', '--yes', '--json'];
    const result = await interrupted(args, { KEY: key }, provider);
    expect(result.code).toBe(130);
    expect(document<{ notes: string[] }>(result).notes.join()).not.toContain('could not be deleted');
    const list = (): Promise<unknown> =>
      fetch(`${gateway.url}/api/sessions`, { headers: { Authorization: `Bearer ${key}` } }).then((answer) =>
        answer.json(),
      );
    expect(await list()).toMatchObject({ data: [] });
    await pause(2000);
    expect(await list()).toMatchObject({ data: [] });
  });
});

describe.skipIf(!ready || !isFull)('turn --suite full --scripted on 0.16.0', { timeout: 400_000 }, () => {
  it('deletes what compaction made too, and expects no attachment where no disk is shared', async () => {
    const { start } = await turnScene(
      '0.16.0',
      () =>
        'approvals: {mode: "off"}\ncompression: {enabled: true, threshold: 0.50, protect_last_n: 2, protect_first_n: 1}\n',
    );
    const engine = await start();
    const args = ['turn', engine.url, '--suite', 'full', '--scripted', '--yes', '--json'];
    const result = await runCli([...args, '--only', 'compression,attachment'], {
      env: { HERMES_COMPAT_TOKEN: engine.token ?? '' },
      timeoutMs: 300_000,
    });
    expect(document(result)).toMatchObject({
      exitCode: 0,
      notes: [],
      scenarios: [
        { got: 'completed, completed · no-file-attach, no-image-attach' },
        { got: 'completed, completed, completed, completed · 3 ids-rotated' },
      ],
    });
    expect(await sessionsOf(engine)).toEqual([]);
  });
});
