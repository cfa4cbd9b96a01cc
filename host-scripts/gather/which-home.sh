# Which homes are looked at, and what the path is that the target names.

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
  profile=${profile%"$cr"}
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
