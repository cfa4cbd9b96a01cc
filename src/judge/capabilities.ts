import type { Capability } from '../probe/schema.ts';
import type { CapabilityId } from './capability-ids.ts';
import { capabilityIds } from './capability-ids.ts';
import type { State } from './capability-state.ts';
import { byRelease, no, notApplicable, notRunning, unknown, yes } from './capability-state.ts';
import { chatGate } from './chat.ts';
import { contractView } from './contract.ts';
import type { Diagnosis } from './diagnosis.ts';
import { modelLibrary } from './model-library.ts';
import type { Reading } from './reading.ts';
import { restCapability } from './rest-capability.ts';
import { sawHttp, sawWs } from './saw.ts';

/** What the facts say that the dashboard offers, whoever asks. Evidence from disk or release data says that it is that. */

const status = (diagnosis: Diagnosis): State => {
  const fact = diagnosis.reading.http('status');
  const evidence = fact === null ? [] : [sawHttp(fact)];
  if (diagnosis.reach.state === 'reached') return yes(...evidence);
  if (diagnosis.reach.state === 'absent') return notRunning('status', diagnosis);
  return unknown(...evidence);
};

function ws(diagnosis: Diagnosis): State {
  const { reading, socket } = diagnosis;
  if (diagnosis.reach.state === 'absent') return chatNotRunning('ws', diagnosis);
  const main = reading.ws('main');
  if (socket === null || main === null) return chatOffElse(diagnosis, 'no upgrade was tried');
  if (socket.state === 'open')
    return rpcAnswered(reading) ? yes(sawWs(main)) : unknown(sawWs(main), 'no JSON-RPC answer');
  if (socket.state === 'held-back') return chatOffElse(diagnosis, sawWs(main));
  const blocked = socket.drafts.length > 0 && socket.drafts.every((each) => definite.has(each.code));
  return blocked ? no(sawWs(main)) : unknown(sawWs(main));
}

/** Causes that stay until somebody changes something; the rest may be different on the next try. */
const definite = new Set([
  'CHAT_DISABLED',
  'NO_WS_ROUTE',
  'WS_LIB_MISSING',
  'UPGRADE_DROPPED',
  'WS_PATH_MAPPED_WRONG',
  'EDGE_REFUSES_WS',
  'WS_HANDSHAKE_INVALID',
  'HOST_REJECTED',
  'ORIGIN_REJECTED',
  'PEER_NOT_LOOPBACK',
]);

const chatOffElse = (diagnosis: Diagnosis, otherwise: string): State => {
  const off = diagnosis.socket?.drafts.find((each) => each.code === 'CHAT_DISABLED');
  return off === undefined ? unknown(otherwise) : no(...off.evidence);
};

function chatNotRunning(id: CapabilityId, diagnosis: Diagnosis): State {
  const base = notRunning(id, diagnosis);
  if (base.state !== 'yes') return base;
  const gate = chatGate(diagnosis.reading);
  if (gate.state === 'off') return no(...gate.evidence);
  return gate.state === 'on' ? yes(...gate.evidence) : unknown(...gate.evidence);
}

export const rpcAnswered = (reading: Reading): boolean => reading.facts.rpc.outcome === 'answered';

function rpc(diagnosis: Diagnosis): State {
  if (diagnosis.reach.state === 'absent') return chatNotRunning('rpc', diagnosis);
  const { rpc: fact } = diagnosis.reading.facts;
  if (diagnosis.socket?.state === 'open' && fact.outcome === 'answered')
    return yes(`JSON-RPC ${fact.method} answered with ${fact.answer ?? 'an answer'}`);
  return unknown(fact.why ?? 'there was no JSON-RPC answer');
}

function embeddedChat(diagnosis: Diagnosis): State {
  if (diagnosis.reach.state === 'absent') return chatNotRunning('embedded-chat', diagnosis);
  if (diagnosis.socket?.state === 'open') return yes('/api/ws opened');
  return chatOffElse(diagnosis, '/api/ws did not open');
}

function contract({ reading }: Diagnosis): State {
  const { known, raw, why } = contractView(reading);
  if (known.state === 'known')
    return yes(`contract ${known.value ?? ''} (from ${known.from ?? 'the engine'})`);
  if (known.state === 'none') return no('the engine names no contract');
  return unknown(raw === null ? (why ?? 'it was not read') : `the engine says ${raw}`);
}

/** Capabilities that a contract number stands for; without a number the release decides. */
const byContract =
  (id: CapabilityId, least: number) =>
  ({ reading, reach }: Diagnosis): State => {
    if (reach.state !== 'reached' && reach.state !== 'absent') return unknown('no dashboard was reached');
    const { known } = contractView(reading);
    if (known.state === 'known' && known.value !== null)
      return (known.value >= least ? yes : no)(`contract ${known.value}; it needs ${least}`);
    if (known.state === 'none') return no('the engine names no contract');
    return byRelease(id, reading);
  };

function ticketAuth({ reading, reach, credential }: Diagnosis): State {
  if (reach.state === 'absent') return byRelease('ticket-auth', reading);
  if (reach.state !== 'reached') return unknown('no dashboard was reached');
  if (!reading.gated) return notApplicable('the dashboard asks for no login');
  const opened = reading.facts.ws.find((each) => each.outcome === 'open' && /ticket/.test(each.credential));
  if (opened !== undefined) return yes(sawWs(opened));
  return unknown(credential?.ok === 'yes' ? 'no upgrade with a ticket was tried' : 'the login did not pass');
}

const derive: Record<CapabilityId, (diagnosis: Diagnosis) => State> = {
  status,
  ws,
  rpc,
  contract,
  'embedded-chat': embeddedChat,
  sessions: restCapability('sessions'),
  'session-messages': restCapability('session-messages'),
  'model-options': restCapability('model-options'),
  'model-set': restCapability('model-set'),
  'model-library': modelLibrary,
  attachments: byContract('attachments', 2),
  'large-attachments': byContract('large-attachments', 5),
  'server-requests': byContract('server-requests', 7),
  'ticket-auth': ticketAuth,
};

export const capabilitiesOf = (diagnosis: Diagnosis): Capability[] =>
  capabilityIds.map((id) => ({ id, ...derive[id](diagnosis) }));
