# hermes-compat: gathers in one round what this machine shows of Hermes Agent: installs, homes, processes.
# Needs a POSIX shell and the usual small tools. Writes nothing, runs no engine module.
# Arguments: NONCE PATH HOME PROFILE PORT PARTS (empty where not asked; PARTS is a list of hash, git, ps).
# Output: `@NONCE begin`, sections `@NONCE NAME BYTES` + content, `@NONCE end`. Parsed by src/engine/frame.ts.
# The section `records` holds lines of fields with a tab between them; the first field says what the line is.

main() {
  nonce=$1 ask_path=$2 ask_home=$3 ask_profile=$4 ask_port=$5 parts=",$6,"
  printf '@%s begin\n' "$nonce"
  prepare
  find_homes
  find_installs
  find_processes
  describe_installs
  # The slow part, hashing and git, runs beside the rest; it prints before the buffer is printed.
  slow_parts &
  read_code
  read_processes
  read_homes
  wait
  section records "$records"
  printf '%s' "$buffer"
  printf '@%s end\n' "$nonce"
}

# --- output ---

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

# --- small tools ---

prepare() {
  nl='
'
  tab=$(printf '\t')
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

# --- homes ---

find_homes() {
  homes=$nl
  default_home=$HOME/.hermes
  named=none named_install=
  [ -n "$ask_path" ] && name_path
  if [ -n "$ask_home" ]; then
    home=$ask_home from=flag
  elif [ "$named" = home ]; then
    home=$ask_path from=target
  else
    home=$(printf '%s' "${HERMES_HOME:-}" | tr -d '\r\n') from=environment
    case $home in '' | *[!\ ]*) ;; *) home= ;; esac
    [ -n "$home" ] || { home=$default_home from=default; }
  fi
  while case $home in ?*/) true ;; *) false ;; esac; do home=${home%/}; done
  real_dir "$home"
  home=$R
  root_of "$home"
  root=$R root_home=$R
  record home "$home" "$root" "$from" "$default_home" "$ask_profile"
  add_home "$home"
  add_home "$root"
  profile=$ask_profile
  if [ -z "$profile" ] && [ "$root" = "$home" ]; then sticky_profile "$root"; fi
  case $profile in '' | default | *[!a-z0-9_-]*) ;; *) add_home "$root/profiles/$profile" ;; esac
}

add_home() { case $homes in *"$nl$1$nl"*) ;; *) homes="$homes$1$nl" ;; esac }

# R: the home that holds profiles/ for this one (get_default_hermes_root of the engine).
root_of() {
  R=$1
  case $1 in
    "$default_home" | "$default_home"/*) R=$default_home ;;
    */profiles/*) case ${1##*/profiles/} in */*) ;; *) R=${1%/profiles/*} ;; esac ;;
  esac
}

sticky_profile() {
  first profile "$1/active_profile"
  profile=${profile%"$(printf '\r')"}
  while case $profile in *[\ $tab]) true ;; *) false ;; esac; do profile=${profile%?}; done
}

# What is the path that the user named: home, root, venv, script, nothing?
name_path() {
  while case $ask_path in ?*/) true ;; *) false ;; esac; do ask_path=${ask_path%/}; done
  p=$ask_path
  if [ -d "$p" ] && ! [ -x "$p" ]; then
    named=unreadable
  elif [ -f "$p/hermes_cli/__init__.py" ]; then
    named=root
  elif [ "${p##*/}" = hermes_cli ] && [ -f "$p/__init__.py" ]; then
    named=root ask_path=${p%/*}
  elif [ -f "$p/pyvenv.cfg" ] || [ -x "$p/bin/python" ] || [ -x "$p/bin/python3" ]; then
    named=venv
  elif [ -d "$p" ] && [ -f "$p/hermes" ]; then
    named=script ask_path=$p/hermes
  elif [ -f "$p" ]; then
    named=script
  elif [ -d "$p" ]; then
    named=other
    for hint in config.yaml .env state.db active_profile profiles hermes-agent sessions skills plugins logs SOUL.md \
      auth.json desktop-compat spawn-ledger.json; do
      [ -e "$p/$hint" ] && { named=home; break; }
    done
    [ "$named" = other ] && [ "$p" = "$default_home" ] && named=home
  else
    named=nothing
  fi
}

# --- installs ---

find_installs() {
  roots=$nl count=0 python_runs=0
  case $named in
    nothing) looked "$ask_path" nothing 'named; nothing is there' ;;
    unreadable) looked "$ask_path" unreadable 'named; this account may not enter it' ;;
    other) looked "$ask_path" not-hermes 'named; neither a Hermes home, an install, a virtual environment nor a script' ;;
    root) try_root "$ask_path" "$ask_path" && named_install=$index ;;
    venv) try_venv "$ask_path" "$ask_path" && named_install=$index ;;
    script)
      alias_profile=
      try_script "$ask_path" "$ask_path" && named_install=$index
      [ -n "$alias_profile" ] && add_home "$root_home/profiles/$alias_profile"
      record alias "$alias_profile"
      ;;
    home)
      if [ -e "$ask_path/hermes-agent" ]; then
        try_root "$ask_path/hermes-agent" "$ask_path/hermes-agent" && named_install=$index
      fi
      ;;
  esac
  record named "$named" "$named_install"
  scan_path
  scan_places
}

scan_path() {
  on_path= seen= dirs=0
  set -f
  IFS=:
  for folder in $user_path; do
    unsplit
    dirs=$((dirs + 1))
    [ "$dirs" -gt 100 ] && break
    case $folder in /*) ;; *) continue ;; esac
    case $seen in *":$folder:"*) continue ;; esac
    seen="$seen:$folder:"
    for script_name in hermes hermesx hermes-iot; do
      [ -f "$folder/$script_name" ] && [ -x "$folder/$script_name" ] || continue
      try_script "$folder/$script_name" "$folder/$script_name"
      [ -z "$on_path" ] && on_path=${index:-none} && record onpath "$on_path" "$folder/$script_name"
    done
  done
  unsplit
  [ -n "$on_path" ] || looked "PATH $user_path" nothing 'no hermes, hermesx or hermes-iot in these folders'
}

# Fixed places, for a PATH is cut short in services and non-interactive logins.
scan_places() {
  for folder in "$HOME/.local/bin" "$HOME/bin" /usr/local/bin /opt/homebrew/bin; do
    case $seen in *":$folder:"*) continue ;; esac
    for script_name in hermes hermesx hermes-iot; do
      if [ -f "$folder/$script_name" ]; then try_script "$folder/$script_name" "$folder/$script_name"; else [ "$script_name" = hermes ] && looked "$folder/hermes" nothing ''; fi
    done
  done
  split
  for folder in $homes; do
    unsplit
    place_root "$folder/hermes-agent"
  done
  unsplit
  [ -n "${HERMES_INSTALL_DIR:-}" ] && place_root "$HERMES_INSTALL_DIR"
  place_root /usr/local/lib/hermes-agent
  place_root /opt/hermes
  place_venvs "${UV_TOOL_DIR:-${XDG_DATA_HOME:-$HOME/.local/share}/uv/tools}"
  place_venvs "${PIPX_HOME:-$HOME/.local/share/pipx}/venvs"
  [ -z "${PIPX_HOME:-}" ] && [ -d "$HOME/.local/pipx/venvs" ] && place_venvs "$HOME/.local/pipx/venvs"
  [ -d /opt/pipx/venvs ] && place_venvs /opt/pipx/venvs
  [ -d "$HOME/.pyenv/versions" ] && place_venvs "$HOME/.pyenv/versions"
  [ -n "${VIRTUAL_ENV:-}" ] && [ -d "$VIRTUAL_ENV" ] && try_venv "$VIRTUAL_ENV" "$VIRTUAL_ENV"
  for folder in "$HOME"/.local/lib/python3*/site-packages /usr/local/lib/python3*/*-packages /usr/lib/python3/dist-packages; do
    [ -f "$folder/hermes_cli/__init__.py" ] && try_root "$folder" "$folder"
  done
}

place_root() {
  if [ -e "$1" ]; then
    try_root "$1" "$1"
  else
    looked "$1" nothing ''
  fi
}

place_venvs() {
  hits=0
  for package in "$1"/*/lib/python3*/site-packages/hermes_cli; do
    [ -d "$package" ] || continue
    hits=$((hits + 1))
    venv=${package%/lib/python3*}
    try_venv "$venv" "$venv"
  done
  [ "$hits" = 0 ] && looked "$1" nothing ''
}

