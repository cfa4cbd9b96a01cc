import { readdir, readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { matchesPatterns } from './known-hosts.ts';

/** One directive of ssh_config(5), keyword in lower case. */
export interface ConfigLine {
  file: string;
  line: number;
  keyword: string;
  words: string[];
  /** All behind the keyword, as written: commands keep their own quoting. */
  text: string;
  /** Files of an `Include`; null when it names what we do not expand. */
  included: ConfigLine[][] | null;
}

/** OpenSSH stops there too. */
const deepestInclude = 16;

/**
 * Reads a configuration with everything that it includes. A file that is not there is empty.
 *
 * @param folder where relative Include paths begin: `~/.ssh`, or `/etc/ssh`
 * @throws Error of `node:fs` when a file is there and cannot be read
 */
export async function readConfig(
  file: string,
  folder: string,
  home: string,
  depth = 0,
): Promise<ConfigLine[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return '';
    throw error;
  });
  const lines: ConfigLine[] = [];
  for (const [index, content] of text.split('\n').entries()) {
    const [, keyword = '', rest = ''] = /^\s*([^\s=#"]+)(?:\s*=\s*|\s+|$)(.*)$/.exec(content) ?? [];
    if (keyword === '') continue;
    const line: ConfigLine = {
      file,
      line: index + 1,
      keyword: keyword.toLowerCase(),
      words: splitWords(rest),
      text: rest.trim(),
      included: [],
    };
    if (line.keyword === 'include') line.included = await readIncluded(line.words, folder, home, depth);
    lines.push(line);
  }
  return lines;
}

async function readIncluded(
  words: string[],
  folder: string,
  home: string,
  depth: number,
): Promise<ConfigLine[][] | null> {
  if (depth >= deepestInclude || words.some((word) => /[%$]/.test(word))) return null;
  const found: ConfigLine[][] = [];
  for (const word of words) {
    const path = word.startsWith('~/') ? join(home, word.slice(2)) : word;
    if (path.startsWith('~')) return null;
    for (const file of await expandGlob(isAbsolute(path) ? path : join(folder, path)))
      found.push(await readConfig(file, folder, home, depth + 1));
  }
  return found;
}

/** Paths that a pattern with `*` and `?` names, sorted, as glob(7) without brackets. */
async function expandGlob(pattern: string): Promise<string[]> {
  if (!/[*?[]/.test(pattern)) return [pattern];
  const parent = dirname(pattern);
  const name = pattern.slice(parent.length).replace(/^\//, '');
  const paths: string[] = [];
  for (const folder of await expandGlob(parent)) {
    const entries = await readdir(folder).catch(() => []);
    const fits = entries.filter((entry) => entry.startsWith('.') === name.startsWith('.'));
    for (const entry of fits.toSorted()) if (matchesPatterns([name], entry)) paths.push(join(folder, entry));
  }
  return paths;
}

/** Words as OpenSSH splits them: both quotes, backslash before a quote, backslash or blank, `#` begins a comment. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    const next = text[i + 1] ?? '';
    if (char === '\\' && (/["'\\]/.test(next) || (quote === '' && next === ' '))) {
      word = (word ?? '') + next;
      i++;
    } else if (quote !== '') {
      if (char === quote) quote = '';
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (char === '#' && word === null) break;
    else word = (word ?? '') + char;
  }
  if (word !== null) words.push(word);
  return words;
}

/** Is there a `Match … exec` anywhere, or something that might hide one? Blunt on purpose: nothing here decides whether it applies. */
export const mentionsExec = (lines: readonly ConfigLine[]): boolean =>
  lines.some(
    (line) =>
      (line.keyword === 'match' && /exec/i.test(line.text)) ||
      (line.keyword === 'include' && (line.included === null || line.included.some(mentionsExec))),
  );
