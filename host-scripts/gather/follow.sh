# From a command to its interpreter, from an interpreter to the package.

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
  T=${T%"$cr"}
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
