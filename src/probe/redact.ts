/** Hides what must never be shown, and makes text of strangers harmless. One for each probe run: it learns secrets as they appear. */
export interface Redactor {
  /** From now on this value is hidden in every text, also percent-encoded, JSON-escaped or HTML-escaped. */
  hide(secret: string): void;
  /** The same for what is a secret only when it is long: cookies and header values can be words like `basic` or `true`. */
  hideLong(value: string): void;
  /** One line for facts: secrets hidden, control characters neutralised, at most `max` characters (default 300). */
  text(value: string, max?: number): string;
  /** A URL or path: user info and the values of sensitive query parameters hidden as well. */
  url(value: string): string;
  /** The same document with every string in it free of the long secrets known by now; short ones could be words of ours. */
  deep<T>(value: T): T;
}

const hidden = '[redacted]';
/** Shorter secrets would blank out ordinary words; they are hidden only behind their names. */
const shortest = 4;
const long = 12;

export function createRedactor(secrets: readonly string[] = []): Redactor {
  const known = new Set<string>();
  let ordered: string[] = [];
  const hide = (secret: string): void => {
    if (secret.length < shortest) return;
    for (const form of formsOf(secret)) known.add(form);
    // Longest first: a secret that contains another one is hidden whole.
    ordered = [...known].sort((a, b) => b.length - a.length);
  };
  const without = (value: string, secrets: readonly string[]): string =>
    secrets.reduce((text, secret) => text.replaceAll(secret, hidden), value);
  for (const secret of secrets) hide(secret);
  return {
    hide,
    hideLong: (value) => value.length >= long && hide(value),
    text: (value, max = 300) =>
      truncate(neutralise(named(without(value.slice(0, 8 * max + 8192), ordered))), max),
    url: (value) => truncate(neutralise(parameters(without(value.slice(0, 16_384), ordered))), 2000),
    deep: (value) => {
      const secrets = ordered.filter((secret) => secret.length >= long);
      return deep(value, (text) => without(text, secrets));
    },
  };
}

function formsOf(secret: string): string[] {
  const percent = encodeURIComponent(wellFormed(secret));
  const html = secret
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
  const lower = percent.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  return [secret, percent, lower, JSON.stringify(secret).slice(1, -1), html];
}

/** `"session_token": "…"`, `password=…`, `Bearer …`: hidden by name, in case the value is one that we do not know. */
function named(text: string): string {
  return parameters(text)
    .replaceAll(
      /("[^"]{0,60}(?:token|ticket|secret|password|cookie|authorization|api_?key)[^"]{0,20}"\s*:\s*)"(?:[^"\\]|\\.)*"?/gi,
      `$1"${hidden}"`,
    )
    .replaceAll(/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${hidden}`)
    .replaceAll(/\b((?:set-)?cookie|authorization|x-[a-z-]*token)\s*:\s*[^\r\n]+/gi, `$1: ${hidden}`);
}

const parameter =
  /([?&;#](?:[a-z0-9]+[_-])*(?:token|ticket|secret|password|passwd|pwd|cookie|authorization|api[_-]?key|key|jwt|sig|signature|code|state|nonce|session|internal|meta|samlrequest|relaystate)=)[^&#\s"'<>]*/gi;

const parameters = (text: string): string =>
  text.replaceAll(/(\/\/)[^/?#@\s"']*@/g, `$1${hidden}@`).replaceAll(parameter, `$1${hidden}`);

/** White space becomes a blank; what a terminal or a reader could be fooled with becomes a replacement character. */
export function neutralise(text: string): string {
  return wellFormed(text)
    .replaceAll(/[\t\n\v\f\r\u2028\u2029]+/g, ' ')
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, '\ufffd');
}

const wellFormed = (text: string): string =>
  text.replaceAll(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');

function truncate(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.slice(0, max - 1);
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

function deep<T>(value: T, change: (text: string) => string): T {
  if (typeof value === 'string') return change(value) as T;
  if (Array.isArray(value)) return value.map((item) => deep<unknown>(item, change)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [change(key), deep<unknown>(item, change)]),
  ) as T;
}
