import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

export interface PackedFile {
  path: string;
  size: number;
}

/** What `npm pack` would put into the package now. */
export interface Packed {
  /** Of the tarball, in bytes. */
  size: number;
  unpackedSize: number;
  files: PackedFile[];
  tarball: string;
}

/** An npm that runs us leaves its own settings in the environment; of those only the registry is kept. */
const npmEnv = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_(?!config_registry)|VITEST|NODE_)/.test(name)),
  );

export async function pack(folder: string): Promise<Packed> {
  const { stdout } = await run(
    'npm',
    ['pack', '--ignore-scripts', '--silent', '--json', '--pack-destination', folder],
    { cwd: root, env: npmEnv(), maxBuffer: 64 << 20 },
  );
  const [packed] = JSON.parse(stdout) as (Packed & { filename: string })[];
  if (packed === undefined) throw new Error('npm packed nothing');
  return { ...packed, tarball: join(folder, packed.filename) };
}

export interface Installed extends Packed {
  /** The folder with `node_modules`. */
  folder: string;
  /** The program in it. */
  bin: string;
  remove(): Promise<void>;
}

/** The package in an empty folder, with its production dependencies only. */
export async function installPacked(): Promise<Installed> {
  const folder = await mkdtemp(join(tmpdir(), 'installed-'));
  const packed = await pack(folder);
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  await run('npm', ['install', '--omit=dev', '--no-audit', '--no-fund', '--silent', packed.tarball], {
    cwd: folder,
    env: npmEnv(),
    timeout: 300_000,
  });
  return {
    ...packed,
    folder,
    bin: join(folder, 'node_modules/hermes-compat/bin/hermes-compat.js'),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}
