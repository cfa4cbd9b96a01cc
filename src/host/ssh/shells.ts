import { CompatError } from '../../errors.ts';
import { within } from './clock.ts';
import { type Login, type LoginSetup, logIn } from './login.ts';
import type { Greeting, Work } from './requests.ts';
import { notRun, type Outcome, requestShell, type Shell } from './shell.ts';
import type { SshNote, Transport } from './types.ts';

/** The remote shells of one connection: one, and further ones while long commands run. */
export interface Shells {
  readonly greeting: Greeting;
  run(work: Work): Promise<Outcome>;
  close(): Promise<void>;
}

/** What is not brief gets a shell of its own, up to this many. OpenSSH allows 10 sessions by default. */
const mostShells = 4;

/** @throws CompatError SSH_SHELL_UNUSABLE, SUDO_REFUSED, SSH_CUT */
export async function openShells(transport: Transport, setup: LoginSetup, notes: SshNote[]): Promise<Shells> {
  const held: Held[] = [];
  const leaving = new Set<Promise<unknown>>();
  let most = mostShells;
  const add = (login: Login): Shell => {
    const shell = requestShell(login, transport.name, () => endTree(login));
    held.push({ shell, login });
    return shell;
  };
  const another = async (): Promise<Shell> => add(await logIn(transport, setup));
  const usable = (): Shell[] => held.map(({ shell }) => shell).filter((shell) => shell.usable());
  /** Ends a shell and what it started, from another shell; where the server allows no other, by asking the server. */
  const endTree = (login: Login): Promise<void> => {
    const work = { script: killTree, args: [login.greeting.pid], options: { timeoutMs: 5000 }, brief: true };
    const ended = (async () => {
      const shell = usable().find((other) => other.waiting() === 0) ?? (await another());
      await shell.run(work);
    })()
      .catch(() => login.pipe.kill())
      .then(() => within(login.pipe.ended, 2000));
    leaving.add(ended);
    void ended.finally(() => leaving.delete(ended));
    return ended;
  };
  /** A shell for this request, or null when there should be one more. */
  const pick = (work: Work): Shell | null => {
    const shells = usable();
    const quick = work.brief ? shells.filter((shell) => shell.brief()) : [];
    const behind = quick.length > 0 ? quick : shells.length >= most ? shells : [];
    const idle = shells.find((shell) => shell.waiting() === 0);
    return idle ?? behind.toSorted((a, b) => a.waiting() - b.waiting())[0] ?? null;
  };
  let opening: Promise<unknown> | null = null;
  const run = async (work: Work): Promise<Outcome> => {
    for (let refusals = 0; ;) {
      const shell = pick(work);
      if (shell !== null) {
        const outcome = await shell.run(work).catch(againIfNotRun);
        if (outcome !== null) return outcome;
        continue;
      }
      const before = usable().length;
      opening ??= another().finally(() => (opening = null));
      try {
        await opening;
      } catch (error) {
        if (!isRefusedSession(error) || refusals++ > 20) throw error;
        // The session of a shell that was ended makes room for the next, a moment after its end.
        if (before === 0) await Promise.all([...leaving, new Promise((resolve) => setTimeout(resolve, 100))]);
        else most = before;
      }
    }
  };
  const first = await logIn(transport, setup);
  if (first.noise !== '') notes.push({ code: 'STDOUT_NOISE', args: { line: first.noise } });
  add(first);
  return {
    greeting: first.greeting,
    run,
    close: async () => {
      for (const { shell, login } of held) if (shell.usable() && shell.waiting() > 0) void endTree(login);
      await within(Promise.all(leaving), 3000);
      for (const { shell } of held) shell.close();
      await transport.close();
    },
  };
}

function againIfNotRun(error: unknown): null {
  if (error === notRun) return null;
  throw error;
}

interface Held {
  shell: Shell;
  login: Login;
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
