import type { BodyFact, HttpFact, NetworkError, WsFact } from '../probe/exchange-schema.ts';

/** Evidence: one short sentence for what one probe saw. */

const credentialWords: Record<HttpFact['credential'] | WsFact['credential'], string> = {
  none: 'without a credential',
  token: 'with the token',
  cookie: 'with the login cookie',
  bearer: 'with the bearer token',
  ticket: 'with a ticket',
  'subprotocol-ticket': 'with a ticket as subprotocol',
};

const shortened = (text: string): string => (text.length > 100 ? `${text.slice(0, 97)}…` : text);

function bodyWords(body: BodyFact | null): string {
  if (body === null) return '';
  if (body.problem !== null) return ` and a body that is ${problemWords[body.problem]}`;
  if (body.kind === 'empty') return ' with an empty body';
  if (body.kind === 'html')
    return body.page !== null
      ? ' with a Hermes page'
      : ` with HTML${body.title === null ? '' : ` “${shortened(body.title)}”`}`;
  if (body.detail !== null && body.detail !== '') return ` “${shortened(inner(body.detail))}”`;
  return body.kind === 'json' ? ' with JSON' : ` with ${body.contentType ?? body.kind}`;
}

/** The message of the engine's JSON errors: `{"detail":"Unauthorized"}`, `{"error":"unauthenticated",…,"reason":"no_cookie"}`. */
export function inner(detail: string): string {
  const word = (key: string): string | undefined =>
    new RegExp(`"${key}"\\s*:\\s*"([^"\\\\]*)"`).exec(detail)?.[1];
  if (!detail.startsWith('{')) return detail;
  const said = [word('detail') ?? word('error'), word('reason')].filter((each) => each !== undefined);
  return said.length === 0 ? detail : said.join(', ');
}

const problemWords: Record<NonNullable<BodyFact['problem']>, string> = {
  'too-large': 'too large',
  'not-utf8': 'not UTF-8',
  cut: 'cut short',
  'not-json': 'not the JSON that it claims to be',
  bomb: 'a decompression bomb',
  'content-length': 'not as long as it says',
};

export const sawError = (error: NetworkError): string =>
  error.code === 'DEADLINE'
    ? `nothing came within the time limit (${error.phase})`
    : `${error.code} while in ${error.phase}${worthSaying(error) ? `: ${shortened(error.message)}` : ''}`;

/** The text of OpenSSL is addresses and file names; a text that only repeats the code adds nothing. */
const worthSaying = ({ code, message }: NetworkError): boolean =>
  message !== '' &&
  message !== code &&
  !/^(ERR_SSL_|EPROTO)/.test(code) &&
  !/^(connect|read|write|getaddrinfo) E/.test(message);

/** Path and query of a URL, as people recognise a request; the whole text where it is no URL. */
export function pathOf(url: string): string {
  const match = /^[a-z]+:\/\/[^/?#]*([^#]*)/i.exec(url);
  return match?.[1] === undefined || match[1] === '' ? '/' : match[1];
}

export function sawHttp(fact: HttpFact): string {
  const request = `${fact.method} ${pathOf(fact.url)} ${credentialWords[fact.credential]}`;
  if (fact.outcome !== 'answered' || fact.status === null)
    return `${request}: ${fact.error === null ? 'no answer' : sawError(fact.error)}`;
  return `${request} answered ${fact.status}${bodyWords(fact.body)}`;
}

export function sawWs(fact: WsFact): string {
  const variant = [
    fact.origin === null ? '' : ` and Origin ${shortened(fact.origin)}`,
    fact.hostHeader === null ? '' : ` and Host ${shortened(fact.hostHeader)}`,
  ].join('');
  const request = `upgrade of ${pathOf(fact.url).split('?')[0] ?? ''} ${credentialWords[fact.credential]}${variant}`;
  if (fact.outcome === 'open') return `${request} opened (HTTP 101)`;
  if (fact.outcome === 'refused')
    return `${request} answered ${fact.status ?? 'nothing'}${bodyWords(fact.body)}`;
  return `${request}: ${fact.error === null ? 'no answer' : sawError(fact.error)}`;
}
