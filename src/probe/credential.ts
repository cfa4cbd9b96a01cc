import { fingerprint } from '../target/credential.ts';
import { type Access, gatedAccess, noAccess, tokenAccess } from './access.ts';
import type { Got } from './http.ts';
import { tokenOf } from './page.ts';
import type { Run } from './run.ts';
import type { CredentialFact } from './schema.ts';

interface Accessed {
  access: Access;
  credential: CredentialFact;
}

/** The credential of this run: as given, after a login, or from the page of an ungated dashboard on loopback. */
export async function accessTo(run: Run, gated: boolean, page: Promise<Got>): Promise<Accessed> {
  const given = run.input.credential;
  if (gated) {
    const { access, login } = await gatedAccess(run);
    return {
      access,
      credential: { ...credentialFact(run), unreadable: given === null ? 'gated' : null, login },
    };
  }
  if (given?.kind === 'token') return { access: tokenAccess(given.secret), credential: credentialFact(run) };
  const login: CredentialFact['login'] =
    given === null
      ? null
      : { outcome: 'not-tried', providers: [], detail: 'the dashboard asks for no login' };
  if (!run.base.loopback)
    return { access: noAccess, credential: { ...credentialFact(run), unreadable: 'not-asked', login } };
  return fromPage(run, await page, login);
}

export function credentialFact(run: Run): CredentialFact {
  const given = run.input.credential;
  return {
    kind: given?.kind ?? 'none',
    source: given?.source ?? null,
    fingerprint: given?.fingerprint ?? null,
    unreadable: null,
    login: null,
  };
}

function fromPage(run: Run, page: Got, login: CredentialFact['login']): Accessed {
  const token =
    page.fact.status === 200 && page.text !== null && page.fact.body?.page?.token === true
      ? tokenOf(page.text)
      : null;
  if (token === null)
    return {
      access: noAccess,
      credential: { ...credentialFact(run), unreadable: whyUnreadable(page), login },
    };
  run.redact.hide(token);
  return {
    access: tokenAccess(token),
    credential: { kind: 'token', source: 'page', fingerprint: fingerprint(token), unreadable: null, login },
  };
}

function whyUnreadable({ fact, json, text }: Got): NonNullable<CredentialFact['unreadable']> {
  const said = text?.slice(0, 1000) ?? '';
  if (json !== undefined && /headless/i.test(said)) return 'headless';
  if (json !== undefined && /frontend not built/i.test(said)) return 'web-build';
  const { status } = fact;
  if (status !== null && status >= 300 && status < 400 && /\/login\b/.test(fact.headers?.location ?? ''))
    return 'gated';
  if (status !== 200) return 'page-failed';
  return fact.body?.page?.authRequired === true ? 'gated' : 'no-token-in-page';
}
