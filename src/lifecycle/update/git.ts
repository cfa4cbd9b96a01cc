import { CompatError } from '../../errors.ts';
import type { Host } from '../../host/types.ts';

/** git in one checkout. Read-only but for what its callers name. */
export interface Git {
  root: string;
  /** @throws CompatError unchecked, when git fails */
  text(words: readonly string[]): Promise<string>;
  code(words: readonly string[]): Promise<number | null>;
  /** Bytes of a file in a commit; null when it is not there. */
  blob(commit: string, path: string): Promise<Buffer | null>;
}

/** Hooks and optional locks off: looking must not write, nor run what others hung on it. */
export function gitIn(host: Host, root: string): Git {
  const run = (words: readonly string[], timeoutMs = 120_000) =>
    host.run(['git', '-c', 'core.quotePath=false', '-C', root, ...words], {
      timeoutMs,
      env: { GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0' },
    });
  return {
    root,
    async text(words) {
      const { code, stdout, stderr } = await run(words);
      if (code !== 0)
        throw new CompatError(
          'unchecked',
          `git ${words[0] ?? ''} failed in ${root}: ${stderr.toString('utf8').trim().split('\n').at(-1) ?? ''}`,
          { args: { path: root } },
        );
      return stdout.toString('utf8');
    },
    code: async (words) => (await run(words)).code,
    async blob(commit, path) {
      const { code, stdout } = await run(['cat-file', 'blob', `${commit}:${path}`]);
      return code === 0 ? stdout : null;
    },
  };
}

export const zeroList = (text: string): string[] => text.split('\0').filter((each) => each !== '');

/** Commits of the stash list, newest first, with their messages. */
export async function stashList(git: Git): Promise<{ commit: string; message: string }[]> {
  const text = await git.text(['stash', 'list', '--format=%H %gs']);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({
      commit: line.slice(0, line.indexOf(' ')),
      message: line.slice(line.indexOf(' ') + 1),
    }));
}

const mergeScript = String.raw`
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$1" || exit 99
git cat-file blob "$2" >"$dir/base" && git cat-file blob "$3" >"$dir/theirs" && cat >"$dir/mine" || exit 99
git merge-file -p -q "$dir/mine" "$dir/base" "$dir/theirs"
`;

/** The three-way merge that a stash makes when it is applied. null: the two touch the same place. */
export async function mergeFile(
  host: Host,
  root: string,
  { path, base, theirs }: { path: string; base: string; theirs: string },
  mine: Buffer,
): Promise<Buffer | null> {
  const { code, stdout } = await host.script(mergeScript, [root, `${base}:${path}`, `${theirs}:${path}`], {
    stdin: mine,
  });
  return code === 0 ? stdout : null;
}
