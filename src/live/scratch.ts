import { CompatError } from '../errors.ts';
import type { Host, ReverseTunnel } from '../host/types.ts';
import { startForCheck } from '../launch/launch.ts';
import type { LaunchInstall } from '../launch/plan.ts';
import type { NotLaunched } from '../launch/start.ts';
import { startProvider, type Provider } from '../simulate/index.ts';
import { noteText, pictureBytes } from './scenarios.ts';
import type { Way } from './way.ts';

/** An engine with a home of its own and a scripted model, for one suite. */
export interface Scratch {
  way: Way;
  pid: number;
  home: string;
  provider: Provider;
  files: { image: string; text: string };
  /** Ends engine and model; removes the home unless it is to be kept. */
  stop(keep: boolean): Promise<void>;
}

/** Settings that every release from 0.12 on takes. A small limit and early compaction, so that both can be reached; nothing asks. */
const config = (modelUrl: string): string => `model:
  default: scripted-1
  provider: custom
  base_url: "${modelUrl}"
  api_key: sk-scripted
  context_length: 64000
agent:
  max_turns: 8
  api_max_retries: 2
  auto_recovery_cycles: 1
approvals:
  mode: "off"
compression:
  enabled: true
  threshold: 0.50
  protect_last_n: 2
  protect_first_n: 1
`;

const noEnvFile = { exists: false, readable: true, tui: null, webDist: null, sessionToken: null };

/**
 * Starts this install on its machine; the scripted model runs here, and a reverse tunnel leads to it from elsewhere. The engine gets nothing of the user's environment but PATH, so no key of a real provider can be used.
 *
 * @throws CompatError unchecked (it did not start), usage, refused, interrupted
 */
export async function startScratch(
  host: Host,
  install: LaunchInstall,
  signal: AbortSignal,
  { path, tmp, webDist }: { path: string; tmp: string; webDist: string | null },
): Promise<Scratch> {
  const folder = await makeFolder(host, tmp);
  let provider: Provider | null = null;
  let back: ReverseTunnel | null = null;
  const stop = async (keep: boolean): Promise<void> => {
    await back?.close();
    await provider?.close();
    if (!keep) await removeFolder(host, folder);
  };
  try {
    provider = await startProvider();
    back = (await host.reverse?.(provider.port)) ?? null;
    const model = back === null ? provider.url : `http://127.0.0.1:${back.port}/v1`;
    const home = `${folder}/.hermes`;
    const files = { image: `${folder}/pixel.png`, text: `${folder}/note.txt` };
    await host.mkdir(home, 0o700);
    await host.createFile(`${home}/config.yaml`, Buffer.from(config(model)), 0o600);
    await host.createFile(files.image, pictureBytes, 0o600);
    await host.createFile(files.text, Buffer.from(noteText), 0o600);
    const running = await startForCheck(
      {
        host,
        install,
        home: { path: home, root: home, profile: null, envFile: noEnvFile },
        options: {
          port: 0,
          host: '127.0.0.1',
          webDist,
          engineArgs: [],
          env: { PATH: path, HOME: folder, LANG: 'C.UTF-8' },
          seconds: 120,
        },
      },
      signal,
    );
    if (running.outcome === 'failed') throw notStarted(running);
    const { url, token, record } = running;
    if (token === null) {
      await running.stop();
      throw new CompatError(
        'unchecked',
        'this engine gives nobody its token: it takes none, and its package holds no web page; with HERMES_WEB_DIST set to a web build it is run with that page',
        { finding: 'TOKEN_UNREADABLE' },
      );
    }
    return {
      way: {
        url,
        used: { kind: 'token', token },
        origin: null,
        connection: host.kind === 'ssh' ? { connect: host.connect } : {},
      },
      pid: record.pid ?? 0,
      home,
      provider,
      files,
      async stop(keep) {
        await running.stop();
        await stop(keep);
      },
    };
  } catch (error) {
    await stop(false);
    throw error;
  }
}

const notStarted = ({ failure }: NotLaunched): CompatError =>
  new CompatError('unchecked', `the engine did not start: ${failure.evidence.at(-1) ?? failure.code}`, {
    finding: failure.code,
  });

const prefix = 'hermes-compat-turns.';

async function makeFolder(host: Host, tmp: string): Promise<string> {
  const { stdout, code } = await host.script(`umask 077; mktemp -d "$1/${prefix}XXXXXXXX"`, [tmp]);
  const path = stdout.toString('utf8').trim();
  if (code !== 0 || !path.includes(`/${prefix}`))
    throw new CompatError('unchecked', 'no temporary folder can be made for the throw-away home');
  return host.realpath(path);
}

/** A process that is just ending may still write. */
async function removeFolder(host: Host, path: string): Promise<void> {
  if (!path.includes(`/${prefix}`)) return;
  await host.script(
    'for try in 1 2 3 4 5 6; do rm -rf -- "$1" 2>/dev/null; sleep 0.5; [ -e "$1" ] || exit 0; done',
    [path],
  );
}
