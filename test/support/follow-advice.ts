import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bin } from './bin.ts';
import type { Report } from '../../src/judge/schema.ts';
import { shellLine } from '../../src/report/shell-line.ts';

/** A command that was typed, and what the terminal showed. */
export interface Typed {
  line: string;
  code: number | null;
  shown: string;
}

/** A folder for PATH in which `hermes-compat` is the built program. */
export async function ourProgramIn(folder: string): Promise<string> {
  const path = join(folder, 'typed-bin');
  await mkdir(path, { recursive: true });
  await writeFile(join(path, 'hermes-compat'), `#!/bin/sh\nexec "${process.execPath}" "${bin}" "$@"\n`, {
    mode: 0o755,
  });
  return path;
}

/** Lines of the remedies of this finding, as a report prints them. */
export function advisedLines(report: Report, code: string): string[] {
  const finding = report.findings.find((each) => each.code === code);
  const remedies = report.remedies.filter(({ id }) => finding?.fix.includes(id));
  if (remedies.length === 0) throw new Error(`no advice: ${JSON.stringify(finding ?? report.findings)}`);
  return remedies.flatMap(({ commands }) => commands.map(shellLine));
}

/**
 * Types the lines one after the other into a shell on a terminal, and `y` where something asks.
 *
 * @param within argv that the shell runs under
 */
export async function typeLines(
  lines: readonly string[],
  env: Record<string, string>,
  within: readonly string[] = [],
): Promise<Typed[]> {
  const typed: Typed[] = [];
  for (const line of lines) typed.push(await typeLine(line, env, within));
  return typed;
}

function typeLine(line: string, env: Record<string, string>, within: readonly string[]): Promise<Typed> {
  return new Promise((resolve, reject) => {
    const argv = [...within, 'script', '-qec', line, '/dev/null'];
    const child = spawn(argv[0] ?? '', argv.slice(1), {
      env: { TERM: 'xterm', SHELL: '/bin/sh', NO_COLOR: '1', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let shown = '';
    let answered = 0;
    child.stdout.on('data', (bytes: Buffer) => {
      shown += bytes.toString();
      for (const asked = shown.split('[y/N]').length - 1; answered < asked; answered++)
        child.stdin.write('y\n');
    });
    child.stdin.on('error', () => {});
    const timer = setTimeout(() => child.kill('SIGKILL'), 600_000);
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ line, code, shown });
    });
  });
}
