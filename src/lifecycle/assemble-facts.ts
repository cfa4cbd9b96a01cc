import type { EngineProcess, Install } from '../engine/schema.ts';
import type { Host } from '../host/types.ts';
import { capabilitiesOf } from '../judge/capabilities.ts';
import { defaultClient } from '../judge/client.ts';
import { diagnose } from '../judge/diagnosis.ts';
import { isLoopback } from '../probe/connect.ts';
import type { Facts } from '../probe/schema.ts';
import type { ProbeResult } from '../probe/types.ts';
import { addressOf } from '../target/address.ts';
import { documentHead } from '../tool.ts';
import type { Seen, Service } from './choose-service.ts';
import { chosenInstall } from './chosen-install.ts';
import type { ExamineInput } from './examine.ts';
import { notProbed } from './not-probed.ts';

export const httpService = (url: string): Service => ({
  url,
  how: 'named',
  via: 'direct',
  pid: null,
  install: null,
  proxied: 'unknown',
});

export function service(
  url: string,
  process: EngineProcess | null,
  host: Host,
  how: Service['how'],
): Service {
  return {
    url,
    how,
    via: host.kind === 'ssh' ? 'tunnel' : 'direct',
    pid: process?.pid ?? null,
    install: process?.install ?? null,
    proxied: process === null ? 'unknown' : 'no',
  };
}

/** One document of what was asked, what lies on the host, and what the probes saw. */
export function assemble(
  input: ExamineInput,
  result: ProbeResult | null,
  seen: Seen | null,
  found: Service | null,
): Facts {
  const { target, refinements } = input;
  const installs = inQuestionFirst(seen);
  const facts: Facts = {
    ...documentHead('facts'),
    target: { kind: target.kind, name: target.name, url: found?.url ?? null, address: addressOf(target) },
    asked: {
      url: refinements.url,
      port: refinements.port,
      home: refinements.home,
      profile: refinements.profile,
      origin: refinements.origin,
      mode: refinements.mode,
      client: input.client,
      patience: input.patience,
      ...askedProxy(input, found),
    },
    takenAt: new Date().toISOString(),
    host: seen?.host ?? null,
    installs,
    processes: [...(seen?.processes ?? [])],
    service: found,
    ...(result?.facts ?? notProbed(input.credential, chosenInstall(seen))),
    capabilities: [],
  };
  return { ...facts, capabilities: capabilitiesOf(diagnose(facts, input.client ?? defaultClient)) };
}

/** The proxy on our way, without its password; none to this machine and none through a tunnel. */
function askedProxy(
  { connection, proxyFrom }: ExamineInput,
  found: Service | null,
): Pick<Facts['asked'], 'proxy'> {
  if (connection.proxy === undefined || found === null || found.via !== 'direct') return {};
  if (isLoopback(new URL(found.url).hostname)) return {};
  return { proxy: { url: new URL(connection.proxy).origin, from: proxyFrom ?? null } };
}

/** The install that the target means stands first: it is the one in question when nothing runs. */
function inQuestionFirst(seen: Seen | null): Install[] {
  if (seen === null) return [];
  const chosen = seen.host.chosen?.install ?? null;
  const rank = (install: Install): number => (install.id === chosen ? 0 : install.onPath ? 1 : 2);
  return [...seen.installs].sort((a, b) => rank(a) - rank(b));
}
