import type { BuildCommand, Context } from './command.ts';
import { examples } from './command.ts';
import { readExamineOptions } from './examine-request.ts';
import { exitCodeHelp } from './exit-codes.ts';
import { connectionOptions, credentialOptions, outputOptions, sshOptions, targetOptions } from './options.ts';
import { emit, readFormat } from './output.ts';
import { withProgress } from './progress.ts';
import { type RawOptions, readTargets } from './request.ts';

const formats = ['human', 'json'] as const;

export const detect: BuildCommand = (command, context) => {
  command
    .argument('[target]', 'local (default), local:/path, ssh://…, an ssh_config alias, http(s)://…')
    .addHelpText(
      'after',
      `${examples(['hermes-compat detect', 'hermes-compat detect --json > facts.json', 'hermes-compat doctor --from facts.json'])}${exitCodeHelp}`,
    )
    .action((word: string | undefined, options: RawOptions) => runDetect(word, options, context));
  targetOptions(command);
  credentialOptions(command);
  connectionOptions(command);
  sshOptions(command);
  outputOptions(command, formats);
};

async function runDetect(
  word: string | undefined,
  options: RawOptions,
  { io, finish }: Context,
): Promise<void> {
  const format = readFormat(options, formats, 'json');
  const [target] = readTargets(word === undefined ? [] : [word], io);
  if (target === undefined) return;
  const [inputFor, { examine }] = await Promise.all([
    readExamineOptions(options, io),
    import('../lifecycle/examine.ts'),
  ]);
  const run = async (say: (step: string) => void) => {
    const examined = await examine({ ...inputFor(target), onProgress: say });
    await examined.host?.close();
    return examined.facts;
  };
  const [facts] = await withProgress(io, { quiet: options['quiet'] === true }, [{ title: target.name, run }]);
  if (facts === undefined) return;
  if (format === 'json') await emit(io, options, `${JSON.stringify(facts, null, 2)}\n`);
  else await emit(io, options, (await import('../report/facts-text.ts')).factsText(facts));
  // Facts were taken, whatever they are: 3 only when nothing at all could be seen.
  finish(facts.service === null && facts.installs.length === 0 ? 3 : 0);
}
