import type { Located } from '../engine/locate.ts';
import type { Home } from '../engine/schema.ts';
import { CompatError, usageError } from '../errors.ts';
import type { Host } from '../host/types.ts';
import type { LaunchFailure } from '../launch/classify.ts';
import type { LaunchInstall, LaunchOptions } from '../launch/plan.ts';
import type { LaunchDocument } from '../launch/schema.ts';
import type { Launched, NotLaunched } from '../launch/start.ts';
import { shellLine } from '../report/shell-line.ts';
import { parsePort } from '../target/parse.ts';
import type { Target } from '../target/types.ts';
import { documentHead } from '../tool.ts';
import type { BuildCommand } from './command.ts';
import { examples } from './command.ts';
import type { ExitCode } from './exit-codes.ts';
import { isInteractive, type Io, write } from './io.ts';
import { openHostFor } from './open-host.ts';
import { sshOptions } from './options.ts';
import { readFormat } from './output.ts';
import { pathResolver, type RawOptions, readRefinements, readSeconds, readTargets } from './request.ts';
import { sayIdentity } from './say-identity.ts';

export const launch: BuildCommand = (command, context) => {
  sshOptions(
    command
      .argument(
        '[target]',
        'local, local:/path or ssh://host; behind "--" further arguments of the engine',
        'local',
      )
      .option(
        '--port <PORT>',
        'the port to use; 0 is any free one (default: 9119, or a free one when it is taken)',
      )
      .option('--host <ADDRESS>', 'the address to bind', '127.0.0.1')
      .option('--home <DIR>', 'the HERMES_HOME to use')
      .option('--profile <NAME>', 'a Hermes profile')
      .option('--web-dist <DIR>', 'a built web page for releases that ship without (sets HERMES_WEB_DIST)')
      .option('--timeout <SECONDS>', 'until it must answer', '120')
      .option('--print', 'only show the command')
      .option('--json', 'the same as --format json')
      .option('--format <FORMAT>', 'human, json'),
  )
    .addHelpText(
      'after',
      `
Starts the dashboard the right way for the installed version, detached and
without opening a browser, and waits until a client could talk to it. The token
is in a file that only you can read; nothing shows it.
${examples([
  'hermes-compat launch',
  'hermes-compat launch --port 9200 --profile coder',
  'hermes-compat launch local:/srv/hermes -- --skip-build',
  'hermes-compat launch --print',
  'hermes-compat stop',
])}`,
    )
    .action(async (word: string, raw: RawOptions) => {
      const [target] = readTargets([word], context.io);
      if (target !== undefined) context.finish(await run(target, raw, context.rest, context.io));
    });
};

interface Job {
  target: Target;
  host: Host;
  install: LaunchInstall;
  home: Home;
  options: LaunchOptions;
}

async function run(target: Target, raw: RawOptions, rest: readonly string[], io: Io): Promise<ExitCode> {
  const json = readFormat(raw, ['human', 'json'], 'json') === 'json';
  const options = readOptions(target, raw, rest, io);
  const host = await openMachine(target, raw, io);
  try {
    const located = await locateFor(host, target, raw, io);
    const job: Job = { target, host, options, ...chosen(located) };
    const document = raw['print'] === true ? await printed(job) : await started(job, located, io);
    await show(document, json, again(target, raw), io);
    return document.exitCode as ExitCode;
  } finally {
    await host.close();
  }
}

