import { usageError } from '../errors.ts';
import { documentHead } from '../tool.ts';
import type { BuildCommand, Context } from './command.ts';
import { examples } from './command.ts';
import { consent } from './consent.ts';
import { readExamineOptions } from './examine-request.ts';
import { write } from './io.ts';
import { connectionOptions, credentialOptions, sshOptions, targetOptions } from './options.ts';
import { emit } from './output.ts';
import { type RawOptions, readTargets } from './request.ts';

export const bundle: BuildCommand = (command, context) => {
  command
    .argument('[target]', 'local (default), local:/path, ssh://…, an ssh_config alias, http(s)://…')
    .option('--client <NAME>', 'whose needs are checked', 'hermes-one')
    .option('--output <FILE>', 'where it is written; - is stdout', 'hermes-compat-bundle.json')
    .option('--yes', 'write without asking')
    .addHelpText(
      'after',
      `
One JSON file for a bug report: facts and report of a target, and versions.
Tokens, passwords and chats are never in it; what is in it (paths, host and user
names, addresses) is listed before it is written.
${examples(['hermes-compat bundle', 'hermes-compat bundle http://127.0.0.1:9119 --output -'])}`,
    )
    .action((word: string | undefined, options: RawOptions) => runBundle(word, options, context));
  targetOptions(command);
  credentialOptions(command);
  connectionOptions(command);
  sshOptions(command);
};

async function runBundle(word: string | undefined, options: RawOptions, { io }: Context): Promise<void> {
  const [target] = readTargets(word === undefined ? [] : [word], io);
  if (target === undefined) return;
  const [inputFor, { examine }, { judge }, { readClients }] = await Promise.all([
    readExamineOptions(options, io),
    import('../lifecycle/examine.ts'),
    import('../judge/judge.ts'),
    import('../judge/client.ts'),
  ]);
  const clients = await readClients();
  const client = clients.find((each) => each.name === options['client']);
  if (client === undefined) throw usageError(`no client "${String(options['client']).slice(0, 40)}"`);
  const { facts, host } = await examine(inputFor(target));
  await host?.close();
  const document = {
    ...documentHead('bundle'),
    node: globalThis.process.version,
    platform: io.platform,
    // Names only: values could be secrets.
    environment: Object.keys(io.env)
      .filter((name) => /^(HERMES_|NO_COLOR$|TERM$|CI$)/.test(name))
      .sort(),
    facts,
    report: judge(facts, { client: client.name, clients }),
  };
  const text = `${JSON.stringify(document, null, 2)}\n`;
  await write(io.stderr, `${contents(document.facts, text.length).join('\n')}\n`);
  if (options['output'] !== '-') await consent(io, options, `Write it to ${String(options['output'])}?`);
  await emit(io, options, text);
}

type Facts = Awaited<ReturnType<typeof import('../lifecycle/examine.ts').examine>>['facts'];

function contents(facts: Facts, bytes: number): string[] {
  return [
    `The bundle (${Math.ceil(bytes / 1024)} KiB) holds no token, password or chat. It holds:`,
    `  target       ${facts.target.name}${facts.service === null ? '' : `, ${facts.service.url}`}`,
    `  host         ${facts.host === null ? 'none' : `${facts.host.user}@${facts.host.hostname}`}`,
    `  installs     ${facts.installs.map(({ root }) => root).join(', ') || 'none'}`,
    `  processes    ${facts.processes.map(({ pid, command }) => `${command} ${pid}`).join(', ') || 'none'}`,
    `  home         ${facts.host?.home?.path ?? facts.status?.hermesHome ?? 'none'}`,
    `  requests     ${facts.http.length + facts.ws.length}, without bodies of protected answers`,
  ];
}
