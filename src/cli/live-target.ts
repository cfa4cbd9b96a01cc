import { CompatError } from '../errors.ts';
import type { Host } from '../host/types.ts';
import type { ExamineInput } from '../lifecycle/examine.ts';
import type { Way } from '../live/way.ts';
import type { Facts } from '../probe/schema.ts';
import { shown } from '../report/shown.ts';
import type { Target } from '../target/types.ts';
import { readExamineOptions } from './examine-request.ts';
import type { Io } from './io.ts';
import type { RawOptions } from './request.ts';

/** A running dashboard whose chat opens. */
export interface LiveTarget {
  way: Way;
  version: string | null;
  /** Ends what reaching it needs. */
  close(): Promise<void>;
}

/**
 * Looks at the target as `doctor` does, and gives the way in that worked.
 *
 * @throws CompatError unchecked when no dashboard runs or its chat does not open; nothing was sent to a model then
 */
export async function openLiveTarget(
  target: Target,
  options: RawOptions,
  io: Io,
  given?: ExamineInput,
): Promise<LiveTarget> {
  const { examine } = await import('../lifecycle/examine.ts');
  const input = given ?? (await readExamineOptions(options, io))(target);
  const { facts, host, used } = await examine(input);
  const close = async (): Promise<void> => host?.close();
  const main = facts.ws.find(({ id }) => id === 'main');
  if (facts.service === null || used === undefined || main?.outcome !== 'open') {
    await close();
    throw await notOpen(facts, target);
  }
  const way: Way = {
    url: facts.service.url,
    used,
    origin: input.refinements.origin,
    connection: { ...input.connection, ...tunnel(host) },
  };
  return { way, version: facts.status?.version ?? null, close };
}

/** Why there is no chat: what `doctor` would say of it for a client that needs nothing but the chat. */
async function notOpen(facts: Facts, target: Target): Promise<CompatError> {
  const commands = [['hermes-compat', 'doctor', target.name]];
  if (facts.service === null)
    return new CompatError('unchecked', `no running dashboard found for ${target.name}; nothing was sent`, {
      commands,
    });
  const message = `the chat of ${facts.service.url} does not open; nothing was sent`;
  const [{ judge }, { readClients }, { advice, sentence }] = await Promise.all([
    import('../judge/judge.ts'),
    import('../judge/client.ts'),
    import('../report/messages.ts'),
  ]);
  const { findings } = judge(facts, { client: 'minimal', clients: await readClients() });
  const cause = findings.find(({ severity }) => severity === 'error');
  if (cause === undefined) return new CompatError('unchecked', message, { commands });
  const said = [sentence(cause), advice(cause)].map((text) => shown(text).replace(/[.:;]*$/, '.'));
  return new CompatError('unchecked', [`${message}.`, ...said].join(' '), { finding: cause.code, commands });
}

const tunnel = (host: Host | null): Pick<Way['connection'], 'connect'> =>
  host !== null && host.kind === 'ssh' ? { connect: host.connect } : {};

/** Values that must not occur in a frame log, the longest first. Of a login that is each cookie too: any of them may be repeated alone. */
export function secretsOf({ used }: Way): string[] {
  if (used.kind === 'none') return [];
  if (used.kind !== 'cookie') return [used.token];
  const values = used.cookie
    .split(/;\s*/)
    .map((pair) => pair.slice(pair.indexOf('=') + 1).replaceAll(/^"|"$/g, ''))
    .filter((value) => value.length >= shortestCookie);
  return [used.cookie, ...values].sort((a, b) => b.length - a.length);
}

/** Shorter ones are words like `basic`. */
const shortestCookie = 12;
