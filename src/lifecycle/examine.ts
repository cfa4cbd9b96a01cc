import type { Located } from '../engine/locate.ts';
import type { EngineProcess, Install } from '../engine/schema.ts';
import { CompatError } from '../errors.ts';
import type { Host } from '../host/types.ts';
import { probe } from '../probe/probe.ts';
import type { ProbeInput, ProbeNeeds, ProbeResult, UsedCredential } from '../probe/types.ts';
import type { Facts } from '../probe/schema.ts';
import type { Credential, Refinements, Target } from '../target/types.ts';
import { chooseDashboard, processBehind, type Seen, urlOfProcess } from './choose-service.ts';
import { assemble, httpService, service } from './assemble-facts.ts';
import { contractOnDisk } from './contract-on-disk.ts';
import { patchFindings } from './patch-findings.ts';
import { refusalReason } from './refusal-reason.ts';
import { launchedOf, type Launched, markLaunched } from './launched.ts';
import { isPortClosed } from './port-closed.ts';

/** Everything that an examination needs to know. Nothing is read from the process here. */
export interface ExamineInput {
  target: Target;
  refinements: Refinements;
  credential: Credential | null;
  /** Opens the host of a local or ssh target; closed by whoever called `examine`. */
  openHost(target: Target): Promise<Host>;
  /** HERMES_HOME and its like, for a local target only. */
  env: Record<string, string | undefined>;
  client: string | null;
  needs: ProbeNeeds;
  patience: 'normal' | 'cold';
  timeoutMs: number | null;
  connection: Pick<ProbeInput, 'headers' | 'ca' | 'clientCert' | 'proxy' | 'holdSeconds'>;
  /** The option or variable that named `connection.proxy`. */
  proxyFrom?: string | null;
  signal: AbortSignal;
  /** A dashboard that we started for this check. */
  started: { url: string; pid: number; credential: Credential | null } | null;
  /** Says what is being done, for a person who waits. */
  onProgress?: (step: string) => void;
}

/** Facts, and what later steps need of the host. */
export interface Examination {
  facts: Facts;
  host: Host | null;
  seen: Seen | null;
  /** What opened the dashboard, for a connection by the same process; absent where nothing was probed. Never part of a document. */
  used?: UsedCredential;
}

/** Target → locate → probe → facts. Never judges; what could not be looked at is a fact too. */
export async function examine(input: ExamineInput): Promise<Examination> {
  const { target } = input;
  if (target.kind === 'http') {
    const result = await probe(probeInput(input, target.url, null, null));
    return {
      facts: assemble(input, result, null, httpService(target.url)),
      host: null,
      seen: null,
      used: result.used,
    };
  }
  let host: Host | null = null;
  try {
    host = await input.openHost(target);
    return await withMore(await examineHost(input, host), input.target, host);
  } catch (error) {
    if (
      !(error instanceof CompatError && error.kind === 'unchecked' && error.details.finding !== undefined)
    ) {
      await host?.close();
      throw error;
    }
    const { finding, args = {}, commands = [] } = error.details;
    const facts = {
      ...assemble(input, null, null, null),
      hostError: { finding, text: error.message, args, commands },
    };
    return { facts, host, seen: null };
  }
}

/** What only the host itself tells after the probes: the logged reason of a refusal, patches by bytes, and how the way to it was. */
async function withMore(examination: Examination, target: Target, host: Host): Promise<Examination> {
  const { facts, seen } = examination;
  if (seen === null || facts.host === null) return examination;
  const [reason, patches] = await Promise.all([
    refusalReason(host, facts.host.home, facts.ws),
    patchFindings(host, target, seen),
  ]);
  // Noise of a login shell, a forbidden tunnel, a setting that could not be honoured: said although it worked.
  const notes = (host.notes ?? []).map(({ code, args }) => ({ code, text: Object.values(args).join(', ') }));
  return {
    ...examination,
    facts: {
      ...facts,
      host: { ...facts.host, notes: [...facts.host.notes, ...notes] },
      ws: facts.ws.map((each) => (each.id === 'console' && reason !== null ? { ...each, reason } : each)),
      ...(patches === undefined ? {} : { patchFindings: patches }),
    },
  };
}

