import { setTimeout as sleep } from 'node:timers/promises';
import { updateFolder } from '../../engine/compat-places.ts';
import type { Home, Install } from '../../engine/schema.ts';
import type { Host } from '../../host/types.ts';
import { engineCommand } from '../../patch/engine-command.ts';
import { readOrNull } from './edits.ts';

/** Far beyond any update: at the deadline the updater would be ended with us. */
const longestMs = 6 * 3_600_000;

/**
 * Runs the updater so that it outlives us and our connection: it writes to a file, which is shown as it grows, and leaves its exit
 * code beside it. $1 folder, then argv. The umask for our own files is never the updater's: it writes the whole tree anew.
 */
const runScript = String.raw`
dir=$1; shift
rm -f "$dir/code" "$dir/updater.log"
( umask 077; : >"$dir/updater.log" )
( trap '' HUP INT
  "$@" >>"$dir/updater.log" 2>&1 </dev/null
  code=$?
  umask 077
  echo "$code" >"$dir/code.new"; mv "$dir/code.new" "$dir/code" ) &
worker=$!
( umask 077; { echo "$worker"; LC_ALL=C ps -o lstart= -p "$worker"; } >"$dir/pid" )
tail -n +1 -f "$dir/updater.log" & shower=$!
wait "$worker"
sleep 1
kill "$shower" 2>/dev/null
exit 0
`;

/** What the engine's own update is started with. */
export interface UpdaterStart {
  argv: string[];
  env: Record<string, string>;
  cwd: string;
}

/**
 * The engine's own `update`. Settings of a virtual environment: up to 0.16 the engine does not say itself which one uv is to
 * upgrade.
 */
export async function updaterStart(
  host: Host,
  install: Install,
  home: Home,
  engineArgs: readonly string[],
  env: Record<string, string>,
): Promise<UpdaterStart> {
  const own = Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^HERMES_(COMPAT|DASHBOARD)_/.test(name)),
  );
  const python = install.interpreter?.path ?? '';
  const prefix = /^(.*)\/bin\/[^/]+$/.exec(python)?.[1];
  const venv: Record<string, string> =
    install.git === null && prefix !== undefined ? { VIRTUAL_ENV: prefix } : {};
  return {
    argv: [...(await engineCommand(host, install)), 'update', ...engineArgs],
    env: { ...own, ...venv, HERMES_HOME: home.path },
    cwd: install.git === null ? home.root : install.root,
  };
}

/** Its exit code, or null when it ended without one. One that a run before us started is waited for instead of a second. */
export async function runUpdater(
  host: Host,
  root: string,
  start: UpdaterStart,
  tell: { say(line: string): void; output(bytes: Buffer): void; signal: AbortSignal },
): Promise<number | null> {
  const folder = updateFolder(root);
  const earlier = await exitCodeOf(host, folder);
  if (earlier !== null) return earlier;
  const asked = (): void =>
    tell.say(
      "the engine's updater is not cut: waiting for its end. A second Ctrl-C leaves it working; then run the same again",
    );
  tell.signal.addEventListener('abort', asked, { once: true });
  try {
    if (await isRunning(host, folder)) {
      tell.say('the updater of the earlier run still works; waiting for it');
      await untilEnded(host, folder);
      const code = await exitCodeOf(host, folder);
      if (code !== null) return code;
    }
    await host.script(runScript, [folder, ...start.argv], {
      env: start.env,
      cwd: start.cwd,
      timeoutMs: longestMs,
      onOutput: tell.output,
    });
    await untilEnded(host, folder);
    return await exitCodeOf(host, folder);
  } finally {
    tell.signal.removeEventListener('abort', asked);
  }
}

async function untilEnded(host: Host, folder: string): Promise<void> {
  while (await isRunning(host, folder)) await sleep(500);
}

/** Before a new update begins: what an earlier one left is not its result. */
export async function forgetUpdater(host: Host, root: string): Promise<void> {
  for (const name of ['pid', 'code', 'code.new']) await host.removeFile(`${updateFolder(root)}/${name}`);
}

async function exitCodeOf(host: Host, folder: string): Promise<number | null> {
  const text = (await readOrNull(host, `${folder}/code`))?.toString('utf8').trim() ?? '';
  return /^\d+$/.test(text) ? Number(text) : null;
}

/** The shell that waits for the updater, known by pid and start time: a pid alone may belong to another by now. */
async function isRunning(host: Host, folder: string): Promise<boolean> {
  const text = (await readOrNull(host, `${folder}/pid`))?.toString('utf8') ?? '';
  const [pid = '', started = ''] = text.split('\n').map((line) => line.trim());
  if (!/^\d+$/.test(pid)) return false;
  const { stdout } = await host.run(['ps', '-o', 'stat=', '-o', 'lstart=', '-p', pid], {
    env: { LC_ALL: 'C' },
  });
  const [, stat = '', since = ''] = /^\s*(\S+)\s+(.*?)\s*$/.exec(stdout.toString('utf8')) ?? [];
  // ps counts back from now, so that it can be a second off.
  const isIt = started === '' || Math.abs(Date.parse(started) - Date.parse(since)) <= 2000;
  return stat !== '' && !stat.startsWith('Z') && isIt;
}

export const updaterLog = (root: string): string => `${updateFolder(root)}/updater.log`;

/** What the newest receipt says (0.22 and newer). It is told, never believed alone. */
export async function readReceipt(
  host: Host,
  home: Home,
  since: string,
): Promise<{ outcome: string; localChanges: string | null } | null> {
  const path = `${home.root}/logs/update_receipts/latest.json`;
  const stat = await host.stat(path, true);
  if (stat === null || stat.mtimeMs < Date.parse(since)) return null;
  try {
    const receipt = JSON.parse((await readOrNull(host, path))?.toString('utf8') ?? '') as {
      outcome?: unknown;
      steps?: { name?: unknown; step?: unknown; detail?: unknown; result?: unknown; status?: unknown }[];
    };
    const step = receipt.steps?.find(
      (each) => each.name === 'local_changes_stash' || each.step === 'local_changes_stash',
    );
    const detail = step?.detail ?? step?.result ?? step?.status;
    return {
      outcome: typeof receipt.outcome === 'string' ? receipt.outcome : 'unknown',
      localChanges: typeof detail === 'string' ? detail : null,
    };
  } catch {
    return null;
  }
}