function readOptions(target: Target, raw: RawOptions, rest: readonly string[], io: Io): LaunchOptions {
  const { port, webDist } = raw;
  const env = Object.entries(io.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const resolve = target.kind === 'local' ? pathResolver(io) : (path: string): string => path;
  return {
    port: typeof port !== 'string' ? null : port === '0' ? 0 : parsePort(port),
    host: String(raw['host']),
    webDist: typeof webDist === 'string' ? resolve(webDist) : null,
    engineArgs: rest,
    env: target.kind === 'local' ? Object.fromEntries(env) : {},
    seconds: (readSeconds(String(raw['timeout']), '--timeout') ?? 120_000) / 1000,
  };
}

/** @throws CompatError usage for a target that is only a URL */
export async function openMachine(target: Target, raw: RawOptions, io: Io): Promise<Host> {
  if (target.kind === 'http')
    throw usageError(`${target.name} is only a URL; this command needs the machine: local, or ssh://host`);
  return openHostFor(raw, io)(target);
}

export async function locateFor(host: Host, target: Target, raw: RawOptions, io: Io): Promise<Located> {
  const { home, profile } = readRefinements({ ...raw, port: undefined }, io);
  const { locate } = await import('../engine/locate.ts');
  const path = target.kind === 'http' ? null : target.path;
  return locate(host, { path, home, profile, env: io.env, port: null, timeoutMs: 30_000 });
}

/** @throws CompatError unchecked when there is none */
export function chosenInstall({ host: facts, installs }: Located): Located['installs'][number] {
  const install = installs.find(({ id }) => id === facts.chosen?.install);
  if (install === undefined) {
    const places = facts.looked.map(({ place }) => place).join(', ');
    throw new CompatError('unchecked', `no Hermes Agent install on ${facts.name}; looked at: ${places}`, {
      finding: 'INSTALL_NOT_FOUND',
    });
  }
  return install;
}

function chosen(located: Located): { install: LaunchInstall; home: Home } {
  const install = chosenInstall(located);
  const { host: facts } = located;
  const { home } = facts;
  if (home === null)
    throw new CompatError('unchecked', `the HERMES_HOME on ${facts.name} could not be found out`);
  return { install, home };
}

async function printed({ target, install, home, options }: Job): Promise<LaunchDocument> {
  const { printLaunch } = await import('../launch/print.ts');
  const { lines, tokenFile } = printLaunch(install, home, options, shellLine);
  return { ...empty({ target, install, home }), outcome: 'printed', tokenFile, shell: lines, exitCode: 0 };
}

async function started(job: Job, located: Located, io: Io): Promise<LaunchDocument> {
  const { host, install, home, options } = job;
  const others = located.processes.filter((one) => one.hermesHome === home.path && one.port !== null);
  for (const { pid, port } of others)
    await write(io.stderr, `note: process ${pid} already serves this home on port ${port}\n`);
  if (isInteractive(io))
    await write(io.stderr, `starting Hermes ${install.version ?? ''} from ${install.root} …\n`);
  await sayIdentity(io, host, { home, install });
  // As the engine itself does at its first start. A home that was named must be there.
  if (!home.exists && home.from === 'default') await host.mkdir(home.path, 0o700);
  const module = await import('../launch/launch.ts');
  const token = host.kind === 'local' ? (io.env['HERMES_DASHBOARD_SESSION_TOKEN'] ?? '') : '';
  const request = { host, install, home, options, token: token === '' ? null : token };
  return describe(job, await module.launch(request, io.signal));
}

function describe(job: Job, result: Launched | NotLaunched): LaunchDocument {
  if (result.outcome === 'failed') {
    const { code, args, evidence } = result.failure;
    return { ...empty(job), finding: { code, args, evidence }, exitCode: exitCodeOf(code) };
  }
  const { record, url, seconds, ws, why } = result;
  const { pid, port, tokenFile, log } = record;
  const running = { url, pid, port, tokenFile, log, ws, why, seconds };
  return { ...empty(job), ...running, outcome: 'started', exitCode: ws === 'open' ? 0 : 3 };
}

const empty = ({ target, install, home }: Pick<Job, 'target' | 'install' | 'home'>): LaunchDocument => ({
  ...documentHead('launch'),
  target: { kind: target.kind, name: target.name, url: null },
  outcome: 'failed',
  install: install.id,
  version: install.version,
  home: home.path,
  url: null,
  pid: null,
  port: null,
  tokenFile: null,
  log: null,
  ws: null,
  why: null,
  seconds: null,
  shell: [],
  finding: null,
  exitCode: 3,
});

/** As the verdict of these codes: missing by a fault of the package, or for which there is a remedy, is 1; else not known. */
const exitCodeOf = (code: LaunchFailure['code']): ExitCode =>
  code === 'ENGINE_BROKEN_PACKAGE' || code === 'WS_LIB_MISSING' || code === 'CHAT_DISABLED' ? 1 : 3;

/** What leads `stop` to the same place. */
function again(target: Target, raw: RawOptions): string[] {
  const words = target.name === 'local' ? [] : [target.name];
  if (raw['sshCommand'] === true) words.push('--ssh-command');
  for (const name of ['sshConfig', 'become', 'home', 'profile']) {
    const value = raw[name];
    if (typeof value === 'string') words.push(name === 'sshConfig' ? '--ssh-config' : `--${name}`, value);
  }
  return words;
}

async function show(
  document: LaunchDocument,
  json: boolean,
  again: readonly string[],
  io: Io,
): Promise<void> {
  if (json) return write(io.stdout, `${JSON.stringify(document, null, 2)}\n`);
  const { launchedText, notLaunchedText } = await import('../report/launch.ts');
  const { finding } = document;
  if (finding === null) return write(io.stdout, launchedText(document, again));
  return write(io.stderr, notLaunchedText(finding));
}
