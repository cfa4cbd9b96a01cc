import type { EngineProcess } from '../engine/schema.ts';
import { CompatError } from '../errors.ts';
import type { Host } from '../host/types.ts';
import type { LaunchOptions } from '../launch/plan.ts';
import { type LaunchRecord, readRecords } from '../launch/record.ts';
import { libraryAnswers } from './library-answers.ts';
import type { Scene } from '../patch/world.ts';
import type { ChangeDocument } from '../patch/schema.ts';

export type Restarted = ChangeDocument['restart'][number];

/** How dashboards are brought to load what was changed. */
export interface RestartWish {
  /** What `launch` started: ended by its record, started again with the same port, address and token. */
  launched: boolean;
  /** A unit that the user named. */
  service: string | null;
  /** The user's environment on this machine; nothing over ssh. */
  env: Record<string, string>;
  signal: AbortSignal;
}

/**
 * Restarts what may be restarted of these processes. Never anything that neither `launch` started nor the user named.
 *
 * @throws CompatError unchecked, when a restart was wished and what was ended does not come back
 */
export async function restartAll(
  host: Host,
  scene: Scene,
  processes: readonly EngineProcess[],
  wish: RestartWish,
  patches: readonly string[],
): Promise<Restarted[]> {
  const records = await readRecords(host, scene.home.root);
  const restarted: Restarted[] = [];
  if (wish.service !== null) await restartService(host, wish.service);
  for (const process of processes) {
    const record = records.find(
      ({ pid, startTicks }) =>
        pid === process.pid && startTicks !== null && startTicks === process.startTicks,
    );
    if (wish.service !== null && ownedBy(process, wish.service))
      restarted.push(restartEntry(process, null, true));
    else if (record === undefined) restarted.push(restartEntry(process, 'launch did not start it'));
    else if (!wish.launched) restarted.push(restartEntry(process, 'not asked for (--restart)'));
    else restarted.push(await relaunch(host, scene, process, record, wish, patches));
  }
  return restarted;
}

export const restartEntry = (
  process: EngineProcess,
  why: string | null,
  restarted = false,
  newPid: number | null = null,
): Restarted => ({
  pid: process.pid,
  command: process.command,
  port: process.port,
  owner: process.owner.name === null ? process.owner.kind : `${process.owner.kind} ${process.owner.name}`,
  restarted,
  why,
  newPid,
});

const ownedBy = (process: EngineProcess, unit: string): boolean =>
  (process.owner.name ?? '').replace(/\.service$/, '') === unit.replace(/\.service$/, '');

async function restartService(host: Host, unit: string): Promise<void> {
  if (!/^[A-Za-z0-9:_.@\\-]+$/.test(unit) || unit.startsWith('-'))
    throw new CompatError('usage', `--restart-service takes the name of a unit, not "${unit.slice(0, 40)}"`);
  const { uid } = await host.identity();
  const scopes = uid === 0 ? [[], ['--user']] : [['--user'], []];
  let why = '';
  for (const scope of scopes) {
    const result = await host.run(['systemctl', ...scope, '--no-ask-password', 'restart', unit], {
      timeoutMs: 120_000,
    });
    if (result.code === 0) return;
    why = result.stderr.toString('utf8').trim().split('\n')[0] ?? '';
  }
  throw new CompatError('unchecked', `the service ${unit} could not be restarted: ${why.slice(0, 200)}`, {
    args: { unit },
    commands: [['systemctl', 'status', unit]],
  });
}

async function relaunch(
  host: Host,
  scene: Scene,
  process: EngineProcess,
  record: LaunchRecord,
  wish: RestartWish,
  patches: readonly string[],
): Promise<Restarted> {
  const { install, home } = scene;
  if (install === null || record.install !== install.id)
    return restartEntry(process, 'it runs another install');
  const [{ launch }, { stopLaunch }] = await Promise.all([
    import('../launch/launch.ts'),
    import('../launch/stop.ts'),
  ]);
  const token =
    record.tokenFile === null ? null : (await host.readFile(record.tokenFile, 4096)).toString('utf8').trim();
  const outcome = await stopLaunch(host, home.root, record);
  if (outcome === 'denied' || outcome === 'alive')
    return restartEntry(process, `it could not be ended (${outcome})`);
  const options: LaunchOptions = {
    port: record.port,
    host: record.host,
    webDist: process.env.webDist,
    engineArgs: argumentsOf(process.argv),
    env: wish.env,
    seconds: 120,
  };
  const started = await launch(
    { host, install, home: { ...home, path: record.home }, options, token },
    wish.signal,
  );
  if (started.outcome === 'failed') {
    throw new CompatError(
      'unchecked',
      `the dashboard of process ${record.pid} was ended and does not start again (${[started.failure.code, ...started.failure.evidence].join(': ')})`,
      {
        finding: started.failure.code,
        args: started.failure.args,
        commands: [
          [
            'hermes-compat',
            'launch',
            ...(scene.target.name === 'local' ? [] : [scene.target.name]),
            '--port',
            String(record.port),
          ],
        ],
      },
    );
  }
  const asked = patches.includes('model-library')
    ? await libraryAnswers(host, started.record, wish.signal)
    : null;
  const why = asked === false ? 'the model library does not answer there' : null;
  return restartEntry(process, why, true, started.record.pid);
}

/** What the user gave behind `--`: the words of the command line that are not ours. */
export function argumentsOf(argv: readonly string[]): string[] {
  const words = argv.slice(argv.indexOf('dashboard') + 1);
  const kept: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--host' || word === '--port') at++;
    else if (word !== '--no-open') kept.push(word);
  }
  // A word that was hidden in the facts cannot be given again.
  return kept.some((word) => word.includes('[redacted]')) ? [] : kept;
}
