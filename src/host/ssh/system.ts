import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type Duplex, PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ResultPromise } from 'execa';
import { askpass, noAskpass } from './askpass.ts';
import { byteStream } from './byte-stream.ts';
import { withoutHermes } from './config.ts';
import { cutError, firstLine, netError, sshError } from './failures.ts';
import { reverseForbidden } from './reverse-tunnel.ts';
import { systemFailure } from './system-failure.ts';
import type { Pipe, SshOptions, Transport } from './types.ts';

/** Path lengths of sockets end at about 104 bytes, which some TMPDIRs use up alone. */
const longestTmp = 60;
/** A master that nobody uses goes away by itself, also when we were killed. */
const persistSeconds = 30;

/** Never what a configuration says: it would change what is run, or send what stays here. */
const fixed = [
  'PermitLocalCommand=no',
  'RemoteCommand=none',
  'RequestTTY=no',
  'ForwardAgent=no',
  'ForwardX11=no',
  'ClearAllForwardings=yes',
  'EscapeChar=none',
].flatMap((option) => ['-o', option]);

type Child = ResultPromise<{ buffer: false; reject: false }>;
type Ssh = (
  args: readonly string[],
  how: { pipes: boolean; terminal?: boolean; env?: Record<string, string> },
) => Child;

/**
 * A connection by the ssh program: all of the configuration counts, what it may run included. One master connection, each
 * command and tunnel a client of it.
 *
 * @throws CompatError with a code of the SSH section of CODES.md
 */
export async function systemTransport(options: SshOptions, timeoutMs: number): Promise<Transport> {
  const { execa } = await import('execa');
  const env = withoutHermes(options.local.env);
  const ssh: Ssh = (args, { pipes, terminal = false, env: more = terminal ? {} : noAskpass }) =>
    execa('ssh', args, {
      env: { ...env, ...more },
      extendEnv: false,
      buffer: false,
      reject: false,
      // Ctrl-C is for us: a running change is to be taken back over this very connection.
      detached: !terminal,
      stdio: pipes ? 'pipe' : 'ignore',
    }) as Child;
  const target = targetArgs(options);
  const name = `${options.user === undefined || options.user === null ? '' : `${options.user}@`}${options.address}`;
  const tmp = env['TMPDIR'] ?? '/tmp';
  const folder = await mkdtemp(`${tmp.length > longestTmp ? '/tmp' : tmp.replace(/\/$/, '')}/hermes-compat-`);
  const master = { folder, socket: `${folder}/m`, log: `${folder}/log`, own: true };
  const forget = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const foreign = await ssh(['-O', 'check', ...target], { pipes: false });
  if (foreign.exitCode === 0) master.own = false;
  else
    await startMaster(ssh, target, master, { options, timeoutMs, name, env }).catch(
      async (error: unknown) => {
        await forget();
        throw error;
      },
    );
  // Without its master a client would connect anew; this makes it fail instead.
  const through = master.own
    ? ['-S', master.socket, '-o', 'ControlMaster=no', '-o', 'ProxyCommand=false', ...fixed]
    : ['-o', 'ControlMaster=no', ...fixed];
  return {
    name,
    open: async (command, input) => {
      const pipe = childPipe(ssh(['-T', ...through, ...target, command], { pipes: true }));
      pipe.stdin.write(input);
      return pipe;
    },
    connect: (host, port, signal) => {
      signal?.throwIfAborted();
      const to = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
      const child = ssh(['-v', '-W', to, ...through, ...target], { pipes: true });
      return tunnel(child, { name, host, port, timeoutMs, log: master.own ? master.log : null });
    },
    reverse: async (port) => {
      const through = [...(master.own ? ['-S', master.socket] : []), ...target];
      const forward = (action: string, there: number): Child =>
        ssh(['-O', action, '-R', `127.0.0.1:${there}:127.0.0.1:${port}`, ...through], { pipes: true });
      const there = await allocatedPort(forward('forward', 0), name);
      return { port: there, close: async () => void (await forward('cancel', there)) };
    },
    files: async () => null,
    close: async () => {
      if (master.own) await ssh(['-S', master.socket, '-O', 'exit', ...target], { pipes: false });
      await forget();
    },
  };
}

/** The master prints the port that the server chose. @throws CompatError SSH_FORWARD_FORBIDDEN */
async function allocatedPort(child: Child, name: string): Promise<number> {
  const pipe = childPipe(child);
  const chunks: Buffer[] = [];
  const errors: Buffer[] = [];
  pipe.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  pipe.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  await pipe.ended;
  const port = Number(/\d+/.exec(Buffer.concat(chunks).toString())?.[0] ?? 'NaN');
  if (Number.isInteger(port) && port > 0) return port;
  throw reverseForbidden(name, new Error(firstLine(Buffer.concat(errors))));
}

