import { createHash } from 'node:crypto';
import { hookFolder, markerFile } from '../engine/compat-places.ts';
import { environmentOf } from '../engine/environment.ts';
import { CompatError } from '../errors.ts';
import { textIfThere } from '../host/read-text.ts';
import { FileError, type Host } from '../host/types.ts';
import { fileErrorsAs } from '../patch/file-trouble.ts';

/** A line a thing that was looked at, sorted: what it is, and its hash, version or start time. */
export type Fingerprint = string[];

/** Folders of the trees and homes that are watched. Absolute paths on the host. */
export interface Watched {
  root: string;
  /** Install and home of each recorded patch. */
  places: readonly { install: string | null; home: string }[];
  /** Homes whose plugins and configuration count. */
  homes: readonly string[];
  /** Folders that hold `hermes_cli`. */
  installs: readonly string[];
}

/** What changes when an engine is updated, edited or started. Nothing is written, nothing of the engine is run. */
const script = String.raw`
root=$1; shift
kind=install
# Each place makes room for the files that it holds: one program hashes all of them.
for place do
  shift
  case $place in --homes) kind=home; continue ;; esac
  if [ $kind = install ]; then
    for name in hermes_cli/__init__.py hermes_cli/main.py hermes_cli/web_server.py hermes_cli/web_routers/chat_ws.py \
      hermes_cli/web_routers/models.py hermes_cli/hermes_compat_model_library.py tui_gateway/server.py pyproject.toml; do
      [ -f "$place/$name" ] && set -- "$@" "$place/$name"
    done
    git=$place/.git
    if [ -f "$git" ]; then read -r word git <"$git"; fi
    if [ -d "$git" ]; then
      for name in HEAD logs/HEAD refs/stash ORIG_HEAD; do [ -f "$git/$name" ] && set -- "$@" "$git/$name"; done
    fi
    for name in "$place"/hermes_agent*.dist-info/RECORD "$place"/hermes_agent*.dist-info/METADATA; do
      [ -f "$name" ] && set -- "$@" "$name"
    done
  else
    for name in "$place"/plugins/hermes-compat/dashboard/*.* "$place/config.yaml" "$place/active_profile"; do
      [ -f "$name" ] && set -- "$@" "$name"
    done
  fi
done
for name in desktop-compat/hermes-compat.json desktop-compat/journal/journal.json desktop-compat/hooks/due \
  .hermes-update-in-progress; do
  [ -f "$root/$name" ] && set -- "$@" "$root/$name"
done
if [ $# -gt 0 ]; then
  if command -v sha256sum >/dev/null 2>&1; then sha256sum -- "$@" 2>/dev/null
  elif command -v shasum >/dev/null 2>&1; then shasum -a 256 -- "$@" 2>/dev/null
  else openssl dgst -sha256 -r "$@" 2>/dev/null; fi
fi
ps -A -o pid= -o lstart= -o args= 2>/dev/null |
  sed -n -e '/[h]ermes[^ ]* \(.* \)\{0,1\}dashboard/p' -e '/[h]ermes[^ ]* \(.* \)\{0,1\}serve/p' |
  while read -r pid day month date time year args; do
    start=$day-$month-$date-$time-$year
    # ps works the time out of two clocks, so that it can be a second off; the kernel's count never is.
    if { read -r stat <"/proc/$pid/stat"; } 2>/dev/null; then set -f; set -- ${'$'}{stat##*) }; set +f; start=${'$'}{20}; fi
    printf 'process %s %s %s\n' "$pid" "$start" "$args"
  done
exit 0
`;

/** One command on the host; 20–60 ms on this machine. */
export async function fingerprint(
  host: Host,
  { root, homes, installs }: Omit<Watched, 'places'>,
): Promise<Fingerprint> {
  const args = [root, ...installs, '--homes', ...homes];
  const { stdout } = await host.script(script, args, { timeoutMs: 20_000 });
  const places = installs.map((install) => `${environmentOf(install)}/`);
  const isOurs = (line: string): boolean =>
    !line.startsWith('process ') || places.some((place) => line.includes(place));
  return stdout
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '' && isOurs(line))
    .map((line) => (line.startsWith('process ') ? processLine(line) : line))
    .sort();
}

/** A command line could hold a secret, and only its being another one counts. */
const processLine = (line: string): string => {
  const found = /^process (\d+) (\S+) (.*)$/s.exec(line);
  const hash = createHash('sha256')
    .update(found?.[3] ?? line)
    .digest('hex')
    .slice(0, 12);
  return `process ${found?.[1] ?? '?'} ${found?.[2] ?? ''} ${hash}`;
};

/** Names of what differs, for a log line. */
export function differences(before: Fingerprint, now: Fingerprint): string[] {
  const name = (line: string): string =>
    line.startsWith('process ')
      ? `process ${line.split(' ')[1] ?? ''}`
      : line.replace(/^[0-9a-f]{64} [ *]/, '');
  const old = new Set(before);
  const fresh = new Set(now);
  return [
    ...new Set([
      ...now.filter((line) => !old.has(line)).map(name),
      ...before.filter((line) => !fresh.has(line)).map(name),
    ]),
  ];
}

/**
 * What the marker of this root home says is ours, and so is worth watching; null when nothing is recorded.
 *
 * @throws CompatError unchecked: HOME_UNREADABLE, MARKER_CORRUPT
 */
export async function watchedBy(host: Host, root: string): Promise<Watched | null> {
  const entries = await readEntries(host, markerFile(root));
  if (entries.length === 0) return null;
  const places = entries.flatMap((entry): Watched['places'] => {
    const [install, home] = [entry?.['install'], entry?.['home']];
    return typeof home === 'string' ? [{ install: typeof install === 'string' ? install : null, home }] : [];
  });
  const unique = new Map(places.map((place) => [`${place.install ?? ''}\0${place.home}`, place]));
  return {
    root,
    places: [...unique.values()],
    homes: [...new Set(places.map(({ home }) => home))],
    installs: [...new Set(places.flatMap(({ install }) => (install === null ? [] : [install])))],
  };
}

async function readEntries(host: Host, path: string): Promise<(Record<string, unknown> | null)[]> {
  const text = await fileErrorsAs('unchecked', 'what is recorded cannot be read', () =>
    textIfThere(host, path),
  );
  if (text === null) return [];
  const entries = entriesOf(text);
  if (Array.isArray(entries)) return entries as (Record<string, unknown> | null)[];
  throw new CompatError('unchecked', `${path} does not have the form of our marker`, {
    finding: 'MARKER_CORRUPT',
    args: { path },
  });
}

function entriesOf(text: string): unknown {
  try {
    return (JSON.parse(text) as { entries?: unknown } | null)?.entries;
  } catch {
    return null;
  }
}

export const seenFile = (root: string): string => `${hookFolder(root)}/seen.json`;

/** The fingerprint of the last look, or null: also where it cannot be read, as a look then writes it anew. */
export async function readSeen(host: Host, root: string): Promise<Fingerprint | null> {
  try {
    const text = await textIfThere(host, seenFile(root));
    const { lines } = JSON.parse(text ?? 'null') as { lines?: unknown };
    return Array.isArray(lines) && lines.every((line) => typeof line === 'string') ? lines : null;
  } catch (error) {
    if (error instanceof FileError || error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
}

export const seenText = (lines: Fingerprint): string => `${JSON.stringify({ lines }, null, 1)}\n`;

export const isSame = (a: Fingerprint, b: Fingerprint): boolean =>
  a.length === b.length && a.every((line, index) => line === b[index]);
