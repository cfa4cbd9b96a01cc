import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What behaves alike on both. */
const alike =
  'awk basename bash cat cp cut date dd dirname echo env find git grep id kill ln mkfifo mktemp perl printf pwd rmdir sed sh shasum sleep sort tail test touch tr true xargs yes'.split(
    ' ',
  );

/** Options end at the first word that is none: what GNU tools do when POSIXLY_CORRECT is set. */
const strict = 'chgrp chmod chown head ls mkdir rm'.split(' ');

const illegal = (tool: string, option: string): string =>
  `case $word in --) break ;; -*${option}*) echo "${tool}: illegal option -- ${option}" >&2; exit 1 ;; -*) ;; *) break ;; esac`;

/** The rest, by what macOS documents. `proc` is where the real process table is. */
const own = (proc: string): Record<string, string> => ({
  stat: `follow= format=
while :; do
  case $1 in
    -L) follow=-L; shift ;;
    -f) format=$2; shift 2 ;;
    --) shift; break ;;
    -*) echo "stat: illegal option \${1}" >&2; exit 1 ;;
    *) break ;;
  esac
done
[ -n "$format" ] || exit 1
format=$(printf %s "$format" | sed -e 's/%Xp/%f/' -e 's/%z/%s/' -e 's/%l/%h/' -e 's/%Fm/%.9Y/' -e 's/%Fc/%.9Z/' -e 's/%Lp/%a/' -e 's/%N/%n/')
exec /usr/bin/stat $follow -c "$format" -- "$@"`,
  // -h: a link to a folder is replaced, as -T does it.
  mv: `for word; do ${illegal('mv', 'T')}; done
case $1 in -fh) shift; set -- -fT "$@" ;; esac
POSIXLY_CORRECT=1 exec /usr/bin/mv "$@"`,
  readlink: `for word; do ${illegal('readlink', 'f')}; done
POSIXLY_CORRECT=1 exec /usr/bin/readlink "$@"`,
  base64: `case $1 in -D) exec /usr/bin/base64 -d ;; *) echo "base64: illegal option $1" >&2; exit 64 ;; esac`,
  uname: `case $1 in -n) exec /usr/bin/uname -n ;; -sn) echo "Darwin $(/usr/bin/uname -n)" ;; *) echo Darwin ;; esac`,
  sync: 'exit 0',
  ps: `want= only=
while [ $# -gt 0 ]; do
  case $1 in -A) shift ;; -o) want="$want $2"; shift 2 ;; -p) only=$2; shift 2 ;; *) echo "ps: illegal option $1" >&2; exit 1 ;; esac
done
found=1
for stat in ${proc}/[0-9]*/stat; do
  { read -r line <"$stat"; } 2>/dev/null || continue
  pid=\${line%% *}
  [ -z "$only" ] || [ "$pid" = "$only" ] || continue
  found=0 row=
  rest=\${line##*) }; set -- $rest
  for each in $want; do
    case $each in
      pid=) row="$row $pid" ;;
      ppid=) row="$row $2" ;;
      lstart=) row="$row $(/usr/bin/date -d "@$((\${20} / 100 + 1600000000))" '+%a %b %e %T %Y')" ;;
      user=) row="$row $(/usr/bin/stat -c %U "${proc}/$pid")" ;;
      args=) row="$row $(tr '\\0' ' ' <"${proc}/$pid/cmdline")" ;;
      *) echo "ps: $each: keyword not found" >&2; exit 1 ;;
    esac
  done
  printf '%s\n' "$row"
done
exit $found`,
});

/** A folder of tools that take what those of macOS take, and nothing else. It is the whole PATH. */
export async function bsdTools(dir: string): Promise<string> {
  const bin = join(dir, 'bin');
  await mkdir(bin, { recursive: true });
  for (const name of alike) await symlink(`/usr/bin/${name}`, join(bin, name));
  const tools = {
    ...own(join(dir, 'proc')),
    ...Object.fromEntries(strict.map((name) => [name, `POSIXLY_CORRECT=1 exec /usr/bin/${name} "$@"`])),
  };
  for (const [name, text] of Object.entries(tools))
    await writeFile(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return bin;
}

const hide =
  '/usr/bin/mkdir -p "$1/proc"; /usr/bin/mount --bind /proc "$1/proc" && /usr/bin/mount -t tmpfs none /proc && shift && exec "$@"';

/** Words before a command: there is no /proc for it. */
export const withoutProc = (dir: string): string[] => [
  '/usr/bin/unshare',
  '--mount',
  '--propagation',
  'private',
  '/bin/sh',
  '-c',
  hide,
  'sh',
  dir,
];