function targetArgs({ address, user, port, configFile }: SshOptions): string[] {
  return [
    ...(configFile === undefined ? [] : ['-F', configFile]),
    ...(user === undefined || user === null ? [] : ['-l', user]),
    ...(port === undefined || port === null ? [] : ['-p', String(port)]),
    '--',
    address,
  ];
}

interface Master {
  folder: string;
  socket: string;
  log: string;
}

interface Starting {
  options: SshOptions;
  timeoutMs: number;
  name: string;
  env: Record<string, string>;
}

async function startMaster(
  ssh: Ssh,
  target: string[],
  { folder, socket, log }: Master,
  { options, timeoutMs, name, env }: Starting,
): Promise<void> {
  const { terminal = false, password } = options.questions ?? {};
  const secret = terminal ? null : ((await password?.(name)) ?? null);
  const given = secret === null ? null : await askpass(folder, secret, env);
  const settings = [
    `ControlPersist=${persistSeconds}`,
    `BatchMode=${terminal || given !== null ? 'no' : 'yes'}`,
    ...(given === null ? [] : ['NumberOfPasswordPrompts=1']),
    `ConnectTimeout=${Math.max(1, Math.ceil(timeoutMs / 1000))}`,
    `StrictHostKeyChecking=${options.acceptNewHostKey === true ? 'accept-new' : 'yes'}`,
    'ServerAliveInterval=10',
    'ServerAliveCountMax=3',
  ].flatMap((option) => ['-o', option]);
  const args = ['-f', '-N', '-M', '-S', socket, '-E', log, ...settings, ...fixed, ...target];
  const child = ssh(args, { pipes: false, terminal, ...(given === null ? {} : { env: given.env }) });
  const stop = (): void => void child.kill();
  options.signal?.addEventListener('abort', stop, { once: true });
  const late = terminal ? new Promise<never>(() => {}) : sleep(timeoutMs * 2, null, { ref: false });
  const result = await Promise.race([child, late]);
  options.signal?.removeEventListener('abort', stop);
  await given?.forget();
  if (result === null) child.kill();
  if (result?.exitCode === 0) return;
  if (result?.code === 'ENOENT') {
    throw sshError('SSH_NEEDS_SYSTEM_CLIENT', 'there is no ssh program on this machine', { host: name });
  }
  throw systemFailure(name, await readFile(log, 'utf8').catch(() => ''), options.signal);
}

function childPipe(child: Child): Pipe {
  const streams = child as unknown as Pick<Pipe, 'stdin' | 'stdout' | 'stderr'>;
  for (const stream of [streams.stdin, streams.stdout, streams.stderr]) stream.on('error', () => {});
  // What nobody reads yet would be lost: execa lets streams flow.
  const stdout = streams.stdout.pipe(new PassThrough());
  const stderr = streams.stderr.pipe(new PassThrough());
  const { stdin } = streams;
  // 255 is ssh's own: the connection, not the command, has ended.
  const ended = child.then(({ exitCode, signal }) =>
    exitCode === 255 || exitCode === undefined
      ? { code: null, signal: null }
      : { code: exitCode, signal: signal ?? null },
  );
  const end = (): void => {
    stdin.end();
    child.kill();
  };
  return { stdin, stdout, stderr, ended, close: end, kill: end };
}

interface TunnelTo {
  name: string;
  host: string;
  port: number;
  timeoutMs: number;
  /** Where the master says why it could not; null for a master that is not ours. */
  log: string | null;
}

/** Open when the master has said so, in the words that `-v` makes it print. */
async function tunnel(child: Child, to: TunnelTo): Promise<Duplex> {
  const pipe = childPipe(child);
  let said = '';
  const opened = new Promise<'open'>((resolve) => {
    pipe.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-8192);
      if (/master session id/.test(said)) resolve('open');
    });
  });
  const before = to.log === null ? '' : await readFile(to.log, 'utf8').catch(() => '');
  const how = await Promise.race([
    opened,
    pipe.ended.then(() => 'ended'),
    sleep(to.timeoutMs, 'late', { ref: false }),
  ]);
  if (how === 'open')
    return byteStream(pipe.stdout, pipe.stdin, { gone: pipe.ended, isGone: () => false }, pipe.close);
  pipe.close();
  if (how === 'late' || !/request failed|refused by peer/i.test(said)) throw cutError(to.name);
  const logged = to.log === null ? '' : (await readFile(to.log, 'utf8').catch(() => '')).slice(before.length);
  if (/open failed: connect failed/i.test(logged)) {
    const code = /timed out/i.test(logged)
      ? 'ETIMEDOUT'
      : /not known|resolve/i.test(logged)
        ? 'ENOTFOUND'
        : 'ECONNREFUSED';
    throw netError(code, to.host, to.port, to.name);
  }
  throw sshError('SSH_FORWARD_FORBIDDEN', `${to.name} forbids tunnels to ${to.host}:${to.port}`, {
    host: to.name,
    port: to.port,
  });
}