try_script() {
  index=
  if follow "$1" && package_of "$interp" "$code"; then
    add "$root" "$interp" "$prefix" "$site" || return 1
    record command "$index" "$1"
    looked "$2" install "$root"
    return 0
  fi
  looked "$2" "${found:-not-hermes}" "$why"
  return 1
}

try_venv() {
  index=
  real_dir "$1"
  for python in "$R/bin/python" "$R/bin/python3"; do [ -e "$python" ] && break; done
  if package_of "$python" ''; then
    add "$root" "$python" "$prefix" "$site" || return 1
    for name in hermes hermesx hermes-iot; do [ -f "$prefix/bin/$name" ] && record command "$index" "$prefix/bin/$name"; done
    looked "$2" install "$root"
    return 0
  fi
  looked "$2" "${found:-not-hermes}" "$why"
  return 1
}

try_root() {
  index=
  real_dir "$1"
  root=$R
  if [ -d "$root" ] && ! [ -x "$root" ]; then
    looked "$2" unreadable 'this account may not enter it'
    return 1
  fi
  if ! [ -f "$root/hermes_cli/__init__.py" ]; then
    looked "$2" not-hermes 'no hermes_cli package in it'
    return 1
  fi
  prefix= site=
  for dir in "$root/venv" "$root/.venv" "$root/../../.."; do
    for python in "$dir/bin/python" "$dir/bin/python3"; do
      [ -e "$python" ] || continue
      real_dir "$dir"
      prefix=$R
      python=$prefix/bin/${python##*/}
      break 2
    done
  done
  [ -n "$prefix" ] || python=
  site_of "$prefix"
  add "$root" "$python" "$prefix" "$site" || return 1
  for name in hermes hermesx hermes-iot; do [ -n "$prefix" ] && [ -f "$prefix/bin/$name" ] && record command "$index" "$prefix/bin/$name"; done
  looked "$2" install "$root"
}

# Remembers an install once; sets index.
add() {
  real_dir "$1"
  root=$R
  case $root in *"$nl"* | *"$tab"*) return 1 ;; esac
  case $roots in
    *"$nl$root$nl"*)
      index=1
      while eval "[ \"\$root_$index\" != \"\$root\" ]"; do index=$((index + 1)); done
      # A later way to it may know the interpreter that the first one lacked.
      if eval "[ -z \"\$python_$index\" ]" && [ -n "$2" ]; then
        eval "python_$index=\$2 prefix_$index=\$3 site_$index=\$4"
      fi
      return 0
      ;;
  esac
  [ "$count" -ge 24 ] && { record note too-many-installs "only the first $count are described"; return 1; }
  count=$((count + 1))
  index=$count
  roots="$roots$root$nl"
  eval "root_$index=\$root python_$index=\$2 prefix_$index=\$3 site_$index=\$4"
}

