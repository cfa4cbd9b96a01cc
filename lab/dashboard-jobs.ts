import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startProvider } from '../src/simulate/index.ts';
import type { Report } from '../src/judge/schema.ts';
import type { TurnsDocument } from '../src/live/schema.ts';
import { document } from '../test/support/cli.ts';
import { startEngine } from '../test/support/engines.ts';
import { startGateway } from '../test/support/gateway.ts';
import type { Cell } from './cells.ts';
import { type LabEngine, login, type Mode, modesOf, startOptions, token, venvOf } from './engine-modes.ts';
import { compat, inFolder, type Job, type Lab, type Over, overs } from './job.ts';

/** `doctor` and short turns on one engine in one mode, over every way and for each mode of a client. */

const clientModes = ['auto', 'dashboard', 'legacy'] as const;
/** Enough to tell a way that works; all scenarios run once for each engine, see suite-jobs.ts. */
const shortTurns = ['plain', 'tools', 'fail-then-success'];

export const dashboardJobs = (engines: readonly LabEngine[]): Job[] =>
  engines.flatMap((engine) =>
    modesOf(engine).map((mode) => ({
      parts: ['doctor', 'turn'],
      engine: engine.name,
      row: mode,
      run: (lab) => inFolder((folder) => measure(engine, mode, lab, folder)),
    })),
  );

/** What answers, and what a client of it holds. */
interface Scene {
  url: string | null;
  venv: string;
  home: string;
  folder: string;
  /** Words and variables with the credential. */
  words: string[];
  env: Record<string, string>;
}

async function measure(engine: LabEngine, mode: Mode, lab: Lab, folder: string): Promise<Cell[]> {
  const at = { engine: engine.name, row: mode };
  const venv = await venvOf(engine, folder);
  const home = join(folder, '.hermes');
  const provider = await startProvider();
  try {
    await mkdir(home);
    await writeFile(join(home, 'config.yaml'), config(provider.url));
    const running = await start(engine, mode, { venv, home, folder });
    const scene = { venv, home, folder, words: [], env: {}, url: null, ...running };
    try {
      const started: Cell = {
        part: 'doctor',
        ...at,
        column: 'start',
        saw: { answers: running === null ? 'no' : 'yes' },
      };
      return [
        started,
        ...(await doctors(at, scene, lab)),
        ...(running === null ? [] : await turns(at, scene, lab)),
      ];
    } finally {
      await running?.stop();
    }
  } finally {
    await provider.close();
  }
}

const config = (modelUrl: string): string =>
  [
    `model: {default: scripted-1, provider: custom, base_url: "${modelUrl}", api_key: scripted, context_length: 64000}`,
    'agent: {api_max_retries: 2, auto_recovery_cycles: 1}',
    'approvals: {mode: "off"}',
    '',
  ].join('\n');

type Running = Pick<Scene, 'words' | 'env'> & { url: string; stop(): Promise<void> };

async function start(
  { version, name }: LabEngine,
  mode: Mode,
  { venv, home, folder }: Pick<Scene, 'venv' | 'home' | 'folder'>,
): Promise<Running | null> {
  try {
    if (mode === 'api-server') {
      const server = await startGateway(version, folder, token, venv);
      return { ...server, words: [], env: { HERMES_COMPAT_TOKEN: token, HERMES_COMPAT_API_KEY: token } };
    }
    const engine = await startEngine({ version, venv, home, ...(await startOptions(mode)) });
    const withLogin = ['--username', login.username, '--password-env', 'THE_PASSWORD'];
    return {
      url: engine.url,
      stop: engine.stop,
      words: mode === 'gated' ? withLogin : [],
      env: {
        ...(engine.token === null || mode === 'gated' ? {} : { HERMES_COMPAT_TOKEN: engine.token }),
        ...(mode === 'gated' ? { THE_PASSWORD: login.password } : {}),
      },
    };
  } catch (error) {
    if (!mayFail(name, mode)) throw error;
    return null;
  }
}

