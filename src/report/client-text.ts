import type { Client } from '../judge/client.ts';
import { wrap } from './shown.ts';

/** What a client expects of a dashboard, for people. */
export function clientText({ name, title, requires, contract, source, date }: Client): string {
  const wish =
    contract === null
      ? 'none'
      : `${contract.wanted} or higher, written for up to ${contract.known}; below it the client ${contract.required ? 'refuses to work' : 'warns'}`;
  const row = (label: string, text: string): string[] =>
    wrap(text, 66).map((line, index) => `  ${(index === 0 ? label : '').padEnd(10)} ${line}`);
  return [
    `${name}  ${title}`,
    ...row('requires', requires.join(', ')),
    ...row('contract', wish),
    ...row('source', `${source} (${date})`),
    '',
  ].join('\n');
}
