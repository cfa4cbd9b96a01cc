# Hashes and git. They run beside the rest and print before it.

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
    text=$(find "$root/hermes_cli" "$root/tui_gateway" "$root/gateway" -name '*.py' -newer "$file" 2>/dev/null | head -n 60)
    newer="$newer$text$nl"
    marked_among "$text"
  done
  for file in $newer; do
    case $nl$files in *"$nl$file$nl"*) ;; *) files="$files$file$nl" ;; esac
  done
  [ -n "$files" ] || return
  section sha256 "$(sha256 $files 2>/dev/null)"
  [ -n "$records_at" ] || return
  section record "$(for file in $files; do printf '%s,\n' "${file#*/site-packages/}"; done | grep -F -f - $records_at /dev/null 2>/dev/null | head -c 1000000)"
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
  [ -s "$common/logs/refs/stash" ] && section "stash.$index" "$(tail -n 20 "$common/logs/refs/stash" 2>/dev/null | tail -c 12000)"
  edits=unknown
  if [ -n "$git" ] && [ -O "$root" ] && [ -O "$common" ]; then
    if text=$(quiet_git diff --numstat --summary --no-renames --ignore-cr-at-eol --no-ext-diff --no-textconv --ignore-submodules HEAD -- 2>/dev/null | head -n 300; quiet_git rev-parse --verify -q HEAD >/dev/null 2>&1); then
      edits=known
      section "dirty.$index" "$text"
      marked_among "$(changed_python)"
      section "unmerged.$index" "$(quiet_git ls-files --unmerged 2>/dev/null | head -n 600)"
      section "untracked.$index" "$(quiet_git ls-files --others --exclude-standard --directory --no-empty-directory 2>/dev/null | head -n 50)"
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

# Python files among the lines of `git diff --numstat` in $text.
changed_python() {
  for line in $text; do
    case $line in
      [0-9]*"$tab"*"$tab"*.py)
        line=${line#*"$tab"}
        printf '%s\n' "$root/${line#*"$tab"}"
        ;;
    esac
  done
}

# Those of the files $1 that hold both ends of a conflict.
marked_among() {
  for name in $1; do
    [ -f "$name" ] && grep -q '^<<<<<<< ' "$name" 2>/dev/null && grep -q '^>>>>>>> ' "$name" 2>/dev/null && record marked "$root" "$name"
  done
  return 0
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