# Follows a script through links and shell wrappers to its interpreter. Sets interp, code (a folder that comes
# before the interpreter's own), or why and found.
follow() {
  f=$1 depth=0 interp= code= why= found=not-hermes
  while [ "$depth" -lt 6 ]; do
    depth=$((depth + 1))
    real "$f"
    f=$R
    [ -f "$f" ] || { why="leads to $f, which is not there"; found=nothing; return 1; }
    [ -r "$f" ] || { why="$f is not readable for this account"; found=unreadable; return 1; }
    # (A shell may warn of zero bytes in a program.)
    { text=$(dd if="$f" bs=8192 count=1); } 2>/dev/null
    case $text in '#!'*) ;; *) why="$f is not a script"; return 1 ;; esac
    rest=${text%%"$nl"*}
    rest=${rest#??}
    token
    case ${T##*/} in
      env)
        while token; do case $T in -* | *=*) ;; *) break ;; esac; done
        T=$(command -v "$T" 2>/dev/null)
        ;;
    esac
    case ${T##*/} in
      python* | pypy*)
        interp=$T
        [ -f "${f%/*}/hermes_cli/__init__.py" ] && code=${f%/*}
        case $text in *hermes_cli*) return 0 ;; esac
        why="$f is a Python script that does not start hermes_cli"
        return 1
        ;;
      sh | bash | dash | ash | ksh | mksh | zsh | yash) unwrap || return 1 ;;
      *) why="$f is run by ${T:-an unknown program}"; return 1 ;;
    esac
    [ -n "$interp" ] && return 0
  done
  why='more than five wrappers'
  return 1
}

# From the text of a shell wrapper: the program of its `exec` line, as f (to follow) or interp.
unwrap() {
  wrapper=$f f=
  split
  for rest in $text; do
    unsplit
    while case $rest in [\ $tab]*) true ;; *) false ;; esac; do rest=${rest#?}; done
    case $rest in
      'exec '*) rest=${rest#exec } ;;
      "'''exec' "*) rest=${rest#"'''exec' "} ;;
      *) continue ;;
    esac
    while token; do case $T in -a) token ;; -* | *=* | env | */env) ;; *) break ;; esac; done
    # A profile alias: `exec hermes -p NAME "$@"`.
    case $rest in *' -p '*) alias_profile=${rest##* -p } alias_profile=${alias_profile%%[!a-z0-9_-]*} ;; esac
    case $T in
      *\$*) why="$wrapper makes its path at run time: $T" ;;
      ?*) f=$T ;;
    esac
    [ -n "$f" ] && break
  done
  unsplit
  [ -n "$f" ] || { why=${why:-"$wrapper is a shell script without an exec line"}; return 1; }
  case $f in */*) ;; *) f=$(command -v "$f" 2>/dev/null) ;; esac
  case ${f##*/} in python* | pypy*) interp=$f; path_insert "$text" ;; esac
  return 0
}

# T: the first word of rest, without quotes; rest: what follows.
token() {
  while case $rest in [\ $tab]*) true ;; *) false ;; esac; do rest=${rest#?}; done
  case $rest in
    '') T=; return 1 ;;
    \"*) rest=${rest#?}; T=${rest%%\"*}; rest=${rest#*\"} ;;
    \'*) rest=${rest#?}; T=${rest%%\'*}; rest=${rest#*\'} ;;
    *) T=${rest%%[ $tab]*}; rest=${rest#"$T"} ;;
  esac
  case $T in
    \$HOME/*) T=$HOME/${T#*/} ;;
    \${HOME}/*) T=$HOME/${T#*/} ;;
    \~/*) T=$HOME/${T#*/} ;;
  esac
  T=${T%"$(printf '\r')"}
  return 0
}

# code: the folder that a `python -c` launcher puts first on its path (launchers of 0.22).
path_insert() {
  case $1 in *'sys.path.insert(0, '*) ;; *) return ;; esac
  code=${1#*'sys.path.insert(0, '}
  while case $code in [\'\"]*) true ;; *) false ;; esac; do code=${code#?}; done
  code=${code%%[\'\")]*}
  [ -f "$code/hermes_cli/__init__.py" ] || code=
}

site_of() {
  site=
  [ -n "$1" ] || return
  for packages in "$1"/lib/python3*/site-packages "$1"/lib64/python3*/site-packages; do
    [ -d "$packages" ] || continue
    [ -z "$site" ] && site=$packages
    [ -f "$packages/hermes_cli/__init__.py" ] && { site=$packages; break; }
  done
}

# Where an interpreter finds hermes_cli. Sets root, prefix, site, or why and found.
package_of() {
  root= why= found=not-hermes
  prefix=${1%/*}
  prefix=${prefix%/*}
  real_dir "${prefix:-/}"
  prefix=$R
  site_of "$prefix"
  if [ -n "$2" ]; then root=$2; return 0; fi
  if [ -n "$site" ]; then
    [ -f "$site/hermes_cli/__init__.py" ] && { root=$site; return 0; }
    editable_of && return 0
  fi
  [ -e "$1" ] || { why="its interpreter $1 is not there"; found=nothing; return 1; }
  [ -x "$1" ] || { why="its interpreter $1 is not executable for this account"; found=unreadable; return 1; }
  trusted "$prefix" || { why="its interpreter $1 belongs to another account, so it was not run"; return 1; }
  [ "$python_runs" -ge 3 ] && { why="no hermes_cli beside its interpreter $1"; return 1; }
  python_runs=$((python_runs + 1))
  text=$("$1" -I -B -c 'import importlib.util as u
s = u.find_spec("hermes_cli")
print(s.origin if s else "")' 2>/dev/null)
  case $text in
    */hermes_cli/__init__.py) root=${text%/hermes_cli/__init__.py}; return 0 ;;
    '') why="its interpreter $1 finds no hermes_cli" ;;
    *) why="its interpreter $1 finds hermes_cli at an unusual place: $text" ;;
  esac
  return 1
}

# Start-up files of an environment run with its interpreter: only ours and those of root are asked.
trusted() {
  [ -O "$1" ] && return
  owned=$(stats "$1")
  owned=${owned#* * * }
  [ "${owned%% *}" = 0 ]
}

editable_of() {
  for file in "$site"/*hermes*.dist-info/direct_url.json; do
    [ -f "$file" ] && [ -r "$file" ] || continue
    text=$(dd if="$file" bs=4096 count=1 2>/dev/null)
    case $text in *'"editable"'*true*) ;; *) continue ;; esac
    root=${text#*'"file://'}
    root=${root%%'"'*}
    case $root in *%*) root= ;; esac
    [ -f "$root/hermes_cli/__init__.py" ] && return 0
  done
  for file in "$site"/*hermes*.pth; do
    [ -f "$file" ] && [ -r "$file" ] || continue
    while read -r root; do
      case $root in /*) [ -f "$root/hermes_cli/__init__.py" ] && return 0 ;; esac
    done <"$file"
  done
  root=
  return 1
}

# --- what each install is made of ---

describe_installs() {
  index=0 code_files= other_files= record_files= newer_from= mounts_wanted=no seen_infos=
  while [ "$index" -lt "$count" ]; do
    index=$((index + 1))
    eval "root=\$root_$index python=\$python_$index prefix=\$prefix_$index site=\$site_$index"
    record install "$index" "$root" "$python" "$prefix" "$site"
    dist_infos
    venv_facts
    first text "$root/.install_method"
    flag stamp "$text"
    [ -f "$root/install-stamp.json" ] && flag stamped yes
    [ -f "$prefix/uv-receipt.toml" ] && flag uv-receipt yes
    [ -f "$prefix/pipx_metadata.json" ] && flag pipx yes
    [ -e "$root/.git" ] && flag git yes
    # Moves with every update of a checkout.
    [ -f "$root/.git/logs/HEAD" ] && other_files="$other_files$root/.git/logs/HEAD$nl"
    [ -f "$root/hermes_cli/web_dist/index.html" ] && flag web yes
    [ -f "$root/hermes_cli/web_server.py" ] && flag web-server yes
    [ -f "$root/hermes_cli/web_routers/chat_ws.py" ] && flag chat-ws yes
    [ -d "$root/tui_gateway" ] && flag gateway yes
    if [ -n "$site" ]; then
      flag site yes
      for name in websockets wsproto fastapi uvicorn; do [ -e "$site/$name" ] && flag "$name" yes; done
    fi
    if [ -w "$root/hermes_cli" ]; then flag writable yes; else mounts_wanted=yes; fi
    for file in "$root"/hermes_cli/*.orig "$root"/hermes_cli/*.rej "$root"/hermes_cli/*.bak "$root"/hermes_cli/web_routers/*.orig "$root"/tui_gateway/*.orig; do
      [ -f "$file" ] && flag backup "$file"
    done
    list_code
  done
}

flag() { [ -n "$2" ] && record flag "$index" "$1" "$2"; }

dist_infos() {
  for dir in "$root"/*hermes*.dist-info "$site"/*hermes*.dist-info; do
    [ -f "$dir/METADATA" ] || continue
    case $seen_infos in *"$nl$index $dir$nl"*) continue ;; esac
    seen_infos="$seen_infos$nl$index $dir$nl"
    first installer "$dir/INSTALLER"
    first text "$dir/direct_url.json"
    case $text in *'"editable"'*true*) editable=yes ;; *) editable=no ;; esac
    record dist "$index" "$dir" "$installer" "$editable"
    record_files="$record_files$dir/METADATA$nl"
    # Files changed after the installer wrote RECORD are worth a hash, the rest of a wheel is not.
    [ "${dir%/*}" = "$root" ] && [ -f "$dir/RECORD" ] && newer_from="$newer_from$dir/RECORD$nl"
  done
}

# Version of the interpreter, and whether its environment sees no packages but its own.
venv_facts() {
  case $site in */lib*/python3*/site-packages) python=${site%/site-packages} python=${python##*/python} ;; *) python= ;; esac
  if [ -f "$prefix/pyvenv.cfg" ] && [ -r "$prefix/pyvenv.cfg" ]; then
    while read -r key _ value; do
      case $key in
        version | version_info) python=$value ;;
        include-system-site-packages) [ "$value" = false ] && flag isolated yes ;;
      esac
    done <"$prefix/pyvenv.cfg"
  fi
  flag python "$python"
}

