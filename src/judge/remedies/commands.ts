import type { Reading } from '../reading.ts';

/** The target as it is typed; null for this machine's default, which needs no word. */
export function targetWord({ target }: Reading['facts']): string | null {
  const word = target.address ?? target.name;
  return word === 'local' || word === '' ? null : word;
}

/** argv of our own commands, with what names the target again. Tokens are never among it. */
export function compat(reading: Reading, command: string, extra: readonly string[] = []): string[] {
  const { target, asked, service } = reading.facts;
  const word = targetWord(reading.facts);
  const named = word === null ? [] : [word];
  const url = target.kind !== 'http' && service?.how === 'named' ? ['--url', service.url] : [];
  const home = asked.home === null ? [] : ['--home', asked.home];
  const profile = asked.profile === null ? [] : ['--profile', asked.profile];
  return ['hermes-compat', command, ...named, ...url, ...home, ...profile, ...extra];
}

/** `patch …` takes patches as arguments, so the target is an option. */
export function compatPatch(reading: Reading, command: string, ids: readonly string[] = []): string[] {
  const { asked } = reading.facts;
  const word = targetWord(reading.facts);
  const named = word === null ? [] : ['--target', word];
  const home = asked.home === null ? [] : ['--home', asked.home];
  return ['hermes-compat', 'patch', command, ...ids, ...named, ...home];
}

/** An update is of an install and a home, not of a port: both are named where a port led to them. */
export function compatUpdate(
  { facts, install, home }: Reading,
  command: 'update' | 'post-update' = 'update',
): string[] {
  const { target, asked, service } = facts;
  const byPort = target.kind === 'local' && service?.how === 'named' && install !== null;
  const word = byPort ? `local:${install.root}` : targetWord(facts);
  const homeWord = asked.home ?? (home?.from === 'process' && byPort ? home.path : null);
  return ofPlace(command, word, homeWord, asked.profile);
}

/** argv of a command about one install with one home. */
export const ofPlace = (
  command: string,
  word: string | null,
  home: string | null,
  profile: string | null,
): string[] => [
  'hermes-compat',
  command,
  ...(word === null ? [] : [word]),
  ...(home === null ? [] : ['--home', home]),
  ...(profile === null ? [] : ['--profile', profile]),
];

/** The same command as it is typed on the engine's own machine, when we only reach it over HTTP. */
export const onHost = (command: string, extra: readonly string[] = []): string[] => [
  'hermes-compat',
  command,
  ...extra,
];
