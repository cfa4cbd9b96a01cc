import { commands } from './commands.ts';
import { exitCodeHelp } from './exit-codes.ts';

/** One sentence on what this is, for `--help` and the man page. */
export const purpose =
  'Tells whether a Hermes Agent dashboard works for a client, why not, and fixes it reversibly.';

/** `hermes-compat --help`. Made without commander, which costs more than all the rest of the answer. */
export function rootHelp(): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const list = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return `Usage: hermes-compat <command> [options]

Tells whether a Hermes Agent dashboard works for a client, why not, and fixes it
reversibly.

Commands:
${list.join('\n')}

  hermes-compat help <command>    options and examples of a command
  hermes-compat --version         print the version
${exitCodeHelp}
Start with:
  $ hermes-compat doctor
  $ hermes-compat demo            (needs no Hermes)
`;
}
