import type { EngineProcess } from '../engine/schema.ts';
import { CompatError } from '../errors.ts';
import type { Host } from '../host/types.ts';
import { restartCommandsOf } from '../judge/remedies/restart-commands.ts';
import { type LaunchRecord, readRecords } from '../launch/record.ts';
import { libraryAnswers } from './library-answers.ts';
import type { Scene } from '../patch/world.ts';
import type { ChangeDocument } from '../patch/schema.ts';
import { argumentsOf, startAgain } from './start-again.ts';

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
  for (const running of processes) {
    const record = records.find(
      ({ pid, startTicks }) =>
        pid === running.pid && startTicks !== null && startTicks === running.startTicks,
    );
    if (wish.service !== null && ownedBy(running, wish.service))
      restarted.push({ ...leftAlone(running, scene.target, null), restarted: true, commands: [] });
    else if (record === undefined)
      restarted.push(leftAlone(running, scene.target, 'launch did not start it'));
    else if (!wish.launched)
      restarted.push(leftAlone(launched(running), scene.target, 'not asked for (--restart)'));
    else restarted.push(await restartLaunched(host, scene, launched(running), record, wish, patches));
  }
  return restarted;
}

const launched = (running: EngineProcess): EngineProcess => ({
  ...running,
  owner: { kind: 'launch', name: null },
});

/** One process that keeps what it loaded, why, and the commands that restart it. */
export const leftAlone = (
  running: EngineProcess,
  target: { kind: string; name: string },
  why: string | null,
): Restarted => ({
  pid: running.pid,
  command: running.command,
  port: running.port,
  owner: running.owner.name === null ? running.owner.kind : `${running.owner.kind} ${running.owner.name}`,
  restarted: false,
  why,
  newPid: null,
  commands: restartCommandsOf(running, (command) => ourCommand(command, running, target)),
});

/** Ours that starts or ends this very one, with what names its install, home and port. */
export function ourCommand(
  command: 'launch' | 'stop',
  { install, hermesHome, port }: EngineProcess,
  target: { kind: string; name: string },
): string[] {
  const word = target.kind === 'ssh' ? target.name : install === null ? null : `local:${install}`;
  return [
    'hermes-compat',
    command,
    ...(word === null ? [] : [word]),
    ...(hermesHome === null ? [] : ['--home', hermesHome]),
    ...(port === null ? [] : ['--port', String(port)]),
  ];
}

const ownedBy = ({ owner }: EngineProcess, unit: string): boolean =>
  (owner.name ?? '').replace(/\.service$/, '') === unit.replace(/\.service$/, '');

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

async function restartLaunched(
  host: Host,
  scene: Scene,
  running: EngineProcess,
  record: LaunchRecord,
  wish: RestartWish,
  patches: readonly string[],
): Promise<Restarted> {
  const { install, home, target } = scene;
  if (install === null || record.install !== install.id)
    return leftAlone(running, target, 'it runs another install');
  const token =
    record.tokenFile === null ? null : (await host.readFile(record.tokenFile, 4096)).toString('utf8').trim();
  const again = {
    port: record.port,
    host: record.host,
    home: record.home,
    webDist: running.env.webDist,
    engineArgs: argumentsOf(running.argv),
  };
  const { env, signal } = wish;
  const started = await startAgain({ host, home, install, env, signal }, again, [record], token);
  if (started.outcome === 'not-ended') return leftAlone(running, target, started.why);
  if (started.outcome === 'failed')
    throw new CompatError(
      'unchecked',
      `the dashboard of process ${record.pid} was ended and does not start again (${[started.failure.code, ...started.failure.evidence].join(': ')})`,
      {
        finding: started.failure.code,
        args: started.failure.args,
        commands: [ourCommand('launch', running, target)],
      },
    );
  const fresh = started.launched.record;
  const asked = patches.includes('model-library') ? await libraryAnswers(host, fresh, signal) : null;
  return {
    ...leftAlone(running, target, asked === false ? 'the model library does not answer there' : null),
    restarted: true,
    newPid: fresh.pid,
    commands: [],
  };
}
