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

# Nothing runs before the whole script has arrived, and no program in it can read the script from standard input.
main "$@" </dev/null
