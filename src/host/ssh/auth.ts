import type { AnyAuthMethod, AuthHandlerMiddleware } from 'ssh2';
import { authFailure, type AuthState } from './auth-failure.ts';
import { agentAttempts, keyAttempts } from './auth-keys.ts';
import { secretAttempt } from './auth-secrets.ts';
import { type Identity, readIdentity } from './keys.ts';
import type { HopSettings } from './settings.ts';
import type { Questions } from './types.ts';

type Ssh2 = typeof import('ssh2');

/** Drives one login: what to offer, in which order, and what to say when nothing helped. */
export interface Authentication {
  handler: AuthHandlerMiddleware;
  /** The methods that the server named last; ssh2 does not pass on those of a failed agent key. */
  serverOffers(methods: string[]): void;
  /** What to throw: a CompatError, or what a question threw. @param cause the error of ssh2 */
  failure(cause: unknown): unknown;
}

/** Wraps a question, so that the clock stands still while a person types. */
export type Ask = <T>(question: Promise<T>) => Promise<T>;

/** One thing to offer to the server. */
export interface Attempt {
  method: string;
  label: string;
  /** null: it cannot be tried after all. */
  make(): Promise<AnyAuthMethod | null>;
}

/** @param ask wraps every question */
export async function authentication(
  ssh2: Ssh2,
  settings: HopSettings,
  questions: Questions,
  ask: Ask,
): Promise<Authentication> {
  const name = `${settings.user}@${settings.hostName}`;
  const state: AuthState = {
    settings,
    name,
    identities: [],
    agent: 'none',
    tried: [],
    offered: [],
    partial: false,
    unanswered: [],
  };
  const usesKeys = settings.methods.includes('publickey');
  if (usesKeys) state.identities = await readIdentities(ssh2, settings);
  const keys = usesKeys
    ? [...(await agentAttempts(ssh2, state)), ...keyAttempts(ssh2, state, questions, ask)]
    : [];
  const waiting = settings.methods.flatMap((method) =>
    method === 'publickey' ? keys : [secretAttempt(method, state, questions, ask)],
  );
  let broken: unknown = null;
  let heard = false;
  let last: string | null = null;
  const next = async (): Promise<AnyAuthMethod | false> => {
    for (;;) {
      const index = waiting.findIndex(({ method }) => state.offered.includes(method));
      const [attempt] = index < 0 ? [] : waiting.splice(index, 1);
      if (attempt === undefined) return false;
      const made = await attempt.make();
      if (made === null) continue;
      state.tried.push(attempt.label);
      last = attempt.method;
      return made;
    }
  };
  return {
    handler: (offered, partial, give) => {
      // The first call comes before the server has said anything: "none" makes it name its methods.
      if (offered === null) return give({ type: 'none', username: settings.user });
      if (!heard) state.offered = offered;
      state.partial ||= partial;
      next().then(
        (made) => give(made as AnyAuthMethod),
        (error: unknown) => {
          broken = error;
          give(false as unknown as AnyAuthMethod);
        },
      );
    },
    serverOffers: (methods) => {
      heard = true;
      // A method that is no longer wanted was accepted: one step of several.
      state.partial ||= last !== null && !methods.includes(last);
      state.offered = methods;
    },
    failure: (cause) => broken ?? authFailure(state, cause),
  };
}

const readIdentities = (ssh2: Ssh2, { identityFiles }: HopSettings): Promise<Identity[]> =>
  Promise.all(identityFiles.map((path) => readIdentity(path, ssh2.utils.parseKey)));