# Files whose change needs a restart, at most 160 of an install.
list_code() {
  files=0
  for file in "$root"/hermes_cli/web_server*.py "$root"/hermes_cli/main.py "$root"/hermes_cli/__init__.py \
    "$root"/hermes_cli/subcommands/dashboard.py "$root"/hermes_cli/web_routers/*.py "$root"/tui_gateway/server.py; do
    [ -f "$file" ] && [ -r "$file" ] || continue
    files=$((files + 1))
    [ "$files" -gt 160 ] && break
    code_files="$code_files$file$nl"
  done
  [ -f "$root/pyproject.toml" ] && record_files="$record_files$root/pyproject.toml$nl"
  [ -f "$root/hermes_cli/web_dist/index.html" ] && other_files="$other_files$root/hermes_cli/web_dist/index.html$nl"
}

read_code() {
  servers= dirs= pairs=
  split
  for file in $code_files; do
    case $file in
      */hermes_cli/web_server.py) servers="$servers$file$nl" ;;
      */hermes_cli/main.py | */web_routers/chat_ws.py | */tui_gateway/server.py) ;;
      *) continue ;;
    esac
    set +f
    name=${file##*/}
    for compiled in "${file%/*}/__pycache__/${name%.py}".cpython-*.pyc; do
      case $compiled in *.opt-*) continue ;; esac
      [ -f "$compiled" ] && pairs="$pairs$file$nl$compiled$nl"
    done
    set -f
  done
  index=0
  while [ "$index" -lt "$count" ]; do
    index=$((index + 1))
    eval "dirs=\"\$dirs\$root_$index/hermes_cli\$nl\""
  done
  [ -n "$dirs" ] && section stat "$(stats $code_files $other_files $newer_from $dirs)"
  if [ -n "$code_files" ]; then
    code=$(grep -nHE -e '_DASHBOARD_EMBEDDED_CHAT_ENABLED *[:=]' -e '^ *def start_server' \
      -e '^    (embedded_chat|initial_profile|headless) *:' -e '"/api/ws"' -e '/api/model/library' \
      -e '^DESKTOP_BACKEND_CONTRACT *[:=]' -e '^__(version|release_date)__ *[:=]' -e '^(<<<<<<<|>>>>>>>) ' \
      $code_files /dev/null 2>/dev/null | cut -c1-600 | head -n 4000)
    section code "$code$nl$(moved_contracts)"
  fi
  if [ -n "$record_files" ]; then
    section meta "$(grep -nHE '^(Name|Version|name|version|requires-python)( *=|: )' $record_files /dev/null 2>/dev/null | cut -c1-400 | head -n 400)"
  fi
  [ -n "$servers" ] && missing_modules
  [ -n "$pairs" ] && stale_bytecode
  unsplit
  if [ "$mounts_wanted" = yes ] && [ -r /proc/mounts ]; then
    section mounts "$(cut -d' ' -f2,4 /proc/mounts | cut -c1-300 | head -n 400)"
  fi
}

