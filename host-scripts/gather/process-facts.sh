# Start, owner, environment and sockets of the engines, and who has the asked port.

# Start, owner, environment (four names only) and listening sockets of the processes found, and who has the asked port.
read_processes() {
  if [ "$procfs" = no ]; then
    [ -n "$pids" ] && launchd_jobs
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
  section passwd "$(cut -d: -f1,3 /etc/passwd 2>/dev/null | head -c 20000)"
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

# Jobs of launchd that run: `user PID STATUS LABEL`, of the system's where we are root.
launchd_jobs() {
  command -v launchctl >/dev/null 2>&1 || return
  manager=user
  [ "$my_uid" = 0 ] && manager=system
  section launchctl "$(launchctl list 2>/dev/null | grep -E '^[0-9]' | sed "s/^/$manager /" | head -n 800)"
}

ps_listeners() {
  command -v lsof >/dev/null 2>&1 || { record note no-listeners 'neither procfs nor lsof'; return; }
  list=
  for pid in $pids; do list="$list,$pid"; done
  [ -n "$list" ] && section lsof "$(lsof -nP -a -iTCP -sTCP:LISTEN -p "${list#,}" -F pun 2>/dev/null | head -n 400)"
  [ -n "$ask_port" ] && section lsof-port "$(lsof -nP -iTCP:"$ask_port" -sTCP:LISTEN -F pcun 2>/dev/null | head -n 40)"
  section passwd "$(cut -d: -f1,3 /etc/passwd 2>/dev/null | head -c 20000)"
}
