import { quote, quoteAll } from '../quote.ts';
import type { RunOptions } from '../types.ts';
import { printMark } from './markers.ts';

/** What one request to a remote shell runs: a POSIX script with its `$1 …`, or (`script` null) the command that `args` is. */
export interface Work {
  script: string | null;
  args: readonly string[];
  options: RunOptions;
  /** It is over soon, whatever its deadline: others may wait behind it. */
  brief: boolean;
}

/** A deadline up to this counts as brief. */
export const briefMs = 30_000;

export const timeoutOf = ({ options }: Work): number => options.timeoutMs ?? briefMs;

/** Lines of the greeting, in order. */
export const greetingFields = ['user', 'uid', 'hostname', 'os', 'pid', 'home', 'path'] as const;
export type Greeting = Record<(typeof greetingFields)[number], string>;

/**
 * The first text that a remote `/bin/sh -s` reads. Its first line is a sacrifice: an rc file that reads standard input gets that
 * one. The sum in the first marker is done by a POSIX shell only: fish refuses the whole text, csh stops there.
 */
export const greeting = (nonce: string): string => `# a login script may read this line
${printMark(nonce, 'B0', '$((6*7))')}
printf '%s\\000' "$(id -un)" "$(id -u)" "$(uname -n)" "$(uname -s)" "$$" "$HOME" "$PATH"
${printMark(nonce, 'E0', '0')}
${cleanEnvironment}
${decoder}
`;

/** Sent first where another account is to act: proves the login shell, then replaces it. One compound command, so that the login
 * shell has read all of it before the next text is sent. */
export const becoming = (nonce: string, account: string): string => `# a login script may read this line
{ ${printMark(nonce, 'N0', '$((6*7))')}; exec sudo -n -H -u ${quote(account)} -- /bin/sh -s; }
`;

/** Commands get PATH, HOME and LANG only, as on this machine. Names that some shells hold readonly would end the shell. */
const cleanEnvironment = `for hc_name in $(env | sed -n 's/^\\([A-Za-z_][A-Za-z0-9_]*\\)=.*/\\1/p'); do
  case $hc_name in
    PATH|HOME|IFS|_|PPID|UID|EUID|GID|SHELLOPTS|BASH*) ;;
    *) unset "$hc_name" ;;
  esac
done
LANG=C.UTF-8; export LANG PATH HOME`;

/** base64 by what the host has. Where printf is a program (ksh of the BSDs), its arguments are limited; print is built in there. */
const decoder = `case $(command -v printf) in
  /*) hc_put() { print -rn -- "$1"; } ;;
  *) hc_put() { printf %s "$1"; } ;;
esac
hc_decode() {
  if [ "$(printf YQ== | base64 -d 2>/dev/null)" = a ]; then base64 -d
  elif [ "$(printf YQ== | base64 -D 2>/dev/null)" = a ]; then base64 -D
  elif command -v openssl >/dev/null 2>&1; then openssl base64 -d -A
  else python3 -c 'import base64,sys;sys.stdout.buffer.write(base64.b64decode(sys.stdin.read()))'
  fi
}`;

/**
 * One request. The script is a quoted word: a text that was cut on the way is an unfinished quote, of which no shell runs
 * anything. It runs in a subshell that cannot read what follows. Input comes from a pipe, as base64 because words hold no NUL.
 */
export function requestText(nonce: string, id: number, work: Work): string {
  const { stdin, env = {}, cwd } = work.options;
  const hasInput = stdin !== undefined && stdin.length > 0;
  const missing = (what: string): string => `{ ${printMark(nonce, `M${id}`, what)} >&2; exit 127; }`;
  const lines = [
    `hc_script=${quote(work.script ?? command(missing))}`,
    hasInput ? `hc_input=${quote(Buffer.from(stdin as string).toString('base64'))}` : '',
    `${printMark(nonce, `B${id}`, '0')}; ${printMark(nonce, `B${id}`, '0')} >&2`,
    `${hasInput ? 'hc_put "$hc_input" | hc_decode | ' : ''}(`,
    ...Object.entries(env).map(([name, value]) => `${variable(name)}=${quote(value)}; export ${name}`),
    cwd === undefined ? '' : `cd -- ${quote(cwd)} || ${missing('cwd')}`,
    `set -- ${quoteAll(work.args)}`,
    'unset hc_input; eval "$hc_script"',
    `)${hasInput ? '' : ' </dev/null'}`,
    `hc_status=$?; ${printMark(nonce, `E${id}`, '$hc_status')}; ${printMark(nonce, `E${id}`, '0')} >&2`,
    'unset hc_script hc_input',
  ];
  return `${lines.filter((line) => line !== '').join('\n')}\n`;
}

/** Runs `$@`; a command that is not there, or may not run, is told apart from one that ends with 127. */
const command = (missing: (what: string) => string): string => `case $1 in
  */*) [ -e "$1" ] || ${missing('command')}
    if [ -d "$1" ] || ! [ -x "$1" ]; then ${missing('right')}; fi ;;
  *) command -v "$1" >/dev/null 2>&1 || ${missing('command')} ;;
esac
exec "$@"`;

function variable(name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new RangeError(`"${name}" is not a variable name`);
  return name;
}
