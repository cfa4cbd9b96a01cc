# What each install is made of.

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
