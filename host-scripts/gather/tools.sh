# Output and small tools of the gathering script. R, F, T and the like are results: POSIX sh has no local names.

section() { buffer="$buffer@$nonce $1 ${#2}$nl$2$nl"; }

# A line of fields. What would break the line becomes a question mark.
record() {
  row=
  for cell in "$@"; do
    case $cell in *"$nl"* | *"$tab"*) cell='?' ;; esac
    row="$row$cell$tab"
  done
  records="$records${row%"$tab"}$nl"
}

# first VAR FILE: the first line of a regular file; empty for anything else. (Opening a pipe would wait for ever.)
first() {
  eval "$1="
  if [ -f "$2" ]; then { IFS= read -r "$1" <"$2"; } 2>/dev/null; fi
  return 0
}

looked() { record looked "$@"; }


prepare() {
  nl='
'
  tab=$(printf '\t') cr=$(printf '\r')
  records= buffer= IFS=" $tab$nl"
  user_path=${PATH:-}
  PATH="${PATH:+$PATH:}/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
  LC_ALL=C
  export PATH LC_ALL
  unset CDPATH GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GREP_OPTIONS GREP_COLOR
  HOME=${HOME:-/}
  HOME=${HOME%/}
  sha= procfs=no git=$(command -v git 2>/dev/null)
  for tool in sha256sum shasum openssl; do
    command -v "$tool" >/dev/null 2>&1 && { sha=$tool; break; }
  done
  case ",$parts" in *,ps,*) ;; *) [ -r /proc/self/stat ] && procfs=yes ;; esac
  stat_flavour
  me=$(id) uname=$(uname -sn)
  my_uid=${me#uid=} my_uid=${my_uid%%[!0-9]*} my_name=${me#*\(} my_name=${my_name%%\)*}
  now=$(date +%s.%N 2>/dev/null)
  case $now in *[!0-9.]* | *.) now=$(date +%s) ;; esac
  uptime= boot= container=no
  if [ "$procfs" = yes ]; then
    { read -r uptime _ </proc/uptime; } 2>/dev/null
    while read -r key value _; do [ "$key" = btime ] && boot=$value; done </proc/stat
    { while read -r key; do own_group="${own_group:-} $key"; done </proc/self/cgroup; } 2>/dev/null
  fi
  if [ -e /.dockerenv ] || [ -e /run/.containerenv ]; then container=yes; fi
  record own-group "${own_group:-}"
  case ${own_group:-} in *docker* | *kubepods* | *libpod* | *lxc* | *containerd*) container=yes ;; esac
  record host "${uname%% *}" "${uname#* }" "$my_uid" "$my_name" "$container"
  record clock "$now" "$uptime" "$boot"
  record tools "sha=$sha" "procfs=$procfs" "stat=$stat_kind" "git=$git"
}

stat_flavour() {
  stat_kind=none
  case $(stat -c '%.9Y' / 2>/dev/null) in
    [0-9]*.[0-9]*) stat_kind=gnu ;;
    *)
      case $(stat -c '%Y' / 2>/dev/null) in
        [0-9]*) stat_kind=plain ;;
        *) case $(stat -f '%Fm' / 2>/dev/null) in [0-9]*) stat_kind=bsd ;; esac ;;
      esac
      ;;
  esac
}

# SIZE MTIME CTIME UID MODE PATH of each file that exists; times in seconds.
stats() {
  case $stat_kind in
    gnu) stat -L -c '%s %.9Y %.9Z %u %a %n' -- "$@" 2>/dev/null ;;
    plain) stat -L -c '%s %Y %Z %u %a %n' -- "$@" 2>/dev/null ;;
    bsd) stat -L -f '%z %Fm %Fc %u %Lp %N' -- "$@" 2>/dev/null ;;
  esac
}

sha256() {
  case $sha in
    sha256sum) sha256sum "$@" ;;
    shasum) shasum -a 256 "$@" ;;
    openssl) openssl dgst -sha256 -r "$@" ;;
  esac
}

# F: first 8 hex digits of the value's sha256; `set` where it cannot be had without showing the value to others.
fingerprint() {
  F=set
  [ -n "$1" ] || { F=; return; }
  [ -n "$sha" ] || return
  case $(command -v printf) in */*) return ;; esac
  F=$(printf '%s' "$1" | sha256 2>/dev/null)
  F=${F%"${F#????????}"}
}

# Between these, unquoted text is parted into lines and nothing else.
split() { set -f; IFS=$nl; }
unsplit() { set +f; IFS=" $tab$nl"; }

# R: the path with every symbolic link resolved; the path itself where that cannot be done.
real() {
  R=$1 links=0
  while [ -L "$R" ] && [ "$links" -lt 10 ]; do
    links=$((links + 1))
    to=$(readlink "$R") || break
    case $to in /*) R=$to ;; *) R=${R%/*}/$to ;; esac
  done
  to=$(cd -P -- "${R%/*}/" 2>/dev/null && pwd -P) && R=${to%/}/${R##*/}
}

real_dir() {
  R=$1
  to=$(cd -P -- "$1/" 2>/dev/null && pwd -P) && R=$to
}
