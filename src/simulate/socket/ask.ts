import { randomBytes } from 'node:crypto';
import { since } from '../release/since.ts';
import type { Session } from '../world.ts';
import { emit, receivers } from './hub.ts';
import type { Hub } from './hub.ts';

/** Questions of a turn to the user: events that a call answers, or from 0.21.4 on requests of the server. */

type Json = Record<string, unknown>;

/** Puts a question where an answering call finds it, until it is answered or the turn is stopped. */
const answered = (session: Session, requestId: string, signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const stop = (): void => reject(new Error('stopped'));
    signal.addEventListener('abort', stop, { once: true });
    session.question = {
      requestId,
      answer: (value) => {
        signal.removeEventListener('abort', stop);
        session.question = null;
        resolve(value);
      },
    };
  });

/** Sends a request to the clients that said they answer such; null when there is none. */
const request = async (
  hub: Hub,
  session: Session,
  method: string,
  params: Json,
  signal: AbortSignal,
): Promise<unknown> => {
  const capable = receivers(hub, session.id).filter((connection) => connection.answersRequests);
  if (capable.length === 0) return null;
  const id = `srq-${randomBytes(6).toString('hex')}`;
  const answer = answered(session, id, signal);
  for (const connection of capable) {
    connection.waiting.set(id, (value) => session.question?.answer(value));
    connection.send({ jsonrpc: '2.0', id, method, params: { session_id: session.id, ...params } });
  }
  try {
    return await answer;
  } catch (error) {
    emit(hub, session, 'request.cancel', { id, method, reason: 'interrupted' });
    throw error;
  }
};

const choices = ['once', 'session', 'always', 'deny'];

/** Result of a command that needs an approval. */
export const askApproval = async (
  hub: Hub,
  session: Session,
  command: string,
  signal: AbortSignal,
): Promise<Json> => {
  const { release } = hub.world;
  const why = 'delete in root path';
  const requestId = randomBytes(16).toString('hex');
  const payload = {
    command,
    pattern_key: why,
    pattern_keys: [why],
    description: why,
    ...(since(release, '0.17.0') && { allow_permanent: true }),
    ...(since(release, '0.21.0') && { allow_session: true, request_id: requestId }),
    ...(since(release, '0.19.0') && { choices }),
  };
  let answer: unknown;
  if (release.serverRequests) answer = await request(hub, session, 'approval', payload, signal);
  else {
    emit(hub, session, 'approval.request', payload);
    answer = await answered(session, requestId, signal);
  }
  const choice = (answer as Json | null)?.['choice'];
  if (answer === null)
    return blocked('Command approval was withdrawn: the attached client cannot answer approval requests.');
  if (choice === 'deny' || !choices.includes(String(choice))) return blocked('User denied this command.');
  const approval = `Command required approval (${why}) and was approved by the user.`;
  return { output: '', exit_code: 0, error: null, approval };
};

const blocked = (why: string): Json => ({
  output: '',
  exit_code: -1,
  error: `BLOCKED: ${why}`,
  status: 'blocked',
});

/** Result of a question with choices. */
export const askChoice = async (
  hub: Hub,
  session: Session,
  question: string,
  offered: string[],
  signal: AbortSignal,
): Promise<Json> => {
  const requestId = randomBytes(4).toString('hex');
  if (!hub.world.release.serverRequests) {
    emit(hub, session, 'clarify.request', { question, choices: offered, request_id: requestId });
    const answer = await answered(session, requestId, signal);
    return { question, choices_offered: offered, user_response: (answer as Json)['answer'] };
  }
  const asked = [{ qid: 'q0', question, choices: offered, multi_select: false }];
  const answer = (await request(hub, session, 'clarify', { questions: asked }, signal)) as Json | null;
  const given = (answer?.['answers'] as Json | undefined)?.['q0'] ?? null;
  const status = given === null ? 'unanswered' : 'answered';
  const response = { question, choices_offered: offered, status, user_response: given };
  return { responses: [response], outcome: given === null ? 'unavailable' : 'submitted' };
};
