import type { CompatError } from '../../errors.ts';
import { sshError } from './failures.ts';
import type { Identity } from './keys.ts';
import type { HopSettings } from './settings.ts';

/** What is known of one login while it runs. */
export interface AuthState {
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

/** The one finding that helps most. */
export function authFailure(state: AuthState, cause: unknown): CompatError {
  const { name, identities, tried, offered, partial, unanswered } = state;
  const wrong = identities.flatMap((identity) =>
    identity.state === 'refused' && identity.why === 'wrong-passphrase' ? [identity.path] : [],
  );
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
    key: [...wrong, ...encrypted].join(', '),
    wrong: wrong.length > 0,
    unanswered: unanswered.join(', '),
  };
  const facts = `Tried: ${list(tried)}. The server offers: ${list(offered)}.${refused.length > 0 ? ` Not used: ${list(refused)}.` : ''}`;
  const fail = (finding: string, message: string): CompatError =>
    sshError(finding, `${message} ${facts}`, args, { cause });
  const wantsKey = offered.includes('publickey');
  if (wantsKey && wrong.length > 0)
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
