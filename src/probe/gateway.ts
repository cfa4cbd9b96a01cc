import type { Access } from './access.ts';
import { field } from './json.ts';
import { readContract } from './contract.ts';
import { type Line, lineOf } from './frames.ts';
import { networkError } from './network-error.ts';
import { rounded, type Run } from './run.ts';
import { liveSessions } from './session-list.ts';
import type { RpcFact, WsFact } from './exchange-schema.ts';
import type { ContractFact } from './schema.ts';
import { type UpgradeAsk, upgrade } from './upgrade.ts';

/** Nobody has this method: the error proves dispatch and touches nothing. */
const harmless = 'hermes_compat.probe';

export interface GatewayFacts {
  main: WsFact;
  rpc: RpcFact;
  contract: ContractFact;
  live: Awaited<ReturnType<typeof liveSessions>>;
  /** Says goodbye. Until then the socket shows whether the server goes away under the other probes. */
  end: () => void;
}

/** Upgrade with the client's credential, one round trip, the contract, and the hold. Does not wait for gateway.ready. */
export async function askGateway(run: Run, access: Access): Promise<GatewayFacts> {
  const { fact: main, line } = await openGateway(run, access);
  if (line === null)
    return {
      main,
      rpc: skippedRpc('no WebSocket'),
      contract: await readContract(run, null),
      live: null,
      end: () => undefined,
    };
  // Both at once: over a long way each would cost a round trip.
  const [rpc, listed] = await Promise.all([
    roundTrip(run, line),
    access.kind === 'none' ? null : liveSessions(line),
  ]);
  main.phases.rpc = rpc.ms;
  const answered = rpc.outcome === 'answered';
  const live = answered ? listed : null;
  const contract = await readContract(run, answered ? line : null);
  if (run.input.holdSeconds !== undefined && main.close === null)
    await hold(run, main, line, run.input.holdSeconds);
  return { main, rpc, contract, live, end: line.end };
}

async function openGateway(run: Run, access: Access): Promise<{ fact: WsFact; line: Line | null }> {
  const first = await withTicket(run, access, 'main');
  if (first.line !== null || !first.fact.bareRefusal || first.fact.credential !== 'ticket') return first;
  // Newer gateways take the ticket as a subprotocol only.
  const second = await withTicket(run, access, 'subprotocol');
  if (second.line === null) return first;
  // Only a new one in the same form tells a form that is not taken from a ticket that was used up on the way.
  const again = await upgradeAsk(access, '/api/ws');
  const { socket } = await upgrade(run, { ...again, id: 'new-ticket', origin: run.input.origin });
  socket?.on('error', () => undefined).terminate();
  return second;
}

async function withTicket(
  run: Run,
  access: Access,
  id: 'main' | 'subprotocol',
): Promise<{ fact: WsFact; line: Line | null }> {
  let line: Line | null = null;
  const ask = await upgradeAsk(access, '/api/ws', id === 'subprotocol');
  const { fact, socket } = await upgrade(run, { ...ask, id, origin: run.input.origin }, (opening, noted) => {
    line = lineOf(run, opening, noted);
    return line;
  });
  return { fact, line: socket === null ? null : line };
}

/** Path, headers and subprotocols that carry the credential: in the query and in a header, so that a lost Upgrade shows which it was. */
export async function upgradeAsk(
  access: Access,
  path: string,
  subprotocol = false,
): Promise<Pick<UpgradeAsk, 'path' | 'credential' | 'headers' | 'protocols'>> {
  const headers = access.headers();
  const ticket = (await access.ticket?.()) ?? null;
  if (ticket !== null && subprotocol) {
    const protocols = ['hermes-gateway-v1', `hermes-gateway-ticket.${ticket}`];
    return { path, credential: 'subprotocol-ticket', headers, protocols };
  }
  const and = path.includes('?') ? '&' : '?';
  if (ticket !== null)
    return { path: `${path}${and}ticket=${encodeURIComponent(ticket)}`, credential: 'ticket', headers };
  if (access.token === null) return { path, credential: 'none', headers };
  const credential = access.kind === 'bearer' ? 'bearer' : 'token';
  return { path: `${path}${and}token=${encodeURIComponent(access.token)}`, credential, headers };
}

async function roundTrip(run: Run, line: Line): Promise<RpcFact> {
  const started = performance.now();
  const base = { why: null, method: harmless, ms: null, answer: null, errorCode: null };
  try {
    const { json } = await line.call(harmless, {});
    const ms = rounded(performance.now() - started);
    const error = field(json, 'error');
    const code = field(error, 'code');
    const answer = error === undefined ? 'result' : 'error';
    return {
      ...base,
      outcome: 'answered',
      answer,
      errorCode: typeof code === 'number' ? code : null,
      ms,
      error: null,
    };
  } catch (error) {
    return { ...base, outcome: 'failed', error: networkError(error, 'rpc', run.redact) };
  }
}

export const skippedRpc = (why: string): RpcFact => ({
  outcome: 'skipped',
  why,
  method: harmless,
  answer: null,
  errorCode: null,
  ms: null,
  error: null,
});

/** Stays open without traffic of ours; pings of the server are answered. */
async function hold(run: Run, main: WsFact, line: Line, seconds: number): Promise<void> {
  const started = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, seconds * 1000);
    run.all.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([over, line.closed]);
  clearTimeout(timer);
  const lasted = performance.now() - started;
  main.held = {
    seconds: rounded(lasted / 1000),
    closedAfterMs: main.close === null ? null : rounded(lasted),
  };
}
