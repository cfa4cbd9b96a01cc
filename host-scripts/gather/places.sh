# Every place where an install can be.

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
