import { join } from 'node:path';
import { copyEngine, repairedEngine } from '../test/support/engine-copy.ts';
import { engineDir, type EngineOptions, fullLadder, sitePackages } from '../test/support/engines.ts';

/** An engine of the lab: a rung of the ladder, or 0.15.2 with what its package lacks. */
export interface LabEngine {
  name: string;
  version: string;
  repaired: boolean;
  note: string;
}

export const repaired = '0.15.2 repaired';

const notes: Record<string, string> = {
  '0.13.0': 'its package holds no web page, from which a client would read the token',
  '0.15.2': 'its package lacks hermes_cli.dashboard_auth, so no dashboard starts',
  '0.20.0.post2': 'its package holds no web page and no provider for logins',
  '0.21.0.post1': 'its package holds no web page',
  '0.21.4.post1': 'its package holds no web page',
  '0.22.2.post1':
    'its package holds no web page; aiohttp was added for the API server, and lazy annotations for Python 3.11',
};

export const labEngines: readonly LabEngine[] = fullLadder.flatMap((version) => {
  const engine = { name: version, version, repaired: false, note: notes[version] ?? '' };
  return version === '0.15.2'
    ? [engine, { name: repaired, version, repaired: true, note: 'with the folder dashboard_auth of 0.16.0' }]
    : [engine];
});

/** How a dashboard is started, as a person would. `api-server` is the gateway with its API server, for clients in legacy mode. */
export type Mode = 'plain' | 'chat on' | 'chat on, with page' | 'gated' | 'headless' | 'api-server';

const minor = (version: string): number => Number(version.split('.')[1]);

export function modesOf({ version, name }: LabEngine): Mode[] {
  if (name === '0.15.2') return ['plain'];
  const chat: Mode[] = minor(version) < 16 ? ['chat on'] : [];
  const page: Mode[] = version === '0.13.0' ? ['chat on, with page'] : [];
  const gated: Mode[] = minor(version) >= 16 ? ['gated'] : [];
  const headless: Mode[] = minor(version) >= 18 ? ['headless'] : [];
  // The gateway of 0.15.2 installs packages of chat platforms when it starts, for minutes.
  const apiServer: Mode[] = name === repaired ? [] : ['api-server'];
  return ['plain', ...chat, ...page, ...gated, ...headless, ...apiServer];
}

export const login = { username: 'someone', password: 'CANARY-lab-0123456789' } as const;
/** For every engine that takes one. */
export const token = 'CANARY-lab-token-0123456789';

/** What the start of this mode adds. */
export async function startOptions(mode: Exclude<Mode, 'api-server'>): Promise<Partial<EngineOptions>> {
  switch (mode) {
    case 'plain':
      return { token };
    case 'chat on':
      return { token, env: { HERMES_DASHBOARD_TUI: '1' } };
    case 'chat on, with page':
      return { token, env: { HERMES_DASHBOARD_TUI: '1', HERMES_WEB_DIST: await nextPage() } };
    case 'gated':
      return {
        token: null,
        host: '127.0.0.2',
        env: {
          HERMES_DASHBOARD_BASIC_AUTH_USERNAME: login.username,
          HERMES_DASHBOARD_BASIC_AUTH_PASSWORD: login.password,
          HERMES_DASHBOARD_BASIC_AUTH_SECRET: 'a-secret-of-the-lab-0123456789',
        },
      };
    case 'headless':
      return { token, mode: 'serve' };
    default:
      return mode satisfies never;
  }
}

/** The page of the release after 0.13.0, whose package holds none. */
export const nextPage = async (): Promise<string> =>
  join(await sitePackages(engineDir('0.14.0')), 'hermes_cli/web_dist');

/** The environment of an engine that nothing edits: the shared one, or a repaired copy. */
export async function venvOf(engine: LabEngine, folder: string): Promise<string> {
  return engine.repaired ? editableVenv(engine, join(folder, 'venv')) : engineDir(engine.version);
}

/** A copy that may be edited. */
export async function editableVenv(engine: LabEngine, venv: string): Promise<string> {
  await (engine.repaired ? repairedEngine(venv) : copyEngine(engine.version, venv));
  return venv;
}