# A release may define the contract in another module than tui_gateway/server.py.
moved_contracts() {
  others= index=0
  set +f
  while [ "$index" -lt "$count" ]; do
    index=$((index + 1))
    eval "root=\$root_$index"
    case $code in *"$root/tui_gateway/server.py:"[0-9]*:DESKTOP_BACKEND_CONTRACT*) continue ;; esac
    for file in "$root"/tui_gateway/*.py; do [ -f "$file" ] && others="$others$file$nl"; done
  done
  set -f
  [ -n "$others" ] && grep -nHE '^DESKTOP_BACKEND_CONTRACT *[:=]' $others /dev/null 2>/dev/null | cut -c1-600 | head -n 100
}

# Modules of the engine's own packages that web_server.py imports at its top level and the tree lacks.
missing_modules() {
  for text in $(grep -nHE '^(from|import) (hermes_|(tui_gateway|gateway|agent|tools|cron|plugins|providers|utils|cli|run_agent|model_tools|toolsets|pm)([ .]|$))' $servers /dev/null 2>/dev/null | cut -c1-300 | head -n 3000); do
    root=${text%%/hermes_cli/web_server.py:*}
    text=${text#"$root/hermes_cli/web_server.py:"}
    text=${text#*:}
    kind=${text%% *}
    text=${text#* }
    module=${text%%[!A-Za-z0-9_.]*}
    if ! has_module "$module"; then
      record missing "$root" "$absent"
    elif [ "$kind" = from ] && [ "$module" = hermes_cli ]; then
      text=${text#*import }
      text=${text%%#*}
      IFS=,
      for name in $text; do
        while case $name in ' '*) true ;; *) false ;; esac; do name=${name# }; done
        name=${name%%[!A-Za-z0-9_]*}
        case $name in '' | _*) continue ;; esac
        has_module "hermes_cli.$name" || grep -qw "$name" "$root/hermes_cli/__init__.py" 2>/dev/null || record missing "$root" "$absent"
      done
      IFS=$nl
    fi
  done
}

# absent: the outermost package of $1 that is not there, as Python would name it.
has_module() {
  absent= module_path=$root
  IFS=.
  for part in $1; do
    absent=$absent${absent:+.}$part
    module_path=$module_path/$part
    [ -e "$module_path.py" ] || [ -d "$module_path" ] || { IFS=$nl; return 1; }
  done
  IFS=$nl
}

# Compiled files that would run instead of their changed source: same stamp or unchecked, and other code.
stale_bytecode() {
  last_source=
  for text in $(compiled_stats); do
    IFS=' '
    set -- $text
    IFS=$nl
    path=${text#"$1 $2 $3 $4 "}
    case $path in
      *.py) last_source=$path size=$1 links=$2 source_time=$3 changed=$4 ;;
      *.pyc) [ -n "$last_source" ] && later "$changed" "$3" && check_compiled ;;
    esac
  done
}

compiled_stats() {
  case $stat_kind in
    gnu) stat -L -c '%s %h %.9Y %.9Z %n' -- $pairs 2>/dev/null ;;
    plain) stat -L -c '%s %h %Y %Z %n' -- $pairs 2>/dev/null ;;
    bsd) stat -L -f '%z %l %Fm %Fc %N' -- $pairs 2>/dev/null ;;
  esac
}

# Is time $1 later than $2? Seconds, perhaps with a fraction of nine digits.
later() {
  case $1$2 in
    *.*) [ "${1%.*}${1#*.}" -gt "${2%.*}${2#*.}" ] ;;
    *) [ "$1" -gt "$2" ] ;;
  esac
}

check_compiled() {
  IFS=" $tab$nl"
  set -- $(od -An -v -tu4 -N16 "$path" 2>/dev/null)
  IFS=$nl
  case $2 in
    0) [ "$3" = "${source_time%.*}" ] && [ "$4" = "$size" ] && [ "$links" = 1 ] || return 0 ;;
    1) ;;
    *) return 0 ;;
  esac
  index=0
  while [ "$index" -lt "$count" ]; do
    index=$((index + 1))
    eval "root=\$root_$index python=\$python_$index prefix=\$prefix_$index"
    case $last_source in "$root"/*) break ;; esac
  done
  [ -x "$python" ] && trusted "$prefix" || return 0
  text=$("$python" -I -B -c 'import importlib.util as u, marshal, sys
source, compiled = sys.argv[1:]
with open(source, "rb") as a, open(compiled, "rb") as b:
    text, code = a.read(), b.read()
if code[:4] == u.MAGIC_NUMBER:
    print(marshal.loads(code[16:]) != compile(text, source, "exec", dont_inherit=True))' "$last_source" "$path" 2>/dev/null)
  [ "$text" = True ] && record stale "$path"
  return 0
}

# --- slow parts, printed on their own before the buffer ---

slow_parts() {
  records= buffer=
  split
  case $parts in *,hash,*) [ -n "$sha" ] && hash_code ;; esac
  case $parts in *,git,*) ;; *) git= ;; esac
  index=0
  while [ "$index" -lt "$count" ]; do
    index=$((index + 1))
    eval "root=\$root_$index"
    [ -e "$root/.git" ] && read_git
  done
  section slow "$records"
  printf '%s' "$buffer"
}

# sha256 of the code files and of every Python file that is newer than the wheel's RECORD, and what RECORD says of them.
hash_code() {
  files=$code_files records_at= newer=
  for file in $newer_from; do
    records_at="$records_at$file$nl"
    root=${file%/*/RECORD}
    newer="$newer$(find "$root/hermes_cli" "$root/tui_gateway" "$root/gateway" -name '*.py' -newer "$file" 2>/dev/null | head -n 60)$nl"
  done
  for file in $newer; do
    case $nl$files in *"$nl$file$nl"*) ;; *) files="$files$file$nl" ;; esac
  done
  [ -n "$files" ] || return
  section sha256 "$(sha256 $files 2>/dev/null)"
  [ -n "$records_at" ] || return
  section record "$(for file in $files; do printf '%s,\n' "${file#*/site-packages/}"; done | grep -F -f - $records_at /dev/null 2>/dev/null | cut -c1-400 | head -n 8000)"
}

