import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { type Engine, engineDir, requireEngines, startEngine } from '../support/engines.ts';

// No output, log, error or saved fact ever holds the token, whatever the command, the format or the failure.

const canary = 'c4n4ry-T0ken-Xq81LmZp_rT5v';
const version = '0.19.0';

/** The token as it could slip out: plain, percent-encoded, base64, reversed halves of a URL. */
const forms = [canary, encodeURIComponent(canary), Buffer.from(canary).toString('base64').replace(/=+$/, '')];

describe.skipIf(!(await requireEngines(version)))('the token', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine({ version, token: canary });
  });
  afterAll(() => engine?.stop());

  it('is in nothing that a command prints', { timeout: 300_000 }, async () => {
    const env = { HERMES_COMPAT_TOKEN: canary };
    const url = engine.url;
    const target = `local:${engineDir(version)}`;
    const runs: string[][] = [
      ...['human', 'json', 'ndjson', 'junit', 'github', 'html'].map((format) => [
        'doctor',
        url,
        '--format',
        format,
      ]),
      ['doctor', '--url', url, '-v'],
      ['doctor', target, '--home', engine.home, '--json'],
      ['detect', '--url', url, '--json'],
      ['detect', url],
      ['doctor', url, '--origin', 'https://evil.example', '-v', '--json'],
      ['doctor', url, '--mode', 'legacy', '--json'],
      ['doctor', url, '--hold', '1', '--json'],
      ['doctor', 'http://127.0.0.1:9', '--json'],
      ['bundle', '--url', url, '--output', '-'],
      ['patch', 'status', '--target', target, '--home', engine.home, '--json'],
      ['doctor', url, '--client', canary],
      ['explain', canary],
    ];
    for (const args of runs) {
      const given = args.includes(canary) ? {} : env;
      const { stdout, stderr } = await runCli(args, { env: given });
      if (!args.includes(canary))
        for (const form of forms) expect(`${stdout}${stderr}`, args.join(' ')).not.toContain(form);
      expect(`${stdout}${stderr}`, args.join(' ')).not.toMatch(/\n\s+at .*\.js:\d+/);
    }
  });

  it('is shown by its fingerprint only', async () => {
    const { stdout } = await runCli(['detect', engine.url, '--json'], {
      env: { HERMES_COMPAT_TOKEN: canary },
    });
    const fingerprint = createHash('sha256').update(canary).digest('hex').slice(0, 8);
    expect(JSON.parse(stdout)).toMatchObject({ credential: { kind: 'token', source: 'env', fingerprint } });
  });

  it(
    'is in no file of ours but the token file, which only its owner reads',
    { timeout: 120_000 },
    async () => {
      const target = `local:${engineDir(version)}`;
      const env = { HERMES_DASHBOARD_SESSION_TOKEN: canary };
      const launched = await runCli(['launch', target, '--home', engine.home, '--port', '0', '--json'], {
        env,
      });
      try {
        expect(launched.stdout).not.toContain(canary);
        const folder = join(engine.home, 'desktop-compat');
        const files = await readdir(folder, { recursive: true, withFileTypes: true });
        const holding: string[] = [];
        for (const file of files.filter((each) => each.isFile())) {
          const path = join(file.parentPath, file.name);
          if ((await readFile(path)).includes(canary)) holding.push(path);
        }
        expect(holding).toEqual([expect.stringMatching(/\.token$/)]);
        expect((await stat(holding[0] ?? '')).mode & 0o777).toBe(0o600);
        expect((await stat(folder)).mode & 0o777).toBe(0o700);
      } finally {
        const stopped = await runCli(['stop', target, '--home', engine.home, '--all', '--json']);
        expect(stopped.code).toBe(0);
      }
    },
  );
});
