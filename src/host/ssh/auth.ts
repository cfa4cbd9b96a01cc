import { readFile } from 'node:fs/promises';
import type { AnyAuthMethod, AuthHandlerMiddleware, BaseAgent, ParsedKey } from 'ssh2';
import type { CompatError } from '../../errors.ts';
import { firstLine, sshError } from './failures.ts';
import { type Identity, parseIdentity, readIdentity } from './keys.ts';
import type { HopSettings } from './settings.ts';
import type { Questions } from './types.ts';

type Ssh2 = typeof import('ssh2');

/** Drives one login: what to offer, in which order, and what to say when nothing helped. */
export interface Authentication {
  handler: AuthHandlerMiddleware;
  /** The methods that the server named last; ssh2 does not pass on those of a failed agent key. */
  serverOffers(methods: string[]): void;
  /** @param cause the error of ssh2 */
  failure(cause: unknown): CompatError;
}

interface Attempt {
  method: string;
  label: string;
  /** null: it cannot be tried after all. */
  make(): Promise<AnyAuthMethod | null>;
}

interface State {
  settings: HopSettings;
  name: string;
  identities: Identity[];
  agent: 'none' | 'missing' | 'used';
  tried: string[];
  offered: string[];
  partial: boolean;
  /** Prompts that nobody could answer. */
  unanswered: string[];
}

/** `ask` wraps every question, so that the clock stands still while a person types. */
export async function authentication(
  ssh2: Ssh2,
  settings: HopSettings,
  questions: Questions,
  ask: <T>(question: Promise<T>) => Promise<T>,
): Promise<Authentication> {
  const name = `${settings.user}@${settings.hostName}`;
  const state: State = {
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
      void next().then((made) => give(made as AnyAuthMethod));
    },
    serverOffers: (methods) => {
      heard = true;
      // A method that is no longer wanted was accepted: one step of several.
      state.partial ||= last !== null && !methods.includes(last);
      state.offered = methods;
    },
    failure: (cause) => failure(state, cause),
  };
}

const readIdentities = (ssh2: Ssh2, { identityFiles }: HopSettings): Promise<Identity[]> =>
  Promise.all(identityFiles.map((path) => readIdentity(path, ssh2.utils.parseKey)));

/** The agent's keys, those of the configuration first. One attempt a key, so that a partial success is seen. */
async function agentAttempts(ssh2: Ssh2, state: State): Promise<Attempt[]> {
  const { settings, identities } = state;
  if (settings.agent === null) return [];
  const agent = ssh2.createAgent(settings.agent);
  const keys = await new Promise<ParsedKey[] | null>((resolve) => {
    const timer = setTimeout(() => resolve(null), 5000);
    agent.getIdentities((error, found) => {
      clearTimeout(timer);
      resolve(error ? null : ((found ?? []) as ParsedKey[]));
    });
  });
  state.agent = keys === null ? 'missing' : 'used';
  const named = await publicHalves(ssh2, identities);
  const isNamed = (key: ParsedKey): boolean => named.some((blob) => blob.equals(key.getPublicSSH()));
  const inOrder = [...(keys ?? [])].sort((a, b) => Number(isNamed(b)) - Number(isNamed(a)));
  return inOrder
    .filter((key) => isNamed(key) || !settings.identitiesOnly)
    .map((key) => ({
      method: 'publickey',
      label: `agent key ${key.comment || key.type}`,
      make: async () => ({ type: 'agent', username: settings.user, agent: onlyKey(agent, key) }),
    }));
}

/** An agent that shows one key. */
function onlyKey(agent: BaseAgent, key: ParsedKey): BaseAgent {
  const one = Object.create(agent) as BaseAgent;
  one.getIdentities = (give) => give(undefined, [key]);
  return one;
}

async function publicHalves(ssh2: Ssh2, identities: readonly Identity[]): Promise<Buffer[]> {
  const halves = await Promise.all(
    identities.map(async (identity) => {
      if (identity.state === 'usable') return identity.key.getPublicSSH();
      const path = identity.path.endsWith('.pub') ? identity.path : `${identity.path}.pub`;
      const text = await readFile(path).catch(() => null);
      const key = text === null ? null : ssh2.utils.parseKey(text);
      return key === null || key instanceof Error ? null : ([key].flat()[0] as ParsedKey).getPublicSSH();
    }),
  );
  return halves.filter((half) => half !== null);
}