# Head, stashes and edits of a checkout. Only our own checkouts are given to git: a repository can name programs to run.
read_git() {
  dot=$root/.git
  if [ -f "$dot" ]; then
    first text "$dot"
    text=${text#gitdir: }
    case $text in /*) dot=$text ;; *) dot=$root/$text ;; esac
  fi
  common=$dot
  if [ -f "$dot/commondir" ]; then
    first text "$dot/commondir"
    case $text in /*) common=$text ;; *) common=$dot/$text ;; esac
  fi
  branch=
  first head "$dot/HEAD"
  case $head in
    'ref: refs/heads/'*)
      branch=${head#ref: refs/heads/}
      first head "$common/refs/heads/$branch"
      if [ -z "$head" ]; then
        head=$(grep -E " refs/heads/$branch\$" "$common/packed-refs" 2>/dev/null)
        head=${head%% *}
      fi
      ;;
  esac
  [ -s "$common/logs/refs/stash" ] && section "stash.$index" "$(tail -n 20 "$common/logs/refs/stash" 2>/dev/null | cut -c1-600)"
  edits=unknown
  if [ -n "$git" ] && [ -O "$root" ] && [ -O "$common" ]; then
    if text=$(quiet_git diff --numstat --ignore-cr-at-eol --no-ext-diff --no-textconv --ignore-submodules HEAD -- 2>/dev/null | head -n 200; quiet_git rev-parse --verify -q HEAD >/dev/null 2>&1); then
      edits=known
      section "dirty.$index" "$text"
      section "untracked.$index" "$(quiet_git ls-files --others --exclude-standard --directory 2>/dev/null | head -n 50)"
    fi
    case $(tail -n 20 "$common/logs/refs/stash" 2>/dev/null) in *hermes-update-autostash*) parked_edits ;; esac
    if [ -f "$root/hermes_cli/web_dist/index.html" ] && [ -d "$root/web/src" ]; then
      case $(find "$root/web/src" "$root/web/package.json" -type f -newer "$root/hermes_cli/web_dist/index.html" 2>/dev/null | head -n 1) in
        '') record webstale "$index" no ;;
        *) record webstale "$index" yes ;;
      esac
    fi
  fi
  record git "$index" "$head" "$branch" "$edits"
}

quiet_git() {
  GIT_OPTIONAL_LOCKS=0 git -C "$root" --no-pager -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.quotePath=false "$@" </dev/null
}

# Stash entries of an update that hold an edit made for clients (ours or Hermes One's).
parked_edits() {
  number=0
  while [ "$number" -lt 5 ]; do
    text=$(quiet_git stash show -p --no-ext-diff --no-textconv "stash@{$number}" 2>/dev/null | head -n 20000 |
      grep -m 1 -E '^[-+].*(HERMES_ONE_MODEL_LIBRARY|hermes-compat|/api/model/library|_DASHBOARD_EMBEDDED_CHAT_ENABLED|embedded_chat: bool)') &&
      record parked "$index" "stash@{$number}"
    number=$((number + 1))
  done
}

# --- processes ---

# Running engines: a Python whose script, module or launcher leads to hermes_cli. Their installs are added.
find_processes() {
  pids= engine_scripts=$nl
  if [ "$procfs" = no ]; then
    ps_processes
    return
  fi
  seen_pids=0
  for file in $(grep -lE 'hermes|dashboard|serve|gateway' /proc/[0-9]*/cmdline 2>/dev/null); do
    pid=${file#/proc/}
    pid=${pid%/cmdline}
    { IFS= read -r text <"$file"; } 2>/dev/null
    case $text in *ython* | *pypy* | *hermes*) ;; *) continue ;; esac
    seen_pids=$((seen_pids + 1))
    [ "$seen_pids" -gt 40 ] && { record note too-many-processes 'only the first 40 candidates were looked at'; break; }
    argv=$({ tr '\000\012' '\012\001' <"$file"; } 2>/dev/null) || continue
    set -f
    IFS=$nl
    set -- $argv
    IFS=" $tab$nl"
    set +f
    recognise "$pid" "$@" || continue
    pids="$pids $pid"
    record process "$pid" "$index" "$interp"
    section "argv.$pid" "$argv"
  done
}

# Without procfs: one line a process, arguments parted by blanks.
ps_processes() {
  text=$(TZ=UTC ps -axww -o pid= -o ppid= -o uid= -o lstart= -o command= 2>/dev/null | grep -E '[Pp]ython.*(hermes|dashboard|serve|gateway)' | cut -c1-2000 | head -n 40)
  [ -n "$text" ] || return
  kept=
  split
  for line in $text; do
    unsplit
    set -f
    set -- $line
    set +f
    [ $# -gt 8 ] || continue
    pid=$1
    shift 8
    recognise "$pid" "$@" || continue
    pids="$pids $pid"
    kept="$kept$line$nl"
    record process "$pid" "$index" "$interp"
    split
  done
  unsplit
  section ps "$kept"
}

# recognise PID ARGV…: is this an engine? Sets index (empty: install not reachable) and interp.
recognise() {
  pid=$1 index= code= script= module= cwd=
  shift
  case ${1##*/} in *ython* | pypy* | hermes*) ;; *) return 1 ;; esac
  case $1 in
    /*) python=$1 ;;
    */*) cwd=$(readlink "/proc/$pid/cwd" 2>/dev/null); python=$cwd/$1 ;;
    *) python= ;;
  esac
  shift
  while [ $# -gt 0 ]; do
    case $1 in
      -m) module=${2:-}; break ;;
      -c) script=-c; path_insert "${2:-}"; case ${2:-} in *hermes_cli*) module=hermes_cli ;; esac; break ;;
      -X | -W) shift ;;
      -*) ;;
      *) script=$1; break ;;
    esac
    [ $# -gt 0 ] && shift
  done
  case $module in hermes_cli | hermes_cli.*) module=hermes_cli ;; *) module= ;; esac
  [ -n "$module$script" ] || return 1
  if [ "$module" = hermes_cli ] && [ -z "$code" ] && [ -z "$script" ]; then
    cwd=${cwd:-$(readlink "/proc/$pid/cwd" 2>/dev/null)}
    [ -n "$cwd" ] && [ -f "$cwd/hermes_cli/__init__.py" ] && code=$cwd
  fi
  case $script in
    '' | -c) ;;
    /*) ;;
    *) cwd=${cwd:-$(readlink "/proc/$pid/cwd" 2>/dev/null)}; script=$cwd/$script ;;
  esac
  case $script in
    */hermes_cli/main.py) code=${script%/hermes_cli/main.py} module=hermes_cli ;;
    '' | -c) ;;
    *)
      keep=$python
      case $engine_scripts in *"$nl$script$nl"*) known=yes ;; *) known=no ;; esac
      if [ "$known" = yes ] && [ -n "$keep" ]; then
        module=hermes_cli
      elif follow "$script"; then
        module=hermes_cli engine_scripts="$engine_scripts$script$nl"
        python=${keep:-$interp}
      else
        case ${script##*/} in hermes | hermesx | hermes-iot) module=hermes_cli ;; esac
      fi
      ;;
  esac
  [ "$module" = hermes_cli ] || return 1
  interp=$python
  if [ -n "$python" ] && package_of "$python" "$code"; then
    add "$root" "$python" "$prefix" "$site" || index=
    [ -n "$index" ] && looked "process $pid" install "$root"
  else
    looked "process $pid" "${found:-unreadable}" "${why:-its interpreter is not known}"
  fi
  return 0
}

