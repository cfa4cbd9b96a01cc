import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { engineDir, requireEngines, startEngine } from '../test/support/engines.ts';
import { here, node, program } from './paths.ts';
import { compare, type Ratio } from './ratio.ts';
import { ratioSection, type Section } from './section.ts';
import { benchPython } from './tools.ts';

const version = '0.19.0';
const delayMs = 50;

/** Doctor on a running loopback engine against the same requests done bare, and against other ways to look. */
export async function doctor(runs = 15): Promise<Section> {
  if (!(await requireEngines(version))) throw new Error(`engine ${version} could not be installed`);
  const engine = await startEngine({ version });
  const slow = await slowLine(engine.port);
  try {
    const env = { HERMES_COMPAT_TOKEN: engine.token ?? '', BARE_TOKEN: engine.token ?? '' };
    const row = (name: string, ours: string[], base: string[], limit: number | null, times = runs): Ratio =>
      compare(name, ours, base, { runs: times, limit, env });
    const url = [node, program, 'doctor', engine.url];
    const bare = [node, here('bare-requests.mjs')];
    const rows = [
      row('`doctor URL` / the same requests bare', url, [...bare, engine.url], 2),
      row(
        '`doctor --url URL`, disk facts too / the same requests bare',
        [node, program, 'doctor', '--url', engine.url],
        [...bare, engine.url],
        2,
      ),
      row(
        `\`doctor URL\` over a line of 2 × ${delayMs} ms / the same requests bare there`,
        [node, program, 'doctor', slow.url],
        [...bare, slow.url],
        2,
        7,
      ),
    ];
    const python = await benchPython();
    if (python !== null)
      rows.push(
        row(
          '`doctor URL` / a script of curl and websocket-client',
          url,
          ['/bin/sh', here('curl-and-websocket.sh'), engine.url, python],
          null,
          7,
        ),
      );
    rows.push(
      compare(
        '`doctor --url URL` / `hermes doctor` of the engine',
        [node, program, 'doctor', '--url', engine.url],
        [join(engineDir(version), 'bin/hermes'), 'doctor'],
        { runs: 3, limit: null, env: { ...env, HERMES_HOME: engine.home } },
      ),
    );
    return ratioSection(
      'Doctor',
      `On a running ${version} on loopback. The script does a third of the requests: status, one list of sessions, the page, and one open WebSocket with an answer. \`hermes doctor\` looks at the engine's own setup and never opens its dashboard.`,
      rows,
    );
  } finally {
    slow.end();
    await engine.stop();
  }
}

async function slowLine(port: number): Promise<{ url: string; end: () => void }> {
  const child = spawn(node, [here('slow-line.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.write(`${JSON.stringify({ delayMs, to: [port] })}\n`);
  for await (const line of createInterface({ input: child.stdout })) {
    const [at] = JSON.parse(line) as number[];
    return { url: `http://127.0.0.1:${at}`, end: () => void child.kill() };
  }
  throw new Error('the slow line said nothing');
}
