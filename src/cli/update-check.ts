import { usageError } from '../errors.ts';
import type { Host } from '../host/types.ts';
import type { Report } from '../judge/schema.ts';
import type { Facts } from '../probe/schema.ts';
import type { Target } from '../target/types.ts';
import { readExamineOptions } from './examine-request.ts';
import type { Io } from './io.ts';
import type { RawOptions } from './request.ts';

/** The last word: a running dashboard, or one that is started on a free port for this and ended. */
export async function examiner(
  host: Host,
  target: Target,
  options: RawOptions,
  io: Io,
): Promise<() => Promise<Report>> {
  const [{ examine }, { examineStarted }, { judge }, { readClients }] = await Promise.all([
    import('../lifecycle/examine.ts'),
    import('../lifecycle/examine-started.ts'),
    import('../judge/judge.ts'),
    import('../judge/client.ts'),
  ]);
  const clients = await readClients();
  const client = String(options['client']);
  const wanted = clients.find(({ name }) => name === client);
  if (wanted === undefined)
    throw usageError(
      `no client "${client.slice(0, 40)}"; there is ${clients.map(({ name }) => name).join(', ')}`,
    );
  const inputFor = await readExamineOptions({ ...options, patience: 'cold' }, io);
  return async () => {
    const began = performance.now();
    const base = inputFor(target);
    const needs = { ...base.needs, contract: wanted.contract !== null };
    const input = { ...base, needs, openHost: async () => host };
    const env = target.kind === 'local' ? io.env : {};
    const engineEnv = Object.fromEntries(
      Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const { facts } = await examineStarted(await examine(input), input, engineEnv);
    return {
      ...judge(withoutThisRun(facts), { client, clients, only: [], skip: [] }),
      durationMs: Math.round(performance.now() - began),
    };
  };
}

/** The files of this very update, and its lock, are no update to wait for. */
const withoutThisRun = (facts: Facts): Facts =>
  facts.host?.home == null
    ? facts
    : { ...facts, host: { ...facts.host, home: { ...facts.host.home, update: null } } };