# Start, owner, environment (four names only) and listening sockets of the processes found, and who has the asked port.
read_processes() {
  if [ "$procfs" = no ]; then
    ps_listeners
    return
  fi
  for pid in $pids; do
    { IFS= read -r text <"/proc/$pid/stat"; } 2>/dev/null || continue
    section "stat.$pid" "$text"
    uid=
    { while read -r key value _; do [ "$key" = Uid: ] && { uid=$value; break; }; done <"/proc/$pid/status"; } 2>/dev/null
    groups=
    { while read -r key; do groups="$groups $key"; done <"/proc/$pid/cgroup"; } 2>/dev/null
    ancestors "${text##*\) }"
    record owner "$pid" "$uid" "${groups# }" "${parents# }"
    read_environment
  done
  sockets=
  [ -n "$pids$ask_port" ] && section tcp "$(grep -hE '^ *[0-9]+: [0-9A-F:]+ [0-9A-F:]+ 0A ' /proc/net/tcp /proc/net/tcp6 2>/dev/null | head -n 2000)"
  if [ -n "$pids" ]; then
    list=
    for pid in $pids; do list="$list /proc/$pid/fd"; done
    sockets=$(ls -l $list /dev/null 2>/dev/null | grep -E '^/proc/|socket:' | head -n 4000)
    section sockets "$sockets"
  fi
  [ -n "$ask_port" ] && find_listener
  section passwd "$(cut -d: -f1,3 /etc/passwd 2>/dev/null | head -n 300)"
}

# parents: `pid:name`, nearest first.
ancestors() {
  parents=
  IFS=' '
  set -- $1
  IFS=" $tab$nl"
  up=$2 steps=0
  while [ -n "$up" ] && [ "$up" -gt 1 ] && [ "$steps" -lt 12 ]; do
    steps=$((steps + 1))
    { IFS= read -r text <"/proc/$up/stat"; } 2>/dev/null || break
    name=${text#*\(}
    name=${name%\)*}
    parents="$parents $up:$name"
    text=${text##*\) }
    text=${text#* }
    up=${text%% *}
  done
}

read_environment() {
  if ! { true <"/proc/$pid/environ"; } 2>/dev/null; then
    record env "$pid" readable no
    return
  fi
  record env "$pid" readable yes
  user_home= engine_home=
  split
  for text in $(tr '\000\012' '\012\001' 2>/dev/null <"/proc/$pid/environ" |
    grep -E '^(HOME|HERMES_HOME|HERMES_DASHBOARD_TUI|HERMES_WEB_DIST|HERMES_DASHBOARD_SESSION_TOKEN|HERMES_DESKTOP_READY_FILE)='); do
    value=${text#*=}
    case $text in
      HERMES_DASHBOARD_SESSION_TOKEN=*) fingerprint "$value"; record env "$pid" token "$F" ;;
      HERMES_DESKTOP_READY_FILE=*)
        [ -f "$value" ] && record env "$pid" ready "$(dd if="$value" bs=300 count=1 2>/dev/null | tr '\012\011' '  ')"
        ;;
      HOME=*) user_home=${value%/} ;;
      HERMES_HOME=*) engine_home=$value ;;
      *) record env "$pid" "${text%%=*}" "$value" ;;
    esac
  done
  unsplit
  case $engine_home in
    *[!\ ]*) real_dir "$engine_home" ;;
    *) real_dir "$user_home/.hermes" ;;
  esac
  record env "$pid" home "$R" "$user_home/.hermes"
  add_home "$R"
  case $R in */profiles/*) case ${R##*/profiles/} in */*) ;; *) add_home "${R%/profiles/*}" ;; esac ;; esac
}

# Who listens on the asked port, engine or not. Without rights only the user id can be told.
find_listener() {
  hex=$(printf '%04X' "$ask_port" 2>/dev/null) || return
  split
  for text in $(grep -hE "^ *[0-9]+: [0-9A-F]+:$hex [0-9A-F:]+ 0A " /proc/net/tcp /proc/net/tcp6 2>/dev/null | head -n 8); do
    unsplit
    set -- $text
    uid=$8 inode=${10} pid=
    listener_pid "$sockets"
    [ -n "$pid" ] || listener_pid "$(ls -l /proc/[0-9]*/fd 2>/dev/null | grep -E "^/proc/|socket:\[$inode\]")"
    name=
    [ -n "$pid" ] && first name "/proc/$pid/comm"
    record listener "$pid" "$uid" "$2" "$name"
    split
  done
  unsplit
}

