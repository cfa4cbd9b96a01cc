import { draft } from '../draft.ts';
import type { Draft } from '../draft.ts';
import type { Reading } from '../reading.ts';
import { sawError, sawWs } from '../saw.ts';
import type { CheckDefinition } from './check.ts';
import { couldNot, done, skip } from './check.ts';

export const rpc: CheckDefinition = {
  id: 'rpc',
  summary: 'JSON-RPC answers on the open WebSocket',
  decides: ['rpc'],
  probes: [],
  run({ socket, reading }) {
    if (socket?.state !== 'open') return skip('the WebSocket is not open');
    const { rpc: fact } = reading.facts;
    if (fact.outcome === 'answered') return done([], `${fact.method} in ${Math.round(fact.ms ?? 0)} ms`);
    if (fact.error?.code === 'ABORTED') return couldNot('it was interrupted');
    return done([noAnswer(reading)]);
  },
};

/** Why we closed it ourselves. Codes of ws; our own cap and its are the same to the server. */
const frameProblems: Record<string, string> = {
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 'too large',
  WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH: 'too large',
  WS_ERR_INVALID_UTF8: 'not UTF-8',
};

/** The upgrade went through and then nothing useful came: closed, silent, or an answer that is none. */
function noAnswer(reading: Reading): Draft {
  const main = reading.ws('main');
  const { rpc: fact } = reading.facts;
  const evidence = [
    ...(main === null ? [] : [sawWs(main)]),
    ...(fact.error === null ? [] : [`JSON-RPC: ${sawError(fact.error)}`]),
  ];
  const broken = main?.error?.code.startsWith('WS_ERR_') === true ? main.error : null;
  if (broken !== null)
    return draft('RESPONSE_INVALID', {
      args: { url: main?.url ?? null, at: 'ws', problem: frameProblems[broken.code] ?? 'broken frames' },
      evidence,
    });
  const close = main?.close ?? null;
  if (close !== null)
    return draft('WS_CLOSED_EARLY', {
      args: { closeCode: close.code, reason: close.reason, ms: Math.round(close.afterMs) },
      evidence: [...evidence, `closed with ${close.code} after ${Math.round(close.afterMs)} ms`],
    });
  const silent = main?.firstFrame == null && (fact.error === null || fact.error.code === 'DEADLINE');
  if (silent) return draft('WS_SILENT', { args: { method: fact.method }, evidence });
  return draft('RPC_FAILED', { args: { method: fact.method, why: fact.why }, evidence });
}
