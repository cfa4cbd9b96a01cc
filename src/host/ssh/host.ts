import type { Duplex } from 'node:stream';
import { FileError, type Host, type RunOptions, type RunResult } from '../types.ts';
import { scriptedFiles } from './files.ts';
import type { Work } from './requests.ts';
import type { Shells } from './shells.ts';
import type { SshHost, SshNote, Transport } from './types.ts';

/** A host whose commands and files go through a remote POSIX shell. */
export function shellHost(transport: Transport, shells: Shells, notes: SshNote[]): SshHost {
  const { user, hostname, os } = shells.greeting;
  const uid = Number(shells.greeting.uid);
  const run = async (work: Work): Promise<RunResult> => {
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
    ...scriptedFiles(script, uid),
    connect: (host: string, port: number, signal?: AbortSignal): Promise<Duplex> =>
      transport.connect(host, port, signal),
    close: () => shells.close(),
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
