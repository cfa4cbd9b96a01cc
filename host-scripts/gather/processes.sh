# Which processes are engines.

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
    name=
    { IFS= read -r name <"/proc/$pid/comm"; } 2>/dev/null
    { IFS= read -r text <"$file"; } 2>/dev/null
    # They only have an engine in their arguments, and can be many where engines are tested or driven.
    case $name in
      node* | npm* | sh | bash | dash | zsh | fish | ssh | sshd* | sudo | setpriv | timeout | tail)
        case $text in "$name"* | "-$name"* | /*/"$name"*) continue ;; esac
        ;;
    esac
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
