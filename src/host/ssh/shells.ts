import { CompatError } from '../../errors.ts';
import { firstLine } from './failures.ts';
import { type Login, type LoginSetup, logIn } from './login.ts';
import type { Greeting, Work } from './requests.ts';
import { type Outcome, requestShell, type Shell, timeoutOf } from './shell.ts';
import type { SshNote, Transport } from './types.ts';

/** The remote shells of one connection: one, and further ones while long commands run. */
export interface Shells {
  readonly greeting: Greeting;
  run(work: Work): Promise<Outcome>;
  close(): Promise<void>;
}

/** Below this a request may wait behind others; a longer one gets a shell of its own. OpenSSH allows 10 sessions by default. */
const briefMs = 30_000;
const mostShells = 4;

/** @throws CompatError SSH_SHELL_UNUSABLE, SUDO_REFUSED, SSH_CUT */
export async function openShells(transport: Transport, setup: LoginSetup, notes: SshNote[]): Promise<Shells> {
  const shells: Shell[] = [];
  let most = mostShells;
  let closed = false;
  const add = (login: Login): Shell => {
    const abandon = (): Promise<void> => endTree(login);
    const shell = requestShell(login, transport.name, abandon);
    shells.push(shell);
    return shell;
  };
  /** Ends a shell and what it started, from another shell; where the server allows no other, by asking the server. */
  const endTree = async (login: Login): Promise<void> => {
    if (closed) return;
    const work: Work = { script: killTree, args: [login.greeting.pid], options: { timeoutMs: 5000 } };
    await another()
      .then((shell) => shell.run(work))
      .catch(() => login.pipe.kill());
  };
  const another = async (): Promise<Shell> => add(await logIn(transport, setup));
  /** A shell for this request, or null when there should be one more. */
  const pick = (work: Work): Shell | null => {
    const usable = shells.filter((shell) => shell.usable());
    shells.splice(0, shells.length, ...usable);
    const idle = usable.find((shell) => shell.waiting() === 0);
    const patient = timeoutOf(work) > briefMs ? [] : usable.filter((shell) => shell.patience() <= briefMs);
    const behind = patient.length > 0 ? patient : usable.length >= most ? usable : [];
    return idle ?? behind.toSorted((a, b) => a.waiting() - b.waiting())[0] ?? null;
  };
  let opening: Promise<unknown> | null = null;
  const run = async (work: Work): Promise<Outcome> => {
    for (;;) {
      const shell = pick(work);
      if (shell !== null) return shell.run(work);
      const held = shells.length;
      opening ??= another().finally(() => (opening = null));
      try {
        await opening;
      } catch (error) {
        if (held === 0 || !isRefusedSession(error)) throw error;
        most = held;
      }
    }
  };
  const first = await logIn(transport, setup);
  if (first.noise !== '') notes.push({ code: 'STDOUT_NOISE', args: { line: firstLine(first.noise) } });
  add(first);
  return {
    greeting: first.greeting,
    run,
    close: async () => {
      closed = true;
      for (const shell of shells.splice(0)) shell.close();
      await transport.close();
    },
  };
}

const isRefusedSession = (error: unknown): boolean =>
  error instanceof CompatError && error.details.args?.['sessions'] === 'refused';

/** Ends process $1 and its descendants. Reads /proc, else `ps`; a process that left its parent is not ours any more. */
const killTree = `all=
if [ -r /proc/self/stat ]; then
  for f in /proc/[0-9]*/stat; do
    { read -r line <"$f"; } 2>/dev/null || continue
    pid=\${line%% *}; line=\${line##*) }; line=\${line#* }
    all="$all$pid \${line%% *}
"
  done
else all=$(ps -A -o pid= -o ppid=); fi
printf '%s' "$all" | awk -v root="$1" '{ up[$1] = $2 } END {
  for (p in up) { q = p; while (q in up && q != root && q > 1) q = up[q]; if (q == root) print p } }' |
{ kill -9 "$1" 2>/dev/null; while read -r pid; do kill -9 "$pid" 2>/dev/null; done; }
exit 0`;
