import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Catalogue } from '../src/patch/catalogue.ts';

/**
 * Where the places are in an installed source that our patches and the generation go by. Named by file and enclosing function, never
 * by line. The names come from the patches themselves.
 */
export async function anchorsOf(packageDir: string, catalogue: Catalogue): Promise<Record<string, string>> {
  const files = await pythonFiles(packageDir);
  const patterns = Object.entries(anchorPatterns(catalogue));
  const found: Record<string, string> = {};
  for (const [name, pattern] of patterns) {
    const places = files.flatMap(({ path, lines }) =>
      lines.flatMap((line, index) => (pattern.test(line) ? [`${path}, ${enclosing(lines, index)}`] : [])),
    );
    found[name] = places.length === 0 ? 'nowhere' : counted(places).join('; ');
  }
  return found;
}

const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

function anchorPatterns({ patches, overlay }: Catalogue): Record<string, RegExp> {
  const patterns: Record<string, RegExp> = {
    'route /api/ws': /^\s*@\w+\.websocket\(\s*["']\/api\/ws["']/,
    'route /api/model/set': /^\s*@\w+\.post\(\s*["']\/api\/model\/set["']/,
    'route /api/status': /^\s*@\w+\.get\(\s*["']\/api\/status["']/,
  };
  const call = (name: string): void => {
    patterns[`call ${name}`] = new RegExp(String.raw`^\s*${literal(name)}\(`);
  };
  call(overlay.anchor.call);
  call(overlay.anchor.before);
  for (const { source } of patches) {
    patterns[`def ${source.kind === 'assignment' ? source.function : 'start_server'}`] = new RegExp(
      String.raw`^(async )?def ${literal(source.kind === 'assignment' ? source.function : 'start_server')}\b`,
    );
    if (source.kind === 'include') {
      call(source.anchor.call);
      call(source.anchor.before);
    } else
      patterns[`assignment ${source.target}`] = new RegExp(
        String.raw`^\s*${literal(source.target)}\s*(:[^=]*)?=[^=]`,
      );
  }
  return patterns;
}

async function pythonFiles(folder: string): Promise<{ path: string; lines: string[] }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter(
      (entry) => entry.isFile() && entry.name.endsWith('.py') && !entry.name.startsWith('hermes_compat_'),
    )
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  return Promise.all(
    paths.map(async (path) => ({
      path: relative(folder, path),
      lines: (await readFile(path, 'utf8')).split(/\r?\n/),
    })),
  );
}

/** `module level`, or the innermost function or class around a line. */
function enclosing(lines: readonly string[], at: number): string {
  const depth = indent(lines[at] ?? '');
  if (depth === 0) return 'module level';
  let limit = depth;
  for (let index = at - 1; index >= 0; index -= 1) {
    const line = lines[index] ?? '';
    if (line.trim() === '' || indent(line) >= limit) continue;
    const owner = /^\s*(?:async )?(?:def|class) (\w+)/.exec(line)?.[1];
    if (owner !== undefined) return `in ${owner}`;
    limit = indent(line);
  }
  return 'module level, in a block';
}

const indent = (line: string): number => line.length - line.trimStart().length;

function counted(places: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const place of places) counts.set(place, (counts.get(place) ?? 0) + 1);
  return [...counts].map(([place, count]) => (count === 1 ? place : `${place} (${count} times)`));
}
