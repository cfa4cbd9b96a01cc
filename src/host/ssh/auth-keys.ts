import { readFile } from 'node:fs/promises';
import type { AnyAuthMethod, BaseAgent, ParsedKey } from 'ssh2';
import type { Ask, Attempt } from './auth.ts';
import type { AuthState } from './auth-failure.ts';
import { type Identity, parseIdentity } from './keys.ts';
import type { Questions } from './types.ts';

type Ssh2 = typeof import('ssh2');

/** The agent's keys, those of the configuration first. One attempt a key, so that a partial success is seen. */
export async function agentAttempts(ssh2: Ssh2, state: AuthState): Promise<Attempt[]> {
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
export function keyAttempts(ssh2: Ssh2, state: AuthState, questions: Questions, ask: Ask): Attempt[] {
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
