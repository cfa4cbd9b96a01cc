import type { Host } from '../host/types.ts';
import { basename, dirname, join, namesIn } from './world.ts';

/**
 * Removes the compiled forms of these Python files. Python compares time and size, or for some packages nothing at all, so a
 * compiled form can outlive its source.
 */
export async function removeBytecode(host: Host, files: readonly string[]): Promise<void> {
  for (const file of files) {
    const folder = join(dirname(file), '__pycache__');
    const stem = `${basename(file).replace(/\.py$/, '')}.`;
    for (const name of await namesIn(host, folder)) {
      if (name.startsWith(stem) && name.endsWith('.pyc')) await host.removeFile(join(folder, name));
    }
  }
}
