/** File operations as POSIX scripts; errors are told by the C-locale text of the tools. `$1` is the path, not quoted further. */

const posix = 'export LC_ALL=C\n';
// Where a tool takes a word before the path (chmod), no `--`: the BSDs end options at the first word. Paths begin with a slash.
/** `ls` tells the reason, which shells do not (dash: "Directory nonexistent" for a file too). */
const mustBeFolder = (path: string): string => `ls -ld -- "${path}/." >/dev/null || exit 1`;

/** `kind-and-mode(hex) size uid gid nlink mtime`; GNU and BusyBox know `-c`, the BSDs `-f`. `$2` is `L` to follow. */
export const statScript = `${posix}follow=\${2:+-$2}
if [ -z "$2" ] && ! [ -e "$1" ] && ! [ -L "$1" ]; then ls -d -- "$1" >/dev/null; exit; fi
if fine=$(stat -c %.3Y / 2>/dev/null); then
  case $fine in *[!0-9.]*|*.) when=%Y ;; *.*) when=%.3Y ;; *) when=%Y ;; esac
  exec stat $follow -c "%f %s %u %g %h $when" -- "$1"
fi
exec stat $follow -f '%Xp %z %u %g %l %Fm' -- "$1"`;

/** `$2` is the most bytes that may come. */
export const readScript = `${posix}[ -d "$1" ] && { echo 'Is a directory' >&2; exit 1; }
head -c "$2" -- "$1"`;

/** macOS before 12.3 has no \`readlink -f\`. What a command prints loses its last line ends, so an x guards them. */
export const realpathScript = `${posix}[ -e "$1" ] || { ls -dL -- "$1" >/dev/null; exit 1; }
readlink -nf -- "$1" 2>/dev/null && exit
path=$1
while [ -L "$path" ]; do
  to=$(readlink -n -- "$path"; printf x) to=\${to%x}
  case $to in /*) path=$to ;; *) path=\${path%/*}/$to ;; esac
done
rest=
if ! [ -d "$path" ]; then rest=\${path##*/} path=\${path%/*}/; fi
cd -P -- "$path" || exit 1
path=$(pwd -P; echo x) path=\${path%?x}
path=\${path%/}\${rest:+/$rest}
printf '%s' "\${path:-/}"`;

export const readlinkScript = `${posix}[ -L "$1" ] || {
  ls -d -- "$1" >/dev/null && echo 'Invalid argument' >&2
  exit 1
}
readlink -n -- "$1"`;

export const readdirScript = `${posix}${mustBeFolder('$1')}
cd -- "$1" || exit 1
[ -r . ] || { echo 'Permission denied' >&2; exit 1; }
for name in * .[!.]* ..?*; do
  if [ -e "$name" ] || [ -L "$name" ]; then printf '%s\\000' "$name"; fi
done`;

export const mkdirScript = `${posix}mkdir -m "$2" -- "$1"`;

/** Name, mode, sha256; the bytes come on standard input. Whatever ends it early takes the file away again. */
export const createScript = `${posix}${mustBeFolder('${1%/*}')}
umask 077
[ -e "$1" ] || [ -L "$1" ] && { echo 'File exists' >&2; exit 1; }
set -C
{ : >"$1"; } || exit 1
set +C
trap 'rm -f -- "$1"' EXIT
trap 'exit 1' HUP INT TERM PIPE
cat >"$1" || exit 1
if command -v sha256sum >/dev/null 2>&1; then sum=$(sha256sum <"$1")
elif command -v shasum >/dev/null 2>&1; then sum=$(shasum -a 256 <"$1")
else sum=$(openssl dgst -sha256 -r <"$1"); fi
[ "\${sum%% *}" = "$3" ] || { echo 'what arrived is not what was sent' >&2; exit 1; }
chmod "$2" "$1" || exit 1
sync -- "$1" 2>/dev/null || sync
trap - EXIT`;

/** Where the target is a folder, plain \`mv\` would move into it. GNU and BusyBox know \`-T\`, the BSDs \`-h\` for links, BusyBox nothing for links. */
export const renameScript = `${posix}if [ -d "$2" ]; then
  [ -d "$1" ] || [ -L "$2" ] || { echo 'Is a directory' >&2; exit 1; }
  said=$(mv -fT -- "$1" "$2" 2>&1) ||
    if [ -L "$2" ]; then mv -fh -- "$1" "$2" 2>/dev/null || { rm -f -- "$2" && mv -f -- "$1" "$2"; } || exit 1
    else case $said in
      *option*) rmdir -- "$2" && mv -f -- "$1" "$2" || exit 1 ;;
      *) printf '%s\\n' "$said" >&2; exit 1 ;;
    esac; fi
else mv -f -- "$1" "$2" || exit 1; fi
case $2 in /*/*) folder=\${2%/*} ;; *) folder=/ ;; esac
sync -- "$folder" 2>/dev/null || sync`;

/** `$1` what, `$2` mode, `$3` owner or empty, `$4` group or empty. Another group is taken on where we may. */
export const ownershipScript = `${posix}if [ -n "$3" ]; then chown "$3:$4" "$1" || exit 1
elif [ -n "$4" ]; then chgrp "$4" "$1" 2>/dev/null; fi
chmod "$2" "$1"`;

export const removeFileScript = `${posix}[ -d "$1" ] && [ ! -L "$1" ] && { echo 'Is a directory' >&2; exit 1; }
rm -f -- "$1"`;

export const removeDirScript = `${posix}[ -e "$1" ] || [ -L "$1" ] || exit 0
rmdir -- "$1"`;