listener_pid() {
  case $1 in *"socket:[$inode]"*) ;; *) return ;; esac
  pid=${1%%"socket:[$inode]"*}
  pid=${pid##*/proc/}
  pid=${pid%%/*}
}

ps_listeners() {
  command -v lsof >/dev/null 2>&1 || { record note no-listeners 'neither procfs nor lsof'; return; }
  list=
  for pid in $pids; do list="$list,$pid"; done
  [ -n "$list" ] && section lsof "$(lsof -nP -a -iTCP -sTCP:LISTEN -p "${list#,}" -F pun 2>/dev/null | head -n 400)"
  [ -n "$ask_port" ] && section lsof-port "$(lsof -nP -iTCP:"$ask_port" -sTCP:LISTEN -F pcun 2>/dev/null | head -n 40)"
  section passwd "$(cut -d: -f1,3 /etc/passwd 2>/dev/null | head -n 300)"
}

# --- homes: a few named keys of .env and config.yaml, nothing else of them ---

read_homes() {
  number=0
  split
  for home in $homes; do
    unsplit
    number=$((number + 1))
    [ "$number" -gt 12 ] && break
    read_home
    split
  done
  unsplit
}

read_home() {
  state=
  [ -d "$home" ] && state=exists
  [ -r "$home" ] && [ -x "$home" ] && state="$state,readable"
  [ -w "$home" ] && state="$state,writable"
  [ -e "$home/.managed" ] && state="$state,managed"
  [ "$number" = 1 ] && [ -n "${HERMES_MANAGED:-}" ] && state="$state,managed"
  record homedir "$number" "$home" "$state"
  [ -d "$home" ] || return
  sticky_profile "$home"
  record homefact "$number" active-profile "$profile"
  read_env_file
  read_config
  for file in "$home"/plugins/*; do
    [ -d "$file" ] || continue
    manifest=
    [ -f "$file/plugin.yaml" ] && manifest=plugin.yaml
    record homefact "$number" plugin "${file##*/}" "$manifest"
  done
  whole manifest "$home/plugins/hermes-compat/dashboard/manifest.json"
  [ -f "$home/plugins/hermes-compat/dashboard/api.py" ] && record homefact "$number" overlay-api yes
  whole marker-ours "$home/desktop-compat/hermes-compat.json"
  whole marker-other "$home/desktop-compat/dashboard-embedded-chat.json"
  whole ledger "$home/spawn-ledger.json"
  [ -e "$home/desktop-compat/journal/journal.json" ] && record homefact "$number" journal yes
  for file in "$home"/desktop-compat/lock/*~*; do
    [ -e "$file" ] || continue
    pid=${file##*/}
    pid=${pid#*~}
    alive_pid "${pid%%~*}"
    record homefact "$number" lock "${file##*/}" "$alive" "$(stats "$file")"
  done
  if [ -e "$home/.hermes-update-in-progress" ]; then
    whole lock-update "$home/.hermes-update-in-progress"
    first pid "$home/.hermes-update-in-progress"
    alive_pid "$pid"
    record homefact "$number" update-lock "$pid" "$alive" "$(stats "$home/.hermes-update-in-progress")"
  fi
}

alive_pid() {
  alive=no
  case $1 in
    '' | *[!0-9]*) alive=unknown ;;
    *) if [ "$procfs" = yes ]; then [ -d "/proc/$1" ] && alive=yes; else kill -0 "$1" 2>/dev/null && alive=yes; fi ;;
  esac
  return 0
}

# A small file of ours or of an agreed shape, as it is.
whole() {
  [ -f "$2" ] || return
  if [ -r "$2" ]; then
    { text=$(dd if="$2" bs=65536 count=1); } 2>/dev/null
    section "$1.$number" "$text"
  else
    record homefact "$number" unreadable "$1"
  fi
}

readable_file() { [ -f "$file" ] && { true <"$file"; } 2>/dev/null; }

read_env_file() {
  file=$home/.env
  [ -e "$file" ] || return
  readable_file || { record homefact "$number" env-file unreadable; return; }
  record homefact "$number" env-file readable
  split
  for text in $(grep -E '^[[:space:]]*(export[[:space:]]+)?(HERMES_DASHBOARD_TUI|HERMES_WEB_DIST|HERMES_DASHBOARD_SESSION_TOKEN)[[:space:]]*=' "$file" 2>/dev/null | cut -c1-2000 | tail -n 20); do
    key=${text%%=*}
    value=${text#*=}
    case $key in
      *TOKEN*) plain_value; record homefact "$number" env-token "$F" ;;
      *TUI*) record homefact "$number" env-tui "$value" ;;
      *) record homefact "$number" env-web-dist "$value" ;;
    esac
  done
  unsplit
}

# The value of a dotenv line as python-dotenv reads it; one with escapes keeps only that it is set.
plain_value() {
  value=${value%"$(printf '\r')"}
  while case $value in [\ $tab]*) true ;; *) false ;; esac; do value=${value#?}; done
  case $value in
    *\\*) F=set; return ;;
    \'*) value=${value#?}; value=${value%%\'*} ;;
    \"*) value=${value#?}; value=${value%%\"*} ;;
    \#*) value= ;;
    *)
      value=${value%%[\ $tab]#*}
      while case $value in *[\ $tab]) true ;; *) false ;; esac; do value=${value%?}; done
      ;;
  esac
  fingerprint "$value"
}

read_config() {
  file=$home/config.yaml
  [ -e "$file" ] || return
  readable_file || { record homefact "$number" config unreadable; return; }
  record homefact "$number" config readable
  section "config.$number" "$(awk '
    NR > 20000 { exit }
    { sub(/\r$/, "") }
    /^[^ \t#-]/ {
      top = $0; sub(/[ \t]*:.*/, "", top); gsub(/["\047]/, "", top); child = ""; depth = -1
      if (top == "_config_version") print
      if (top == "plugins") { print "plugins:"; if (match($0, /enabled["\047]? *: *\[[^]]*\]/)) print "  " substr($0, RSTART, RLENGTH) }
      if (top == "dashboard" && match($0, /public_url["\047]? *: *[^ ,}]/)) print "dashboard:\n  public_url: set"
      next
    }
    top == "plugins" || top == "dashboard" {
      if ($0 ~ /^[ \t]*(#|$)/) next
      match($0, /^ */); indent = RLENGTH
      if (depth < 0) depth = indent
      if (indent == depth && $0 !~ /^ *- /) { child = $0; sub(/^ */, "", child); sub(/[ \t]*:.*/, "", child); gsub(/["\047]/, "", child) }
      if (top == "plugins" && (child == "enabled" || child == "isolation")) print
      if (top == "dashboard" && child == "public_url" && $0 ~ /: *[^ #]/ && $0 !~ /: *(""|\047\047|null|~) *(#.*)?$/) print "dashboard:\n  public_url: set"
    }' "$file" 2>/dev/null | cut -c1-400 | head -n 400)"
}

# Nothing runs before the whole script has arrived, and no program in it can read the script from standard input.
main "$@" </dev/null
