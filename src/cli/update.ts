import type { Command } from 'commander';
import type { BuildCommand, Context } from './command.ts';
import { examples } from './command.ts';
import { exitCodeHelp } from './exit-codes.ts';
import { credentialOptions, outputOptions, sshOptions, targetOptions } from './options.ts';
import type { RawOptions } from './request.ts';

const formats = ['human', 'json'] as const;

export const update: BuildCommand = (command, context) => {
  describe(command)
    .option('--dry-run', 'only show what would happen')
    .addHelpText(
      'after',
      `
Takes our source edits out, runs the engine's own update, puts back what is
still needed, starts again what launch had started, and checks. The end of the
engine's updater ends every dashboard of the machine: which ones is shown
before. A run that was cut goes on where it stood when it is started again.
Behind "--": words for the engine's update.
${examples(['hermes-compat update', 'hermes-compat update --dry-run', 'hermes-compat update ssh://box --yes -- --no-backup'])}${exitCodeHelp}`,
    )
    .action((word: string, options: RawOptions) => run(word, options, 'update', context));
};

export const preUpdate: BuildCommand = (command, context) => {
  describe(command).action((word: string, options: RawOptions) => run(word, options, 'pre-update', context));
};

export const postUpdate: BuildCommand = (command, context) => {
  describe(command).action((word: string, options: RawOptions) => run(word, options, 'post-update', context));
};

function describe(command: Command): Command {
  command
    .argument('[target]', 'local (default), local:/path, ssh://…, an ssh_config alias', 'local')
    .option('--client <NAME>', "whose needs are checked (see 'contract')", 'hermes-one')
    .option('--yes', 'do not ask')
    .option('--no-check', 'leave out the last check, which starts a dashboard when none runs');
  targetOptions(command);
  credentialOptions(command);
  sshOptions(command);
  return outputOptions(command, formats);
}

async function run(
  word: string,
  options: RawOptions,
  action: 'update' | 'pre-update' | 'post-update',
  context: Context,
): Promise<void> {
  await (await import('./update-run.ts')).runUpdate(word, options, action, context);
}
