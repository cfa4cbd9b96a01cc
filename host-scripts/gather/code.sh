# What the source says: structure, contract, missing modules, stale bytecode.

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
      -e '^    (embedded_chat|initial_profile|headless) *:' -e '"/api/ws"' -e '/api/model/library' -e '^_mount_plugin_api_routes' \
      -e '^DESKTOP_BACKEND_CONTRACT *[:=]' -e '^__(version|release_date)__ *[:=]' -e '^(<<<<<<<|>>>>>>>) ' \
      $code_files /dev/null 2>/dev/null | head -c 600000)
    section code "$code$nl$(moved_contracts)"
  fi
  if [ -n "$record_files" ]; then
    section meta "$(grep -nHE '^(Name|Version|name|version|requires-python)( *=|: )' $record_files /dev/null 2>/dev/null | head -c 60000)"
  fi
  [ -n "$servers" ] && missing_modules
  [ -n "$pairs" ] && stale_bytecode
  unsplit
  if [ "$mounts_wanted" = yes ] && [ -r /proc/mounts ]; then
    section mounts "$(cut -d' ' -f2,4 /proc/mounts | head -c 60000)"
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
  [ -n "$others" ] && grep -nHE '^DESKTOP_BACKEND_CONTRACT *[:=]' $others /dev/null 2>/dev/null | head -c 20000
}

# Modules of the engine's own packages that web_server.py imports at its top level and the tree lacks.
missing_modules() {
  for text in $(grep -nHE '^(from|import) (hermes_|(tui_gateway|gateway|agent|tools|cron|plugins|providers|utils|cli|run_agent|model_tools|toolsets|pm)([ .]|$))' $servers /dev/null 2>/dev/null | head -c 200000); do
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