/** Key files; the encrypted ones last, so that nobody is asked in vain. */
function keyAttempts(
  ssh2: Ssh2,
  state: State,
  questions: Questions,
  ask: <T>(question: Promise<T>) => Promise<T>,
): Attempt[] {
  const { identities, settings } = state;
  const attempt = (identity: Identity, make: Attempt['make']): Attempt => ({
    method: 'publickey',
    label: `key ${identity.path}`,
    make,
  });
  const login = (key: ParsedKey): AnyAuthMethod => ({ type: 'publickey', username: settings.user, key });
  const plain = identities.flatMap((identity) =>
    identity.state === 'usable' ? [attempt(identity, async () => login(identity.key))] : [],
  );
  const locked = identities.flatMap((identity, index) =>
    identity.state !== 'encrypted'
      ? []
      : [
          attempt(identity, async () => {
            const passphrase = settings.mayAsk
              ? await ask(questions.passphrase?.(identity.path) ?? Promise.resolve(null))
              : null;
            if (passphrase === null) return null;
            const opened = parseIdentity(identity.path, identity.bytes, passphrase, ssh2.utils.parseKey);
            identities[index] = opened;
            return opened.state === 'usable' ? login(opened.key) : null;
          }),
        ],
  );
  return [...plain, ...locked];
}

/** Password, or a dialogue in which the only hidden question for a password is answered with it. */
function secretAttempt(
  method: string,
  state: State,
  questions: Questions,
  ask: <T>(question: Promise<T>) => Promise<T>,
): Attempt {
  const username = state.settings.user;
  const password = (): Promise<string | null> =>
    state.settings.mayAsk
      ? ask(questions.password?.(state.name) ?? Promise.resolve(null))
      : Promise.resolve(null);
  if (method === 'password') {
    const make = async (): Promise<AnyAuthMethod | null> => {
      const secret = await password();
      return secret === null ? null : { type: 'password', username, password: secret };
    };
    return { method, label: method, make };
  }
  const answer = async (
    title: string,
    prompts: { text: string; echo: boolean }[],
  ): Promise<string[] | null> => {
    const [only] = prompts;
    if (prompts.length === 1 && only !== undefined && !only.echo && /password/i.test(only.text)) {
      const secret = await password();
      return secret === null ? null : [secret];
    }
    return state.settings.mayAsk ? ask(questions.answers?.(title, prompts) ?? Promise.resolve(null)) : null;
  };
  const make = async (): Promise<AnyAuthMethod> => ({
    type: 'keyboard-interactive',
    username,
    prompt: (title, _instructions, _language, prompts, give) => {
      const asked = prompts.map(({ prompt, echo }) => ({ text: prompt, echo: echo === true }));
      void answer(title, asked).then((answers) => {
        if (answers === null) state.unanswered.push(...asked.map(({ text }) => firstLine(text)));
        give(answers ?? asked.map(() => ''));
      });
    },
  });
  return { method, label: method, make };
}

/** The one finding that helps most. */
function failure(state: State, cause: unknown): CompatError {
  const { name, identities, tried, offered, partial, unanswered } = state;
  const encrypted = identities.filter(({ state }) => state === 'encrypted').map(({ path }) => path);
  const refused = identities.flatMap((identity) =>
    identity.state === 'refused' && identity.why !== 'public-key'
      ? [`${identity.path} (${identity.why})`]
      : [],
  );
  const list = (words: string[]): string => (words.length === 0 ? 'nothing' : words.join(', '));
  const args = {
    host: name,
    tried: tried.join(', '),
    offered: offered.join(', '),
    partial,
    refused: refused.join(', '),
    encrypted: encrypted.join(', '),
    unanswered: unanswered.join(', '),
  };
  const facts = `Tried: ${list(tried)}. The server offers: ${list(offered)}.${refused.length > 0 ? ` Not used: ${list(refused)}.` : ''}`;
  const fail = (finding: string, message: string): CompatError =>
    sshError(finding, `${message} ${facts}`, args, { cause });
  const wantsKey = offered.includes('publickey');
  if (wantsKey && refused.some((text) => /wrong-passphrase/.test(text)))
    return fail('SSH_KEY_ENCRYPTED', `${name}: the passphrase does not open the key.`);
  if (wantsKey && encrypted.length > 0) {
    return fail(
      'SSH_KEY_ENCRYPTED',
      `${name}: ${list(encrypted)} needs a passphrase, and nobody could be asked. Use an agent, a terminal, or --ssh-password-file.`,
    );
  }
  if (refused.some((text) => /security-key/.test(text)) || (offered.length > 0 && offered.every(needsSystem)))
    return fail('SSH_NEEDS_SYSTEM_CLIENT', `${name}: this login needs the system's ssh (--ssh-command).`);
  if (state.agent === 'missing' && wantsKey && !tried.some((label) => label.startsWith('key ')))
    return fail('SSH_AGENT_MISSING', `${name}: no agent answers at ${state.settings.agent}.`);
  const half = partial
    ? 'the first step of the login was accepted, the next was not.'
    : 'the login was refused.';
  const asked = unanswered.length > 0 ? ` It asked: ${list(unanswered)}` : '';
  return fail('SSH_AUTH_FAILED', `${name}: ${half}${asked}`);
}

const needsSystem = (method: string): boolean => /^(gssapi|hostbased)/.test(method);
