# A few named keys of .env and config.yaml, markers, locks; nothing else of a home.

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
  [ -f "$home/plugins/hermes-compat/dashboard/api.py" ] && record homefact "$number" overlay-api yes "$(stats "$home/plugins/hermes-compat/dashboard/manifest.json")"
  whole marker-ours "$home/desktop-compat/hermes-compat.json"
  whole marker-other "$home/desktop-compat/dashboard-embedded-chat.json"
  whole ledger "$home/spawn-ledger.json"
  [ -e "$home/desktop-compat/journal/journal.json" ] && record homefact "$number" journal yes
  for file in "$home"/desktop-compat/lock/*~*; do
    [ -e "$file" ] || continue
    alive_claim "${file##*/}"
    record homefact "$number" lock "${file##*/}" "$alive" "$(stats "$file")"
  done
  if [ -f "$home/desktop-compat/update/state.json" ]; then
    section "our-update.$number" "$(dd if="$home/desktop-compat/update/state.json" bs=2000 count=1 2>/dev/null)"
    for file in "$home"/desktop-compat/update/lock/*~*; do
      [ -e "$file" ] || continue
      alive_claim "${file##*/}"
      record homefact "$number" our-update "${file##*/}" "$alive"
    done
  fi
  if [ -e "$home/.hermes-update-in-progress" ]; then
    whole lock-update "$home/.hermes-update-in-progress"
    first pid "$home/.hermes-update-in-progress"
    alive_pid "$pid"
    record homefact "$number" update-lock "$pid" "$alive" "$(stats "$home/.hermes-update-in-progress")"
  fi
}

# alive_claim HOST~PID~START~NONCE: an entry of a lock of ours. Of another machine nobody can tell.
alive_claim() {
  text=$(printf '%s' "${uname#* }" | tr -c 'A-Za-z0-9.-' _)
  [ "${1%%~*}" = "$text" ] || { alive=unknown; return; }
  pid=${1#*~}
  key=${pid#*~}
  key=${key%%~*}
  pid=${pid%%~*}
  alive_pid "$pid"
  { [ "$alive" = yes ] && [ "$procfs" = yes ] && [ -n "$key" ]; } || return 0
  # A pid that was used again is another process.
  { IFS= read -r text <"/proc/$pid/stat"; } 2>/dev/null || return 0
  set -- ${text##*) }
  case $1 in Z | X) alive=no ;; esac
  [ "${key#*-}" = "${20}" ] || alive=no
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
  for text in $(grep -E '^[[:space:]]*(export[[:space:]]+)?(HERMES_DASHBOARD_TUI|HERMES_WEB_DIST|HERMES_DASHBOARD_SESSION_TOKEN)[[:space:]]*=' "$file" 2>/dev/null | tail -n 20 | head -c 40000); do
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
  value=${value%"$cr"}
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
    }' "$file" 2>/dev/null | head -c 60000)"
}