/** What is known not to start; for everything else it is a failure of the run. */
const mayFail = (name: string, mode: Mode): boolean =>
  name === '0.15.2' || (name === '0.20.0.post2' && mode === 'gated');

/** The target and its refinements for each way; null where there is none. */
function wordsFor(over: Over, { url, venv, home }: Scene, lab: Lab): string[] | null {
  const refined = ['--home', home, ...(url === null ? [] : ['--url', url])];
  switch (over) {
    case 'local':
      return [`local:${venv}`, ...refined];
    case 'http':
      return url === null ? null : [url];
    case 'ssh':
      if (lab.ssh === null) throw new Error('the cells over SSH need openssh-server (/usr/sbin/sshd)');
      return [`ssh://lab${venv}`, ...refined, '--ssh-config', lab.ssh];
    default:
      return over satisfies never;
  }
}

type At = Pick<Cell, 'engine' | 'row'>;

async function doctors(at: At, scene: Scene, lab: Lab): Promise<Cell[]> {
  const cells: Cell[] = [];
  for (const over of overs) {
    const words = wordsFor(over, scene, lab);
    if (words === null) continue;
    for (const mode of clientModes) {
      const args = ['doctor', ...words, ...scene.words, '--mode', mode, '--patience', 'cold', '--json'];
      const result = await compat(args, scene.folder, scene.env);
      cells.push({ part: 'doctor', ...at, column: `${over} ${mode}`, saw: said(document<Report>(result)) });
    }
  }
  return cells;
}

/** The report without what a run or a machine changes. */
export function said(report: Report): Record<string, string> {
  const codes = (severity: string): string =>
    [...new Set(report.findings.filter((each) => each.severity === severity).map(({ code }) => code))]
      .toSorted()
      .join(' ');
  const { value, state, from } = report.engine.contract;
  return {
    ...report.clients,
    errors: codes('error'),
    warnings: codes('warn'),
    exit: String(report.exitCode),
    contract: `${value ?? state}${from === null ? '' : ` from ${from}`}`,
    generation: report.engine.generation ?? 'unknown',
    chooses: report.transport.auto.chooses ?? 'nothing',
  };
}

async function turns(at: At, scene: Scene, lab: Lab): Promise<Cell[]> {
  const cells: Cell[] = [];
  for (const over of overs) {
    const words = wordsFor(over, scene, lab);
    if (words === null) continue;
    const only = ['--suite', 'full', '--scripted', '--only', shortTurns.join(','), '--yes', '--json'];
    const args = ['turn', ...(at.row === 'api-server' ? legacy(words) : words), ...scene.words];
    args.push('--patience', 'cold', ...only);
    const result = await compat(args, scene.folder, scene.env);
    cells.push({ part: 'turn', ...at, column: over, saw: settled(result.code, result.stdout) });
  }
  return cells;
}

/** To the API server, which a machine's own target names in another option than a dashboard. */
const legacy = (words: readonly string[]): string[] => [
  ...words.map((word) => (word === '--url' ? '--api-server' : word)),
  '--mode',
  'legacy',
];

/** What each scenario came to; where nothing was sent, that and why. */
export function settled(code: number | null, stdout: string): Record<string, string> {
  const answer = JSON.parse(stdout) as TurnsDocument | { kind: 'error'; error: { message: string } };
  if (answer.kind === 'error') {
    // Behind it stands the cause, which the other cells of the same engine hold by its code.
    const message = answer.error.message.replace(/(; nothing was sent)\. .*$/s, '$1');
    return { exit: String(code), error: message.replaceAll(/https?:\/\/[^\s;]+/g, 'URL') };
  }
  return {
    exit: String(code),
    ...Object.fromEntries(answer.scenarios.map(({ id, got, why }) => [id, got ?? `no end: ${why}`])),
  };
}
