import type { ConfigLine } from './config-file.ts';
import { matchesPatterns } from './known-hosts.ts';

/** What a configuration says for one host. Keys in lower case; the first value counts, but for keys that add up. */
export interface ConfigValues {
  values: Map<string, string[]>;
  /** Directives that were set, with their place. */
  set: ConfigLine[];
  /** `Match exec` (and what else we do not decide) that would have been asked, and what they would have set. */
  undecided: { match: ConfigLine; sets: ConfigLine[] }[];
}

export interface ConfigQuery {
  /** As the user typed it. */
  host: string;
  /** As the user typed it, or null. */
  user: string | null;
  localUser: string;
}

type Active = 'yes' | 'no' | { match: ConfigLine; sets: ConfigLine[] };

const adding = new Set(['identityfile', 'certificatefile']);

/** Walks ssh_config(5) without running anything. */
export function configValues(lines: readonly ConfigLine[], query: ConfigQuery): ConfigValues {
  const result: ConfigValues = { values: new Map(), set: [], undecided: [] };
  if (query.user !== null) result.values.set('user', [query.user]);
  const state = { final: false, wantsFinal: false };
  walk(lines, 'yes', { result, query, state });
  if (state.wantsFinal) {
    state.final = true;
    const again: ConfigValues = { values: result.values, set: result.set, undecided: [] };
    walk(lines, 'yes', { result: again, query, state });
  }
  return result;
}

interface Walk {
  result: ConfigValues;
  query: ConfigQuery;
  state: { final: boolean; wantsFinal: boolean };
}

function walk(lines: readonly ConfigLine[], parent: Active, context: Walk): void {
  let active = parent;
  for (const line of lines) {
    if (line.keyword === 'host') {
      active = matchesPatterns(line.words, context.query.host) ? parent : 'no';
    } else if (line.keyword === 'match') {
      active = matchActive(line, parent, context);
    } else if (line.keyword === 'include') {
      for (const included of line.included ?? []) if (active !== 'no') walk(included, active, context);
    } else if (active === 'yes') {
      record(line, context.result);
    } else if (active !== 'no') {
      active.sets.push(line);
    }
  }
}

function matchActive(line: ConfigLine, parent: Active, context: Walk): Active {
  const answer = parent === 'no' ? 'no' : evaluate(line.words, context);
  if (answer === 'no') return 'no';
  if (answer === 'yes') return parent;
  const undecided = { match: line, sets: [] };
  context.result.undecided.push(undecided);
  return undecided;
}

function record(line: ConfigLine, { values, set }: ConfigValues): void {
  const value = line.keyword.endsWith('command') ? line.text : line.words.join(' ');
  const before = values.get(line.keyword);
  if (before !== undefined && !adding.has(line.keyword)) return;
  if (before?.includes(value) === true) return;
  // Of ProxyCommand and ProxyJump the one that stands first counts.
  const rival = { proxycommand: 'proxyjump', proxyjump: 'proxycommand' }[line.keyword];
  if (rival !== undefined && values.has(rival)) return;
  values.set(line.keyword, line.keyword.endsWith('knownhostsfile') ? line.words : [...(before ?? []), value]);
  set.push(line);
}

function evaluate(words: readonly string[], { result, query, state }: Walk): 'yes' | 'no' | 'undecided' {
  let answer: 'yes' | 'no' = 'yes';
  for (let i = 0; i < words.length; i++) {
    const [, negated, name = '', given] = /^(!?)([A-Za-z]+)(?:=(.*))?$/.exec(words[i] ?? '') ?? [];
    const key = name.toLowerCase();
    const bare = ['all', 'canonical', 'final'].includes(key);
    const value = given ?? (bare ? '' : (words[++i] ?? ''));
    // OpenSSH skips a command behind a criterion that has failed already.
    const one = answer === 'no' ? false : criterion(key, value, { result, query, state });
    if (one === null) return 'undecided';
    if (one === (negated === '!')) answer = 'no';
  }
  return answer;
}

/** null: not ours to decide. */
function criterion(key: string, value: string, { result, query, state }: Walk): boolean | null {
  const patterns = value.split(',');
  const hostName = result.values.get('hostname')?.[0]?.replaceAll('%h', query.host) ?? query.host;
  switch (key) {
    case 'all':
      return true;
    case 'canonical':
      return false;
    case 'final':
      state.wantsFinal = true;
      return state.final;
    case 'host':
      return matchesPatterns(patterns, hostName);
    case 'originalhost':
      return matchesPatterns(patterns, query.host);
    case 'user':
      return matchesPatterns(patterns, result.values.get('user')?.[0] ?? query.localUser);
    case 'localuser':
      return matchesPatterns(patterns, query.localUser);
    default:
      return null;
  }
}
