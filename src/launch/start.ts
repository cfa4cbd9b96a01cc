import { randomBytes } from 'node:crypto';
import { CompatError } from '../errors.ts';
import { FileError, type Host } from '../host/types.ts';
import type { LaunchFailure } from './classify.ts';
import { classifyStart, lastLines } from './classify.ts';
import { findToken } from './find-token.ts';
import type { LaunchHome, LaunchInstall, LaunchOptions, LaunchPlan } from './plan.ts';
import { planLaunch } from './plan.ts';
import {
  ensureFolder,
  type LaunchRecord,
  newRecord,
  readRecord,
  recordPath,
  removeTraces,
} from './record.ts';
import { runStartScript, type StartResult } from './start-script.ts';
import { endProcess, stopLaunch } from './stop.ts';

export interface LaunchRequest {
  host: Host;
  install: LaunchInstall;
  home: LaunchHome;
  options: LaunchOptions;
  /** Session token that the user chose; null for a random one. */
  token: string | null;
}

export interface Launched {
  outcome: 'started';
  record: LaunchRecord;
  url: string;
  /** From its start to its first answer. */
  seconds: number;
  /** `open`: 101 and a JSON-RPC answer with this token. `unknown`: could not be tried, see `why`. */
  ws: 'open' | 'unknown';
  why: 'gated' | 'token-in-env-file' | null;
}

export interface NotLaunched {
  outcome: 'failed';
  failure: LaunchFailure;
}

export type Running = Launched & { token: string | null };

const attempts = 4;

/**
 * Starts the engine and waits for a real chat connection. On every failure, and on an abort, the process is ended and our
 * files are removed. Where the choice of the port was ours and another process was faster, the next free one is taken.
 *
 * `mustOpen: false` also takes an engine whose chat does not open: for a check that is to find out why.
 *
 * @throws CompatError usage, refused, interrupted
 */
export async function startEngine(
  request: LaunchRequest,
  signal: AbortSignal,
  mustOpen: boolean,
): Promise<Running | NotLaunched> {
  const first = await startOnce(request, signal, mustOpen);
  if (request.options.port !== null && request.options.port !== 0) return first;
  const elsewhere = { ...request, options: { ...request.options, port: 0 } };
  let result = first;
  for (let attempt = 2; attempt <= attempts; attempt++) {
    if (result.outcome === 'started' || result.failure.code !== 'PORT_IN_USE') break;
    result = await startOnce(elsewhere, signal, mustOpen);
  }
  return result;
}

async function startOnce(
  request: LaunchRequest,
  signal: AbortSignal,
  mustOpen: boolean,
): Promise<Running | NotLaunched> {
  const { host, install, home } = request;
  const plan = planLaunch(install, home, request.options);
  const token = plan.takesToken ? (request.token ?? randomBytes(32).toString('base64url')) : null;
  const record = await prepare(request, plan);
  if ('failure' in record) return record;
  const result = await run(request, { plan, token, record }, signal);
  if (result.outcome !== 'up') {
    await removeTraces(host, home.root, record.id);
    return failed(classifyStart(result, home.path), token, install.version);
  }
  const { port, pid, startTicks, executable, seconds } = result;
  const up = { ...record, port, pid, startTicks, executable };
  const about = { install, home, bind: plan.host };
  try {
    const found = await findToken(host, { connectTo: plan.connectTo, port }, token, about, signal);
    if (signal.aborted) throw interrupted();
    if (found.outcome === 'found' || !mustOpen) {
      const {
        ws,
        why,
        token: works,
      } = found.outcome === 'found' ? found : ({ ws: 'unknown', why: null, token } as const);
      return { outcome: 'started', record: up, url: urlOf(plan, port), seconds, ws, why, token: works };
    }
    await stopLaunch(host, home.root, up);
    const evidence = [...found.failure.evidence, ...lastLines(result.tail)];
    return failed({ ...found.failure, evidence }, token, install.version);
  } catch (error) {
    await stopLaunch(host, home.root, up);
    throw error;
  }
}

/** The record of a start to come; its folder is there. */
async function prepare(
  { host, install, home }: LaunchRequest,
  plan: LaunchPlan,
): Promise<LaunchRecord | NotLaunched> {
  const id = randomBytes(6).toString('hex');
  try {
    const folder = await ensureFolder(host, home.root);
    return newRecord({
      id,
      host: plan.host,
      install: install.id,
      version: install.version,
      home: home.path,
      log: `${folder}/${id}.log`,
      startedAt: new Date().toISOString(),
    });
  } catch (error) {
    return { outcome: 'failed', failure: await folderFailure(host, home.root, error) };
  }
}

async function run(
  { host, install, home, options }: LaunchRequest,
  start: { plan: LaunchPlan; token: string | null; record: LaunchRecord },
  signal: AbortSignal,
): Promise<StartResult> {
  const path = recordPath(home.root, start.record.id);
  try {
    signal.throwIfAborted();
    const ask = { ...start, recordPath: path, seconds: options.seconds };
    const result = await runStartScript(host, install.interpreter?.path ?? 'python3', ask, signal);
    if (!signal.aborted) return result;
  } catch (error) {
    await abandon(host, home.root, start.record.id);
    if (!signal.aborted) throw error;
  }
  await abandon(host, home.root, start.record.id);
  throw interrupted();
}

/** We were cut off in the middle: the record, written before the engine ran, says what to end. */
async function abandon(host: Host, rootHome: string, id: string): Promise<void> {
  const record = await readRecord(host, recordPath(rootHome, id), id);
  if (record !== null) await endProcess(host, record, 2);
  await removeTraces(host, rootHome, id);
}

const interrupted = (): CompatError =>
  new CompatError('interrupted', 'interrupted; what was started is ended');

/** The engine's own lines could repeat the token. */
const failed = (failure: LaunchFailure, token: string | null, version: string | null): NotLaunched => ({
  outcome: 'failed',
  failure: {
    ...failure,
    args: { version, ...failure.args },
    evidence: failure.evidence.map((line) => (token === null ? line : line.replaceAll(token, '<token>'))),
  },
});

/** @throws what is no word about the folder */
async function folderFailure(host: Host, rootHome: string, error: unknown): Promise<LaunchFailure> {
  if (!(error instanceof FileError)) throw error;
  const evidence = [error.message];
  const unreadable = await host.readdir(rootHome).then(
    () => null,
    (why: unknown) => (why instanceof FileError ? why : null),
  );
  if (unreadable !== null)
    return {
      code: 'HOME_UNREADABLE',
      args: { path: rootHome, missing: unreadable.code === 'not-found' },
      evidence,
    };
  return { code: 'HOME_READ_ONLY', args: { path: error.path }, evidence };
}

const urlOf = ({ connectTo }: LaunchPlan, port: number): string =>
  `http://${connectTo.includes(':') ? `[${connectTo}]` : connectTo}:${port}`;
