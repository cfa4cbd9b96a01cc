import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { CompatError, usageError } from '../errors.ts';
import type { Simulator, SimulatorOptions } from '../simulate/options.ts';
import type { SimulatorDocument } from '../simulate/schema.ts';
import { parsePort } from '../target/parse.ts';
import type { Credential } from '../target/types.ts';
import { schemaVersion, tool } from '../tool.ts';
import type { BuildCommand } from './command.ts';
import { examples } from './command.ts';
import type { Io } from './io.ts';
import { credentialOptions } from './options.ts';
import { emit } from './output.ts';
import { pathResolver, type RawOptions, readCredentialOption, readSeconds } from './request.ts';

const collect = (value: string, earlier: string[] = []): string[] => [...earlier, value];

export const simulate: BuildCommand = (command, { io }) => {
  command
    .option('--release <VERSION>', 'the engine release to be (default: the newest of the package, 0.19.0)')
    .option('--fault <NAME>', 'be broken in this way; may be repeated', collect)
    .option('--list', 'print releases, faults and scenarios')
    .option('--port <PORT>', 'the port on loopback (default: any free one)')
    .option('--prefix <PATH>', 'below this path, as behind a proxy that strips it')
    .option('--chat', 'embedded chat on, where it is a setting (0.13 to 0.15)')
    .option('--gated', 'ask for a login (from 0.16)')
    .option('--headless', 'as started by serve (from 0.18)')
    .option('--web-build', 'with a built page, also where the package has none')
    .option('--no-web-build', 'without a built page')
    .option('--library', 'with the model library that clients want')
    .option('--play <FILE>', 'play a recorded turn (cases/turns/…jsonl) to the client')
    .option('--pace <FACTOR>', 'with --play: factor on the recorded pauses; 0 is at once', '0')
    .option('--provider', 'instead of a dashboard: the scripted model provider for a real engine')
    .option('--for <SECONDS>', 'end by itself after this time')
    .option('--json', 'one JSON document on stdout')
    .option('-v, --verbose', 'show every request on stderr');
  credentialOptions(command)
    .addHelpText(
      'after',
      `
Listens on loopback until Ctrl-C. Needs no Hermes and no network.
${examples([
  'hermes-compat simulate',
  'hermes-compat simulate --release 0.14.0 --fault drop-upgrade',
  'hermes-compat simulate --release 0.22.2 --gated --port 9119',
  'hermes-compat simulate --play cases/turns/v0.19.0/par-tools.jsonl --pace 1',
  'hermes-compat simulate --list',
])}`,
    )
    .action((options: RawOptions) => run(options, io));
};

async function run(options: RawOptions, io: Io): Promise<void> {
  if (options['list'] === true) return (await import('./simulate-list.ts')).listSimulations(options, io);
  const credential = await readCredentialOption(options, io);
  const starting = options['provider'] === true ? provider(options) : dashboard(options, credential, io);
  const started = await starting.catch((error: unknown) => {
    throw portTrouble(error, portOption(options));
  });
  try {
    const json = options['json'] === true;
    await emit(io, {}, json ? `${JSON.stringify(started.document(io.pid), null, 2)}\n` : started.text);
    await untilEnd(readSeconds(textOption(options, 'for'), '--for'), io);
  } finally {
    await started.close();
  }
}

/** The system does not give us the port: the person has to name another. Everything else as it is. */
function portTrouble(error: unknown, port: number): unknown {
  const code = error instanceof CompatError ? undefined : (error as NodeJS.ErrnoException | null)?.code;
  const why = { EADDRINUSE: 'is in use', EACCES: 'is not for this account' }[code ?? ''];
  if (why === undefined) return error;
  return usageError(
    `port ${port} on loopback ${why}: give another with --port, or leave --port out to get a free one`,
    { args: { port }, cause: error },
  );
}

interface Started {
  document: (pid: number) => SimulatorDocument;
  text: string;
  close: () => Promise<void>;
}

const textOption = (options: RawOptions, name: string): string | null => {
  const value = options[name];
  return typeof value === 'string' ? value : null;
};

const portOption = (options: RawOptions): number => {
  const port = textOption(options, 'port');
  return port === null || port === '0' ? 0 : parsePort(port);
};

const untilEnd = async (ms: number | null, io: Io): Promise<void> => {
  try {
    await pause(ms ?? 2 ** 31 - 1, undefined, { signal: io.signal });
  } catch {
    // The person ended it.
  }
};

