import type { Command } from 'commander';
import type { PlanOptions } from '../patch/schema.ts';
import type { BuildCommand, Context } from './command.ts';
import { examples } from './command.ts';
import { exitCodeHelp } from './exit-codes.ts';
import { outputOptions, sshOptions, targetOptions } from './options.ts';
import { oneOf, type RawOptions } from './request.ts';

const formats = ['human', 'json'] as const;

/** `patch …`: each action is in `cli/patch-actions.ts` and `cli/patch-change.ts`, loaded when it runs. */
export const patch: BuildCommand = (command, context) => {
  command.addHelpText(
    'after',
    `${examples([
      'hermes-compat patch status',
      'hermes-compat patch plan',
      'hermes-compat patch apply model-library',
      'hermes-compat patch revert',
    ])}${exitCodeHelp}`,
  );
  const add = (name: string, summary: string): Command => {
    const sub = command.command(name).description(summary);
    return sub.copyInheritedSettings(command);
  };
  addList(add('list', 'the patches, what they give, and when they retire'), context);
  addStatus(add('status', 'what is there, decided by bytes'), context);
  addPlan(add('plan', 'what apply would write; writes nothing'), context);
  addApply(add('apply', 'apply patches: all of this plan or nothing'), context);
  addRevert(add('revert', 'take patches out again, to the byte'), context);
  addExport(add('export', 'the source edits as a patch for upstream'), context);
  addHistory(add('history', 'what was done here'), context);
  addUnlock(add('unlock', 'take away the lock of a run that was cut'), context);
};

type Run = (words: string[], options: RawOptions, context: Context) => Promise<void>;

/** Options of every action that looks at a host. */
function onHost(command: Command, run: Run, context: Context, ids: boolean): Command {
  if (ids) command.argument('[id...]', 'patches (default: all)');
  command.option('--target <TARGET>', 'local (default), local:/path, ssh://…, an ssh_config alias');
  targetOptions(command);
  sshOptions(command);
  outputOptions(command, formats);
  return command.action((...given: unknown[]) =>
    run(ids ? (given[0] as string[]) : [], (ids ? given[1] : given[0]) as RawOptions, context),
  );
}

const changing = (command: Command): Command =>
  command
    .option('--carrier <WORD>', 'overlay (default) or source')
    .option('--replace', 'also what was changed by hand or written by another tool')
    .option('--yes', 'do not ask')
    .option('--dry-run', 'only show the plan');

function addList(command: Command, context: Context): void {
  outputOptions(command, formats).action(async (options: RawOptions) =>
    (await import('./patch-actions.ts')).list(options, context),
  );
}

function addStatus(command: Command, context: Context): void {
  onHost(
    command,
    async (...given) => (await import('./patch-actions.ts')).status(...given),
    context,
    false,
  ).option('--detailed-exitcode', 'exit 10 when something is to be applied');
}

function addPlan(command: Command, context: Context): void {
  onHost(command, async (...given) => (await import('./patch-actions.ts')).plan(...given), context, true)
    .option('--carrier <WORD>', 'overlay (default) or source')
    .option('--revert', 'the plan of revert')
    .option('--replace', 'also what was changed by hand or written by another tool')
    .option('--allow-non-loopback', 'embedded chat also on a dashboard that others can reach')
    .option('--out <FILE>', 'save the plan, for apply --plan')
    .option('--detailed-exitcode', 'exit 10 when something is to be written');
}

function addApply(command: Command, context: Context): void {
  changing(
    onHost(command, async (...given) => (await import('./patch-change.ts')).apply(...given), context, true),
  )
    .option('--plan <FILE>', 'exactly this saved plan, or nothing')
    .option('--allow-non-loopback', 'embedded chat also on a dashboard that others can reach')
    .option('--restart', 'restart the dashboard that launch started')
    .option('--restart-service <UNIT>', 'restart this service')
    .addHelpText(
      'after',
      examples([
        'hermes-compat patch apply',
        'hermes-compat patch plan --out plan.json && hermes-compat patch apply --plan plan.json --yes',
      ]),
    );
}

function addRevert(command: Command, context: Context): void {
  changing(
    onHost(command, async (...given) => (await import('./patch-change.ts')).revert(...given), context, true),
  )
    .option('--purge', 'also our records, when nothing of ours is left')
    .option('--restart', 'restart the dashboard that launch started')
    .option('--restart-service <UNIT>', 'restart this service');
}

function addExport(command: Command, context: Context): void {
  onHost(
    command,
    async (...given) => (await import('./patch-actions.ts')).exportSource(...given),
    context,
    true,
  );
}

function addHistory(command: Command, context: Context): void {
  onHost(command, async (...given) => (await import('./patch-actions.ts')).history(...given), context, false);
}

function addUnlock(command: Command, context: Context): void {
  onHost(
    command,
    async (...given) => (await import('./patch-change.ts')).unlock(...given),
    context,
    false,
  ).option('--yes', 'do not ask');
}

/** The ids and switches of a change. @throws CompatError usage */
export function planOptions(
  words: readonly string[],
  options: RawOptions,
  all: readonly string[],
  action: PlanOptions['do'],
): PlanOptions {
  const carrier = options['carrier'];
  return {
    do: action,
    patches: words.length === 0 ? [...all] : [...new Set(words)],
    carrier: typeof carrier === 'string' ? oneOf(carrier, ['overlay', 'source'] as const, '--carrier') : null,
    allowNonLoopback: options['allowNonLoopback'] === true,
    replace: options['replace'] === true,
  };
}