async function examineHost(input: ExamineInput, host: Host): Promise<Examination> {
  const { target, refinements } = input;
  const named =
    input.started?.url ??
    refinements.url ??
    (refinements.port === null ? null : `http://127.0.0.1:${refinements.port}`);
  if (named !== null && host.kind === 'local' && (await isPortClosed(named))) {
    // Named and closed: the answer is known, and what lies on disk would not change it.
    const result = await probe(probeInput(input, named, host, null));
    return {
      facts: assemble(input, result, null, service(named, null, host, 'named')),
      host,
      seen: null,
      used: result.used,
    };
  }
  input.onProgress?.('looking for installs and processes');
  const { locate } = await import('../engine/locate.ts');
  const looking = locate(host, {
    path: target.kind === 'http' ? null : target.path,
    home: refinements.home,
    profile: refinements.profile,
    env: target.kind === 'local' ? input.env : {},
    port: named === null ? null : portOf(named),
    timeoutMs: Math.min(input.timeoutMs ?? 30_000, 30_000),
  });
  if (named !== null) return examineNamed(input, host, named, looking);
  const seen = await looking;
  const running = chooseDashboard(seen, installNamed(seen), refinements.home !== null);
  const url = running === null ? null : urlOfProcess(running);
  if (running === null || url === null) return { facts: assemble(input, null, seen, null), host, seen };
  const disk = contractOnDisk(installOf(running, seen), running);
  const ask = (more: ExamineInput): ProbeInput => ({ ...probeInput(more, url, host, disk), proxied: 'no' });
  const [result, launched] = await Promise.all([probe(ask(input)), launchedOf(host, seen, running)]);
  const known = await withLaunchToken(input, result, launched, ask);
  const marked = markLaunched(seen, launched);
  return {
    facts: assemble(input, known, marked, service(url, running, host, 'found')),
    host,
    seen: marked,
    used: known.used,
  };
}

/** The URL is known, so looking and probing run at once; only the contract waits for the disk. */
async function examineNamed(
  input: ExamineInput,
  host: Host,
  url: string,
  looking: Promise<Located>,
): Promise<Examination> {
  const disk = looking.then((seen) => {
    const running = processBehind(url, seen);
    return contractOnDisk(running === null ? null : installOf(running, seen), running);
  });
  const [result, seen] = await Promise.all([probe(probeInput(input, url, host, disk)), looking]);
  const running = processBehind(url, seen);
  const launched = running === null ? null : await launchedOf(host, seen, running);
  const known = await withLaunchToken(input, result, launched, (more) => probeInput(more, url, host, disk));
  const marked = markLaunched(seen, launched);
  return {
    facts: assemble(input, known, marked, service(url, running, host, input.started ? 'started' : 'named')),
    host,
    seen: marked,
    used: known.used,
  };
}

/** A page that gives no token is no end for a dashboard that we launched: its token file is ours. */
async function withLaunchToken(
  input: ExamineInput,
  result: ProbeResult,
  launched: Launched | null,
  again: (more: ExamineInput) => ProbeInput,
): Promise<ProbeResult> {
  if (input.credential !== null || result.facts.credential.kind !== 'none') return result;
  const credential = (await launched?.credential()) ?? null;
  return credential === null ? result : probe(again({ ...input, credential }));
}

function probeInput(
  input: ExamineInput,
  url: string,
  host: Host | null,
  diskContract: ProbeInput['contractFromDisk'],
): ProbeInput {
  const tunnel = host !== null && host.kind === 'ssh' ? { connect: host.connect } : {};
  return {
    url,
    origin: input.refinements.origin,
    mode: input.refinements.mode,
    patience: input.patience,
    timeoutMs: input.timeoutMs ?? undefined,
    credential: input.started?.credential ?? input.credential,
    needs: input.needs,
    contractFromDisk: diskContract,
    proxied: input.started === null ? undefined : 'no',
    signal: input.signal,
    ...input.connection,
    ...tunnel,
  };
}

const installOf = (running: EngineProcess, seen: Seen): Install | null =>
  seen.installs.find((install) => install.id === running.install) ?? null;

const portOf = (url: string): number => {
  const { port, protocol } = new URL(url);
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
};

/** A path to code (root, environment, script) asks for the dashboards of that install; a home asks for its own. */
const installNamed = ({ host }: Seen): string | null =>
  host.named === 'root' || host.named === 'venv' || host.named === 'script'
    ? (host.chosen?.install ?? null)
    : null;
