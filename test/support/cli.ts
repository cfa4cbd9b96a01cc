import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { bin } from './bin.ts';

const root = new URL('../../', import.meta.url);

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CliOptions {
  /** The whole environment besides PATH and HOME. */
  env?: Record<string, string>;
  cwd?: string;
  stdin?: string;
  timeoutMs?: number;
}

/** Runs the built program as a person would, in a bare environment. */
export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, ...args], {
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/nonexistent', NO_COLOR: '1', ...options.env },
      cwd: options.cwd,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.stdin.on('error', () => {});
    child.stdin.end(options.stdin ?? '');
    const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs ?? 60_000);
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() });
    });
  });
}

/** Parses the one JSON document of a run and holds it against its published schema. */
// The caller names the shape that it reads; the schema has been held against it by then.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function document<T = Record<string, unknown>>(result: CliResult): T {
  const value: { kind: string } = JSON.parse(result.stdout);
  const schema = JSON.parse(
    readFileSync(new URL(`schemas/${value.kind}.schema.json`, root), 'utf8'),
  ) as object;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  const validate = ajv.compile(schema);
  const valid: boolean = validate(value);
  if (!valid) throw new Error(`not a valid ${value.kind}: ${ajv.errorsText(validate.errors)}`);
  return value as T;
}
