import type { Reading } from '../reading.ts';

/** argv of our own commands, with what names the target again. Tokens are never among it. */
export function compat(reading: Reading, command: string, extra: readonly string[] = []): string[] {
  const { target, asked, service } = reading.facts;
  const named = target.name === 'local' || target.name === '' ? [] : [target.name];
  const url = target.kind !== 'http' && service?.how === 'named' ? ['--url', service.url] : [];
  const home = asked.home === null ? [] : ['--home', asked.home];
  const profile = asked.profile === null ? [] : ['--profile', asked.profile];
  return ['hermes-compat', command, ...named, ...url, ...home, ...profile, ...extra];
}

/** `patch …` takes patches as arguments, so the target is an option. */
export function compatPatch(reading: Reading, command: string): string[] {
  const { target, asked } = reading.facts;
  const named = target.name === 'local' || target.name === '' ? [] : ['--target', target.name];
  const home = asked.home === null ? [] : ['--home', asked.home];
  return ['hermes-compat', 'patch', command, ...named, ...home];
}

/** The same command as it is typed on the engine's own machine, when we only reach it over HTTP. */
export const onHost = (command: string, extra: readonly string[] = []): string[] => [
  'hermes-compat',
  command,
  ...extra,
];
