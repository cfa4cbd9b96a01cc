import type { BuildCommand } from './command.ts';
import { examples } from './command.ts';
import { collectOptionValues } from './completion-values.ts';
import { usageError } from '../errors.ts';

const shells = ['bash', 'zsh', 'fish', 'powershell'];

export const completion: BuildCommand = (command, context) => {
  command
    .argument('<shell>', shells.join(', '))
    .addHelpText(
      'after',
      examples([
        'source <(hermes-compat completion bash)',
        'hermes-compat completion fish > ~/.config/fish/completions/hermes-compat.fish',
      ]),
    )
    .action(async (shell: string) => {
      if (!shells.includes(shell))
        throw usageError(`no completion for the shell "${shell}"; there is one for ${shells.join(', ')}`);
      await completeWith(['completion', shell], context);
    });
};

/** Answers the shell: `completion SHELL` prints the script, `complete -- WORDS` the candidates. */
export async function completeWith(
  argv: readonly string[],
  context: Parameters<BuildCommand>[1],
): Promise<void> {
  const [{ default: tab }, { wholeProgram }] = await Promise.all([
    import('@bomb.sh/tab/commander'),
    import('./program.ts'),
  ]);
  const program = await wholeProgram(context, (name) => name !== 'completion');
  const root = tab(program, { completionCommandName: 'completion' });
  await collectOptionValues(root);
  await program.parseAsync(argv, { from: 'user' });
}
