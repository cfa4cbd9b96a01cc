import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { startSimulator } from '../../src/simulate/index.ts';
import { runCli } from '../support/cli.ts';
import { freePort } from '../support/engines.ts';
import { haveWebProxies, type ProxyKind, proxyKinds, startWebProxy } from '../support/web-proxies.ts';
import { linesOf } from './commands.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { type Fence, type Page, pages, root } from './markdown.ts';

// docs/ci.md and docs/remote.md: every command is run, every file in them is used, against the machines that they speak of.

const all = await pages();
const page = (path: string): Page => all.find((each) => each.path === path) ?? never(path);
const ci = page('docs/ci.md');
const remote = page('docs/remote.md');
const named = [...ci.fences, ...remote.fences].filter(({ info }) => /^(yaml|text)$/.test(info[0] ?? ''));
const fileOf = (name: string): string => named.find(({ info }) => info[1] === name)?.text ?? never(name);

let fleet: Fleet;
beforeAll(async () => {
  fleet = await startFleet();
  for (const { info, text } of named) {
    const path = join(fleet.folder, info[1] ?? never('a name'));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}, 60_000);
afterAll(async () => {
  await fleet?.close();
});

/** As a person or a job runs it: in the folder of the files, stopping at the first command that fails. */
const shell = (script: string): Promise<{ code: number; said: string }> =>
  new Promise((resolve) => {
    execFile(
      'bash',
      ['-e', '-c', script],
      { cwd: fleet.folder, env: fleet.env, timeout: 180_000, encoding: 'utf8' },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), said: stdout + stderr }),
    );
  });

const known = { code: expect.any(Number) as number, said: expect.not.stringContaining('CANARY') as string };

describe('commands', { timeout: 240_000 }, () => {
  const consoles = [ci, remote].flatMap((each) =>
    linesOf({ ...each, fences: each.fences.filter(isConsole) }),
  );
  test.each(consoles.map((line) => [`${line.page}:${line.line}: ${line.text}`, line] as const))(
    '%s',
    async (_, { text, exit }) => {
      const result = await shell(text);
      expect(result).toEqual(known);
      expect([result.code, result.said]).toEqual([exit ?? 0, expect.any(String)]);
    },
  );

  const scripts = [ci, remote].flatMap((each) =>
    each.fences.filter(isScript).map((fence) => ({ each, fence })),
  );
  test.each(scripts.map(({ each, fence }) => [`${each.path}:${fence.line}`, fence.text] as const))(
    '%s, as a script',
    async (_, text) => {
      const result = await shell(text);
      expect(result).toEqual({ ...known, code: 0 });
    },
  );
});

describe('files', { timeout: 240_000 }, () => {
  test('are valid against the published schemas, and the table names every key', async () => {
    for (const [name, schema] of [
      ['targets.yaml', 'targets'],
      ['baseline.yaml', 'baseline'],
    ] as const) {
      const published = JSON.parse(
        await readFile(join(root, `schemas/${schema}.schema.json`), 'utf8'),
      ) as object;
      expect(
        new Ajv2020({ strict: false, validateFormats: false }).validate(published, parse(fileOf(name))),
      ).toBe(true);
    }
    const { properties } = JSON.parse(await readFile(join(root, 'schemas/targets.schema.json'), 'utf8')) as {
      properties: { targets: { items: { properties: object } } } & object;
    };
    const table = ci.prose
      .filter(({ text }) => text.startsWith('| `'))
      .map(({ text }) => text.split(' | ')[0]);
    for (const key of [...Object.keys(properties), ...Object.keys(properties.targets.items.properties)])
      if (key !== '$schema') expect(table.join(' ')).toContain(`\`${key}\``);
  });

  test('the job of GitHub uses the action as it is, and sets every variable that the targets name', async () => {
    interface Step {
      uses: string;
      with?: Record<string, string>;
      env?: Record<string, string>;
    }
    const job = parse(fileOf('.github/workflows/dashboards.yml')) as { jobs: { check: { steps: Step[] } } };
    const step = job.jobs.check.steps.find(({ uses }) => uses.startsWith('./')) ?? never('a step');
    const action = parse(await readFile(join(root, step.uses, 'action.yml'), 'utf8')) as { inputs: object };
    expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(step.with ?? {})));
    const variables = [...fileOf('targets.yaml').matchAll(/(?:token|password)Env: (\w+)/g)].map(
      ([, name]) => name,
    );
    expect(Object.keys(step.env ?? {})).toEqual(variables);
  });

  test('the script of GitLab makes its artifacts and ends with the code of the preflight', async () => {
    const { dashboards } = parse(fileOf('.gitlab-ci.yml')) as {
      dashboards: { script: string[]; artifacts: { paths: string[]; reports: { junit: string } } };
    };
    const { artifacts, script } = dashboards;
    expect(await shell(script.join('\n'))).toEqual({ ...known, code: 0 });
    for (const path of [...artifacts.paths, artifacts.reports.junit])
      expect((await readFile(join(fleet.folder, path), 'utf8')).length).toBeGreaterThan(100);
    const strict = script.map((line) => line.replace(' --baseline baseline.yaml', ''));
    expect((await shell(strict.join('\n'))).code).toBe(1);
    expect((await shell(script.join('\n').replace('targets.yaml', 'missing.yaml'))).code).toBe(2);
  });
});

const wrapped: Record<ProxyKind, (block: string, port: number) => string> = {
  nginx: (block, port) =>
    `daemon off; master_process off; pid nginx.pid; error_log stderr; events {}\nhttp { access_log off; server { listen 127.0.0.1:${port};\n${block}\n} }\n`,
  caddy: (block, port) =>
    `{\n admin off\n auto_https off\n}\nhttp://:${port} {\n bind 127.0.0.1\n${block}\n}\n`,
  haproxy: (block, port) =>
    `defaults\n mode http\n timeout connect 5s\n timeout client 30s\n timeout server 30s\nfrontend f\n bind 127.0.0.1:${port}\n default_backend hermes\n${block}\n`,
};

describe.skipIf(!haveWebProxies())('the right configuration of', { timeout: 120_000 }, () => {
  test.each(proxyKinds)('%s', async (kind) => {
    const block = remote.fences.find(({ info }) => info[0] === kind)?.text ?? never(kind);
    const engine = await startSimulator({ release: '0.19.0', token: 'CANARY-token-0123456789' });
    const port = await freePort();
    const proxy = await startWebProxy(
      kind,
      port,
      wrapped[kind](block.replaceAll('127.0.0.1:9119', `127.0.0.1:${engine.port}`), port),
    );
    try {
      const url = `http://127.0.0.1:${port}/hermes`;
      const args = ['doctor', url, '--client', 'minimal', '--origin', 'https://elsewhere.example'];
      const result = await runCli(args, { env: { HERMES_COMPAT_TOKEN: 'CANARY-token-0123456789' } });
      expect([result.code, result.stdout]).toEqual([0, expect.stringContaining('COMPATIBLE')]);
    } finally {
      await Promise.all([proxy.stop(), engine.close()]);
    }
  });
});

function isConsole({ info }: Fence): boolean {
  return info[0] === 'console' && !info.includes('norun');
}

function isScript({ info }: Fence): boolean {
  return info[0] === 'sh' && !info.includes('norun');
}

function never(what: string): never {
  throw new Error(`the page has no ${what}`);
}
