import type { HttpFact } from '../probe/exchange-schema.ts';
import type { Draft } from './draft.ts';
import { draft } from './draft.ts';
import { sawHttp } from './saw.ts';

/** Rows 3 and 4 of the decision table. A credential is never sent after a redirect, so each of them ends the check. */
export function redirectDrafts(fact: HttpFact, url: string, loginRemedies: Draft['remedies']): Draft[] {
  const location = fact.headers?.location ?? null;
  const evidence = [`${sawHttp(fact)}${location === null ? ', no Location' : `, to ${location}`}`];
  const args = { url, status: fact.status, location };
  const from = parse(fact.url);
  const to = location === null || from === null ? null : parse(location, from.href);
  if (to === null || from === null) return [draft('WRONG_SERVICE', { confidence: 'likely', args, evidence })];
  const samePath = to.pathname.replace(/\/$/, '') === from.pathname.replace(/\/$/, '');
  // A login does not keep the path: the name that the site wants to have, perhaps besides https.
  if (to.protocol === 'https:' && to.origin !== from.origin && to.search === '' && samePath)
    return [
      draft('REDIRECT_HTTPS', {
        confidence: to.hostname === from.hostname ? 'certain' : 'likely',
        args: { ...args, use: baseOf(to) },
        evidence,
      }),
    ];
  const login = { args: { ...args, title: null }, evidence, remedies: loginRemedies };
  if (to.origin !== from.origin) return [draft('EDGE_LOGIN', login)];
  if (to.href === from.href)
    return [draft('WRONG_PATH', { confidence: 'likely', args: { ...args, loop: true }, evidence })];
  if (to.pathname.endsWith('/api/status'))
    return [draft('WRONG_PATH', { confidence: 'likely', args: { ...args, use: baseOf(to) }, evidence })];
  return [
    draft('EDGE_LOGIN', { ...login, confidence: 'likely' }),
    draft('WRONG_PATH', { confidence: 'possible', args, evidence }),
  ];
}

function parse(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

/** The address that a person would give us instead. */
const baseOf = (url: URL): string => `${url.origin}${url.pathname.replace(/\/api\/status\/?$/, '')}`;
