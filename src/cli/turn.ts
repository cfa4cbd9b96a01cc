import { usageError } from '../errors.ts';
import type { ScenariosDocument } from '../live/schema.ts';
import { paragraph } from '../report/shown.ts';
import { parseBaseUrl } from '../target/parse.ts';
import { documentHead } from '../tool.ts';
import type { BuildCommand, Context } from './command.ts';
import { examples } from './command.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Io } from './io.ts';
import { collect, credentialOptions, reachOptions, sshOptions, targetOptions } from './options.ts';
import { checkOutput, emit, readFormat } from './output.ts';
import { oneOf, type RawOptions, readTargets } from './request.ts';
import { withinLimit } from './run-limit.ts';

export const turn: BuildCommand = (command, context) => {
  command
    .argument('[target]', 'local (default), local:/path, ssh://…, an ssh_config alias, http(s)://…', 'local')
    .option('--suite <NAME>', 'basic: one plain turn on the running dashboard; full: every scenario', 'basic')
    .option('--only <SCENARIO>', 'only these of the full suite (repeatable, or with commas)', collect)
    .option('--list', 'list the scenarios and end')
    .option('--scripted', "the target's model is ours (simulate --provider): run the full suite over it")
    .option('--api-server <URL>', "the gateway's API server: for --mode legacy, or when the dashboard fails")
    .option('--api-key-env <NAME>', 'its key from this environment variable')
    .option('--api-key-file <FILE>', 'its key from this file')
    .option('--keep', 'keep what the suite made: sessions, and the throw-away home')
    .option('--yes', 'do not ask before a turn that costs something')
    .option('--json', 'the same as --format json')
    .option('--format <FORMAT>', 'human, json')
    .option('--output <FILE>', 'write the report there instead of stdout')
    .option('-q, --quiet', 'no progress');
  targetOptions(command);
  credentialOptions(command);
  reachOptions(command);
  sshOptions(command);
  command
    .addHelpText('after', `${help}${examples(exampleLines)}${codes}`)
    .action((word: string, options: RawOptions) => runTurn(word, options, context));
};

const help = `
The basic suite sends one short prompt to the model that is configured, in a
session of its own, denies every approval, restores the session over a new
socket, compares with the stored rows, and deletes that session and no other.
The full suite starts the target's install with a throw-away HERMES_HOME and a
scripted model: no real model is asked.

--mode legacy goes over the API server's /v1/chat/completions instead; its key
is HERMES_COMPAT_API_KEY or --api-key-env/-file. --mode auto goes there only
when the dashboard fails before the prompt was sent. A dashboard that fails in
the middle of a turn gives an error of that turn, and the prompt is not sent
again.
`;

const exampleLines = [
  'hermes-compat turn --yes',
  'hermes-compat turn local:/srv/hermes --suite full',
  'hermes-compat turn --suite full --only plain,interrupt --json',
  'hermes-compat turn http://127.0.0.1:9119 --suite full --scripted',
  'hermes-compat turn http://box:8642 --mode legacy --token-env API_SERVER_KEY',
];

const codes = `
Exit codes:
  0  every turn came out as expected
  1  one did not
  2  usage error
  3  could not be checked: no dashboard, no chat, or a scenario did not end
  4  not agreed to
  130 interrupted
`;

async function runTurn(word: string, options: RawOptions, { io, finish }: Context): Promise<void> {
  const json = readFormat(options, ['human', 'json'] as const, 'json') === 'json';
  if (options['list'] === true) return listScenarios(io, options, json);
  const suite = oneOf(String(options['suite']), ['basic', 'full'] as const, '--suite');
  const wanted = await wantedOf(options, suite);
  checkApiServer(options);
  await checkOutput(io, options);
  const [target] = readTargets([word], io);
  if (target === undefined) return;
  const parts = await withinLimit(options, io, (limited) =>
    suite === 'basic'
      ? import('./turn-basic.ts').then(({ basicTurn }) => basicTurn(target, options, limited))
      : import('./turn-full.ts').then(({ fullSuite }) => fullSuite(target, options, limited)),
  );
  const { turnsDocument } = await import('./turn-document.ts');
  const document = await turnsDocument(parts, wanted, io.signal.aborted);
  const { turnsText } = await import('../report/turns.ts');
  await emit(io, options, json ? `${JSON.stringify(document, null, 2)}\n` : turnsText(document));
  finish(document.exitCode as ExitCode);
}

async function listScenarios(io: Io, options: RawOptions, json: boolean): Promise<void> {
  const { scenarios } = await import('../live/scenarios.ts');
  const rows = scenarios.map(({ id, says }) => ({ id, says }));
  const document: ScenariosDocument = { ...documentHead('scenarios'), scenarios: rows };
  const lines = rows.flatMap(({ id, says }) => paragraph(`${id.padEnd(20)}${says}`, 0, 20));
  await emit(io, options, `${json ? JSON.stringify(document, null, 2) : lines.join('\n')}\n`);
}

/** How many scenarios are asked for. @throws CompatError usage */
async function wantedOf(options: RawOptions, suite: 'basic' | 'full'): Promise<number> {
  const only = options['only'];
  if (suite !== 'full') {
    if (Array.isArray(only)) throw usageError('--only goes with --suite full');
    return 1;
  }
  const { scenarios } = await import('../live/scenarios.ts');
  if (!Array.isArray(only)) return scenarios.length;
  const details = { commands: [['hermes-compat', 'turn', '--list']] };
  if (only.length === 0) throw usageError('--only names no scenario', details);
  for (const id of only) {
    if (!scenarios.some((scenario) => scenario.id === id))
      throw usageError(`no scenario "${id.slice(0, 40)}"`, details);
  }
  return new Set(only).size;
}

/** It may be asked only after the dashboard failed, and a wrong one is to be told before. @throws CompatError usage */
function checkApiServer(options: RawOptions): void {
  const url = options['apiServer'];
  if (typeof url !== 'string') return;
  if (!/^https?:\/\//i.test(url)) throw usageError('--api-server must begin with http:// or https://');
  parseBaseUrl(url);
}
