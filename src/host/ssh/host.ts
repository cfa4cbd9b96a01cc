import type { Duplex } from 'node:stream';
import { CompatError } from '../../errors.ts';
import { FileError, type Host, type RunOptions, type RunResult } from '../types.ts';
import type { FileMethods } from './file-methods.ts';
import { scriptedFiles } from './files.ts';
import { relay } from './relay.ts';
import { briefMs, type Work } from './requests.ts';
import type { Shells } from './shells.ts';
import type { SshHost, SshNote, Transport } from './types.ts';

const relayMs = 15_000;

/** A host whose commands and files go through a remote POSIX shell. */
export function shellHost(transport: Transport, shells: Shells, notes: SshNote[]): SshHost {
  const { user, hostname, os } = shells.greeting;
  const uid = Number(shells.greeting.uid);
  const run = async (given: Omit<Work, 'brief'>, brief?: boolean): Promise<RunResult> => {
    const work = { ...given, brief: brief ?? (given.options.timeoutMs ?? 0) <= briefMs };
    const { missing, ...result } = await shells.run(work);
    if (missing !== null) throw missingError(missing, work);
    return result;
  };
  const script: Host['script'] = (text, args = [], options = {}) => run({ script: text, args, options });
  return {
    kind: 'ssh',
    name: transport.name,
    notes,
    identity: async () => ({ user, uid, hostname, os: os.toLowerCase() }),
    run: (argv: readonly string[], options: RunOptions = {}) => run({ script: null, args: argv, options }),
    script,
    ...scriptedFiles((text, args, options) => run({ script: text, args, options }, true), uid),
    connect: tunnels(transport, notes),
    reverse: (port) => transport.reverse(port),
    close: () => shells.close(),
  };
}

/**
 * A host on which nothing can be run: files by SFTP, and tunnels. `run`, `script` and `identity` throw what was wrong with the
 * shell.
 */
export function filesOnlyHost(
  transport: Transport,
  files: FileMethods,
  unusable: CompatError,
  notes: SshNote[],
): SshHost {
  const refuse = async (): Promise<never> => {
    throw unusable;
  };
  notes.push({ code: 'SSH_SHELL_UNUSABLE', args: { line: String(unusable.details.args?.['line'] ?? '') } });
  return {
    kind: 'ssh',
    name: transport.name,
    notes,
    identity: refuse,
    run: refuse,
    script: refuse,
    ...files,
    connect: (host, port, signal) => transport.connect(host, port, signal),
    close: () => transport.close(),
  };
}

/** The same errors as a local spawn gives. */
function missingError(what: string, { args, options }: Work): FileError {
  if (what === 'cwd') return new FileError('not-found', options.cwd ?? '', `${options.cwd}: no such folder`);
  const [command = ''] = args;
  return what === 'right'
    ? new FileError('permission', command, `${command} may not be run`)
    : new FileError('not-found', command, `${command}: not found`);
}

/** Tunnels; where the server forbids them, a program on the host carries the bytes, and that is noted once. */
function tunnels(transport: Transport, notes: SshNote[]): Host['connect'] {
  let forbidden = false;
  const byProgram = async (host: string, port: number): Promise<Duplex> => {
    const { stream, via } = await relay(transport, host, port, relayMs);
    if (!notes.some(({ code }) => code === 'SSH_FORWARD_FORBIDDEN'))
      notes.push({ code: 'SSH_FORWARD_FORBIDDEN', args: { via } });
    return stream;
  };
  return async (host, port, signal) => {
    if (forbidden) return byProgram(host, port);
    try {
      return await transport.connect(host, port, signal);
    } catch (error) {
      if (!(error instanceof CompatError && error.details.finding === 'SSH_FORWARD_FORBIDDEN')) throw error;
      forbidden = true;
      return byProgram(host, port);
    }
  };
}
