import type { Command } from 'commander';
import type { BuildCommand, Context } from './command.ts';
import { examples } from './command.ts';
import { exitCodeHelp } from './exit-codes.ts';
import { outputOptions, sshOptions } from './options.ts';
import type { RawOptions } from './request.ts';

const formats = ['human', 'json'] as const;

/** `hook …`: each action is loaded when it runs, and `run` loads little when nothing has changed. */
export const hook: BuildCommand = (command, context) => {
  command.addHelpText(
    'after',
    `
Hooks: overlay, systemd-user, systemd-system, launchd, cron, git, wrapper.
Without a name: overlay, and a systemd path unit, else cron. What stands in
their place is kept and called; remove puts it back exactly.
${examples(['hermes-compat hook install', 'hermes-compat hook status', 'hermes-compat hook remove', 'hermes-compat hook run'])}${exitCodeHelp}`,
  );
  add(command, 'install', 'be told of updates that happened without us', true, context)
    .option('--dry-run', 'only show what would be written')
    .option('--yes', 'do not ask');
  add(command, 'status', 'what is installed and whether it is still there', false, context);
  add(command, 'remove', 'take hooks away and put back what was there', true, context).option(
    '--yes',
    'do not ask',
  );
  add(command, 'run', 'bring back what an update took: for hooks, and by hand', false, context)
    .option('--strict', 'exit 1, 3 or 4 when not all is well (default: always 0)')
    .option('--wait <SECONDS>', 'how long to wait for a running engine update', '1500');
};

type Action = (words: string[], options: RawOptions, context: Context) => Promise<void>;

function add(command: Command, name: string, summary: string, ids: boolean, context: Context): Command {
  const sub = command.command(name).description(summary);
  sub.copyInheritedSettings(command);
  if (ids) sub.argument('[hook...]', 'which ones');
  sub
    .option('--target <TARGET>', 'local (default), ssh://…, an ssh_config alias')
    .option('--home <DIR>', 'the HERMES_HOME to look after')
    .option('--profile <NAME>', 'a Hermes profile');
  sshOptions(sub);
  outputOptions(sub, formats);
  return sub.action(async (...given: unknown[]) => {
    const action = await load(name);
    await action(ids ? (given[0] as string[]) : [], (ids ? given[1] : given[0]) as RawOptions, context);
  });
}

async function load(name: string): Promise<Action> {
  if (name === 'run') return (await import('./hook-run.ts')).run;
  const { install, remove, status } = await import('./hook-actions.ts');
  return name === 'install' ? install : name === 'remove' ? remove : status;
}