async function dashboard(options: RawOptions, credential: Credential | null, io: Io): Promise<Started> {
  const [{ startSimulator }, recording] = await Promise.all([
    import('../simulate/simulator.ts'),
    readRecording(options, io),
  ]);
  const gated = options['gated'] === true;
  if (gated && credential?.kind === 'token')
    throw usageError('--gated takes a name and password, not a token');
  const chosen: SimulatorOptions = {
    release: textOption(options, 'release') ?? recording?.release ?? '0.19.0',
    faults: (options['fault'] ?? []) as string[],
    port: portOption(options),
    chat: options['chat'] === true || recording !== null,
    headless: options['headless'] === true,
    library: options['library'] === true,
    gated: gated && credential !== null ? loginOf(credential) : gated,
    ...(credential?.kind === 'token' && { token: credential.secret }),
    ...(typeof options['webBuild'] === 'boolean' && { webBuild: options['webBuild'] }),
    ...(typeof options['prefix'] === 'string' && { prefix: options['prefix'] }),
    ...(recording !== null && { ...recording.play, pace: readPace(options) }),
    ...(options['verbose'] === true && { onRequest: (line: string) => io.stderr.write(`${line}\n`) }),
  };
  const simulator = await startSimulator(chosen);
  return { ...describe(simulator, chosen, credential), close: simulator.close };
}

const loginOf = ({ username, secret }: Credential): { username: string; password: string } => ({
  username: username ?? 'admin',
  password: secret,
});

const readPace = (options: RawOptions): number => {
  const pace = Number(options['pace']);
  if (!(pace >= 0 && pace <= 100)) throw usageError('--pace is a number from 0 to 100');
  return pace;
};

interface ReadRecording {
  release: string | null;
  play: Pick<SimulatorOptions, 'play' | 'stored'>;
}

/** The recording, and the stored rows that lie beside it. */
async function readRecording(options: RawOptions, io: Io): Promise<ReadRecording | null> {
  const file = textOption(options, 'play');
  if (file === null) return null;
  const path = pathResolver(io)(file);
  const [text, stored, { parseRecording }, { releases }] = await Promise.all([
    readText(path),
    readText(path.replace(/\.jsonl(\.gz)?$/, '.stored.json')).catch(() => null),
    import('../simulate/play/recording.ts'),
    import('../simulate/release/table.ts'),
  ]);
  const { version } = parseRecording(text);
  const known = releases.some((release) => release.version === version);
  return {
    release: known ? version : null,
    play: { play: text, ...(stored !== null && { stored: JSON.parse(stored) as unknown }) },
  };
}

async function readText(path: string): Promise<string> {
  try {
    const bytes = await readFile(path);
    if (!path.endsWith('.gz')) return bytes.toString('utf8');
    return (await import('node:zlib')).gunzipSync(bytes).toString('utf8');
  } catch (cause) {
    throw usageError(`cannot read ${path} (${(cause as NodeJS.ErrnoException).code ?? 'unknown reason'})`, {
      cause,
    });
  }
}

function describe(
  simulator: Simulator,
  options: SimulatorOptions,
  credential: Credential | null,
): Omit<Started, 'close'> {
  const { url, port } = simulator;
  const token = credential === null ? simulator.token : null;
  const login =
    simulator.login === null ? null : { ...simulator.login, ...(credential !== null && { password: null }) };
  const faults = [...(options.faults ?? [])];
  const broken = faults.length === 0 ? '' : `, with ${faults.join(', ')}`;
  const lines = [
    `A simulated Hermes Agent ${options.release}${broken}, at ${url}`,
    ...(token === null ? [] : [`Token, made up for this run: ${token}`]),
    ...(login === null ? [] : [`Name ${login.username}, password ${login.password ?? 'as given'}`]),
    `Check it:  hermes-compat doctor ${url}`,
    'Stop it:   Ctrl-C',
  ];
  return {
    text: `${lines.join('\n')}\n`,
    document: (pid) => ({
      ...head('simulator'),
      what: 'dashboard',
      release: options.release,
      faults,
      url,
      port,
      token,
      login,
      pid,
    }),
  };
}

const head = <K extends string>(kind: K): { schemaVersion: string; kind: K; tool: typeof tool } => ({
  schemaVersion,
  kind,
  tool,
});

async function provider(options: RawOptions): Promise<Started> {
  const { startProvider } = await import('../simulate/provider/server.ts');
  const { url, port, close } = await startProvider({ port: portOption(options) });
  const text = `A scripted model provider at ${url}

Put this into the config.yaml of a throw-away HERMES_HOME:
  model: {default: scripted-1, provider: custom, base_url: "${url}", api_key: scripted, context_length: 64000}
A prompt names its script:  SCN:two-tools please   (hermes-compat simulate --list names them all)
Stop it:   Ctrl-C
`;
  const document = (pid: number): SimulatorDocument => ({
    ...head('simulator'),
    what: 'provider',
    release: null,
    faults: [],
    url,
    port,
    token: null,
    login: null,
    pid,
  });
  return { document, text, close };
}
