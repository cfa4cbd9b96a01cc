import { execFile } from 'node:child_process';
import { cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator } from '../../src/simulate/index.ts';
import { type Installed, installPacked } from '../support/packed.ts';
import { isFull } from '../support/full.ts';

// What people get: the tarball, installed in an empty folder with production dependencies only.

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const MiB = 1024 * 1024;

let installed: Installed;
beforeAll(async () => {
  installed = await installPacked();
}, 300_000);
afterAll(() => installed.remove());

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

const node = (words: readonly string[], env: NodeJS.ProcessEnv = {}, timeout = 60_000): Promise<Ended> =>
  run(process.execPath, [...words], {
    cwd: installed.folder,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: installed.folder, NO_COLOR: '1', ...env },
    maxBuffer: 64 << 20,
    timeout,
  }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: Ended) => error,
  );

describe('the content', () => {
  test('is the program and its data, nothing else', () => {
    const tops = new Set(installed.files.map(({ path }) => path.split('/')[0]));
    expect(tops).toEqual(
      new Set([
        'CHANGELOG.md',
        'LICENSE',
        'README.md',
        'bin',
        'cases',
        'clients',
        'completions',
        'dist',
        'host-scripts',
        'man',
        'package.json',
        'patches',
        'schemas',
      ]),
    );
    const strange = installed.files.filter(({ path }) =>
      /\.test\.|\.map$|\.tsx?$(?<!\.d\.ts)|\.whl$|\.pyc$|(^|\/)(test|fixtures|site-packages|node_modules|__pycache__)\//.test(
        path,
      ),
    );
    expect(strange).toEqual([]);
  });

  test('keeps to its size', () => {
    expect(installed.size).toBeLessThan(1.2 * MiB);
    expect(installed.unpackedSize).toBeLessThan(6 * MiB);
    const large = installed.files.filter(({ path, size }) => size > 0.15 * MiB && !path.startsWith('cases/'));
    expect(large).toEqual([]);
  });

  test('what package.json promises is in it', async () => {
    const text = await readFile(join(root, 'package.json'), 'utf8');
    const promised = JSON.parse(text) as { bin: object; man: string; exports: Record<string, unknown> };
    const named = [promised.bin, promised.man, promised.exports]
      .flatMap((part) => [...JSON.stringify(part).matchAll(/"((?:\.\/)?(?:bin|man|dist)\/[^"]+)"/g)])
      .map(([, path]) => (path ?? '').replace(/^\.\//, ''));
    expect(named.length).toBeGreaterThan(7);
    const paths = new Set(installed.files.map(({ path }) => path));
    expect(named.filter((path) => !paths.has(path))).toEqual([]);
  });

  test('has one `dist` file for each source, and no leftover', async () => {
    const sources = (await readdir(join(root, 'src'), { recursive: true }))
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `dist/${name.replace(/\.ts$/, '.js')}`);
    const built = installed.files.map(({ path }) => path).filter((path) => /^dist\/.*\.js$/.test(path));
    expect(built.toSorted()).toEqual(sources.toSorted());
  });
});

describe('the program', () => {
  test('runs: version, demo, and a check', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(await node([installed.bin, '--version'])).toMatchObject({ code: 0, stdout: `${version}\n` });
    const demo = await node([installed.bin, 'demo']);
    expect(demo.stdout).toContain('CHAT_DISABLED');
    const engine = await startSimulator({ release: '0.19.0', library: true });
    try {
      const checked = await node([installed.bin, 'doctor', engine.url, '--json']);
      expect([checked.code, (JSON.parse(checked.stdout) as { verdict: string }).verdict]).toEqual([
        0,
        'compatible',
      ]);
    } finally {
      await engine.close();
    }
  });

  // The suite of the program itself, with the installed one in its place.
  test.runIf(isFull)('passes the suite of the command line', { timeout: 1_500_000 }, async () => {
    const suite = ['test/cli', 'test/simulate/cli.test.ts', 'test/cases/check.test.ts'];
    const report = join(installed.folder, 'suite.json');
    const ended = await run(
      process.execPath,
      [
        join(root, 'node_modules/vitest/vitest.mjs'),
        'run',
        ...suite,
        '--reporter=json',
        `--outputFile=${report}`,
      ],
      {
        cwd: root,
        env: {
          ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'))),
          HERMES_COMPAT_BIN: installed.bin,
        },
        maxBuffer: 256 << 20,
      },
    ).catch((error: Ended) => error);
    const { numFailedTests, numPassedTests, testResults } = JSON.parse(await readFile(report, 'utf8')) as {
      numFailedTests: number;
      numPassedTests: number;
      testResults: {
        message: string;
        assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
      }[];
    };
    const failed = testResults.flatMap(({ message, assertionResults }) => [
      ...(message === '' ? [] : [message]),
      ...assertionResults
        .filter(({ status }) => status === 'failed')
        .map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join('\n')}`),
    ]);
    console.log(`packed suite: ${numPassedTests} passed, ${numFailedTests} failed`);
    expect(failed).toEqual([]);
    expect(numPassedTests).toBeGreaterThan(100);
    expect('code' in ended ? ended.code : 0).toBe(0);
  });
});

describe('the library', () => {
  /** The examples beside `node_modules`, as a person would have them, compiled with strict types. */
  beforeAll(async () => {
    await cp(join(root, 'examples'), join(installed.folder, 'examples'), { recursive: true });
    await symlink(join(root, 'node_modules/@types'), join(installed.folder, 'node_modules/@types'));
    const tsconfig = {
      compilerOptions: {
        target: 'es2023',
        module: 'nodenext',
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        noPropertyAccessFromIndexSignature: true,
        skipLibCheck: false,
        types: ['node'],
        rootDir: 'examples',
        outDir: 'built',
      },
      include: ['examples'],
    };
    await writeFile(join(installed.folder, 'tsconfig.json'), JSON.stringify(tsconfig));
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const { code, stdout } = await node([compiler, '-p', '.'], {}, 120_000);
    if (code !== 0) throw new Error(`the examples do not compile against the package:\n${stdout}`);
  }, 180_000);

  test('hermes-compat: check a dashboard', async () => {
    const engine = await startSimulator({ release: '0.14.0' });
    try {
      const { code, stdout } = await node(['built/check-dashboard.js', engine.url, 'hermes-one']);
      expect(code).toBe(1);
      expect(stdout).toMatch(/^needs-remedy\nCHAT_DISABLED \(certain\): .{20}/);
      expect(stdout).toContain('NEEDS-REMEDY  hermes-one does not work');
    } finally {
      await engine.close();
    }
    expect(await node(['built/check-dashboard.js', 'ftp://x'])).toMatchObject({ code: 2 });
  });

  test('hermes-compat/turn: settle the turns of a recording', async () => {
    const folder = join(installed.folder, 'node_modules/hermes-compat/cases/turns/v0.19.0');
    const { code, stdout } = await node([
      'built/settle-turns.js',
      `${folder}/par-tools.jsonl`,
      `${folder}/par-tools.stored.json`,
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^0 completed, 2 tools: \S/);
    expect(stdout).toContain('stored: the same');
  });

  test('hermes-compat/simulate: test a client', async () => {
    const { code, stdout } = await node(['--test', 'built/test-a-client.js']);
    expect(stdout).toMatch(/^[#ℹ] pass 5$/m);
    expect(stdout).toMatch(/^[#ℹ] fail 0$/m);
    expect(code).toBe(0);
  });

  test('docs/library.md names every function that the entries export', async () => {
    const page = await readFile(join(root, 'docs/library.md'), 'utf8');
    const names = await node([
      '--input-type=module',
      '-e',
      `const found = [];
       for (const entry of ['hermes-compat', 'hermes-compat/turn', 'hermes-compat/simulate'])
         found.push(...Object.keys(await import(entry)));
       console.log(JSON.stringify(found));`,
    ]);
    const exported = JSON.parse(names.stdout) as string[];
    expect(exported.length).toBeGreaterThan(25);
    expect(exported.filter((name) => !page.includes(`\`${name}`))).toEqual([]);
  });
});
