import type { Install } from '../engine/schema.ts';
import { FileError, type Host } from '../host/types.ts';
import { dirname } from './world.ts';

/**
 * The engine's own entry point, as argv: the script beside its Python, or its main module where there is none or something that
 * Python cannot run stands in its place (a wrapper, ours or another's).
 *
 * @throws FileError cut
 */
export async function engineCommand(host: Host, install: Install): Promise<string[]> {
  const python = install.interpreter?.path ?? 'python3';
  for (const path of install.commands)
    if (dirname(path) === dirname(python) && (await isPython(host, path))) return [python, path];
  return [python, '-m', 'hermes_cli.main'];
}

/** Of a script whose Python has a long path, the first lines are shell, which Python reads as a text: `'''exec' …`. */
async function isPython(host: Host, path: string): Promise<boolean> {
  try {
    const text = (await host.readFile(path, 1 << 20)).toString('utf8');
    if (text.includes('\0')) return false;
    const [first = '', second = ''] = text.split('\n', 2);
    return !first.startsWith('#!') || /python|pypy/.test(first) || second.startsWith("'''exec'");
  } catch (error) {
    if (error instanceof FileError && error.code !== 'cut') return false;
    throw error;
  }
}
