import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { engineDir, freePort } from './engines.ts';

export interface Gateway {
  url: string;
  stop: () => Promise<void>;
}

/** `hermes gateway run` with its API server on, HERMES_HOME in `<folder>/.hermes`. Ends by its pid, and with us. */
export async function startGateway(
  version: string,
  folder: string,
  key: string,
  venv = engineDir(version),
): Promise<Gateway> {
  const port = await freePort();
  const home = join(folder, '.hermes');
  await mkdir(home, { recursive: true });
  const bin = join(venv, 'bin');
  const dieWithUs = existsSync('/usr/bin/setpriv') ? ['/usr/bin/setpriv', '--pdeathsig', 'KILL'] : [];
  const argv = [...dieWithUs, join(bin, 'python'), join(bin, 'hermes'), 'gateway', 'run'];
  const child = spawn(argv[0] as string, argv.slice(1), {
    env: {
      PATH: '/usr/bin:/bin',
      HOME: folder,
      HERMES_HOME: home,
      LANG: 'C.UTF-8',
      API_SERVER_ENABLED: 'true',
      API_SERVER_KEY: key,
      API_SERVER_HOST: '127.0.0.1',
      API_SERVER_PORT: String(port),
    },
    cwd: folder,
    stdio: 'ignore',
  });
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const url = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
  };
  for (let tries = 0; tries < 450 && child.exitCode === null; tries += 1) {
    const isUp = await fetch(`${url}/health`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (isUp) return { url, stop };
    await sleep(200);
  }
  await stop();
  throw new Error('the API server of the gateway did not come up');
}
