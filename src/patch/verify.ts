import { readFile } from 'node:fs/promises';
import { CompatError } from '../errors.ts';
import { overlayFolder } from '../engine/compat-places.ts';
import type { Install } from '../engine/schema.ts';
import type { Host } from '../host/types.ts';
import { packaged } from '../tool.ts';
import { engineCommand } from './engine-command.ts';
import { pluginName } from './overlay-files.ts';
import { decode } from './text.ts';

/** What the check on the host saw. */
export interface VerifyResult {
  ok: boolean;
  steps: { step: string; ok: boolean; saw: string }[];
  log: string;
}

/**
 * Starts a dashboard of this install in a throw-away HERMES_HOME, whose configuration holds nothing but `plugins`, and drives
 * it like a client. Nothing is written outside a temporary folder, no bytecode either.
 *
 * @param overlay the files of the overlay as they will be; none for a source edit alone
 * @param want which of `embedded-chat` and `model-library` must work
 */
export async function verifyDashboard(
  host: Host,
  install: Install,
  overlay: ReadonlyMap<string, Buffer>,
  want: readonly string[],
  signal: AbortSignal | null,
): Promise<VerifyResult> {
  const script = await readFile(packaged('host-scripts/verify_dashboard.py'), 'utf8');
  const files: Record<string, string> = {};
  for (const [name, bytes] of overlay) files[`${overlayFolder('').slice(1)}/${name}`] = decode(bytes) ?? '';
  files['config.yaml'] = overlay.size === 0 ? 'plugins: {}\n' : `plugins:\n  enabled:\n    - ${pluginName}\n`;
  const command = await engineCommand(host, install);
  const spec = { command, flags: [], files, env: {}, want, seconds: 120 };
  const result = await host.run([install.interpreter?.path ?? 'python3', '-I', '-B', '-c', runner], {
    stdin: JSON.stringify({ script, spec }),
    timeoutMs: 300_000,
    ...(signal === null ? {} : { signal }),
  });
  const line = result.stdout.toString('utf8').trim().split('\n').at(-1) ?? '';
  try {
    return JSON.parse(line) as VerifyResult;
  } catch (cause) {
    if (signal?.aborted === true)
      throw new CompatError('interrupted', 'interrupted; everything is as it was');
    const why = result.timedOut ? 'no end within 300 s' : result.stderr.toString('utf8').trim().slice(-300);
    throw new CompatError('rolled-back', `the check on a throw-away dashboard gave no answer (${why})`, {
      cause,
    });
  }
}

/** The script arrives on stdin, not in argv: it is long, and nobody should meet it in a process list. */
const runner =
  'import json, sys; given = json.load(sys.stdin); exec(compile(given["script"], "verify", "exec"), {"SPEC": given["spec"]})';

/** @throws CompatError rolled-back, with the step that failed */
export function refuseFailure(result: VerifyResult): void {
  if (result.ok) return;
  const failed = result.steps.find(({ ok }) => !ok);
  const saw = failed === undefined ? 'no step was reached' : `${failed.step}: ${failed.saw}`;
  const log = result.log.trim().split('\n').slice(-3).join(' | ');
  throw new CompatError(
    'rolled-back',
    `a dashboard with it does not work (${saw})${log === '' ? '' : `; it said: ${log}`}`,
    {
      args: { step: failed?.step ?? null, saw: failed?.saw ?? null },
    },
  );
}
