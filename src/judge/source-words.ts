/** Where a token came from, as the person knows it: a variable, an option, the page. */
const words: Record<string, string> = {
  env: 'HERMES_COMPAT_TOKEN',
  'token-env': '--token-env',
  'token-file': '--token-file',
  'token-stdin': '--token-stdin',
  'token-command': '--token-command',
  page: 'the page',
  'launch-record': 'the record of `hermes-compat launch`',
  password: 'the login',
};

export const sourceWords = (source: string | null): string =>
  source === null ? 'an unknown source' : Object.hasOwn(words, source) ? (words[source] ?? source) : source;
