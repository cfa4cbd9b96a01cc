import { CompatError, usageError } from '../errors.ts';
import { localHost } from '../host/local.ts';
import type { LocalSide, Questions } from '../host/ssh/types.ts';
import type { Host } from '../host/types.ts';
import type { Target } from '../target/types.ts';
import { askHidden, askShown } from './ask.ts';
import type { Io } from './io.ts';
import { isInteractive } from './io.ts';
import { pathResolver, type RawOptions, readSecretOption } from './request.ts';

/** Opens the machine of a local or ssh target. `asks`: a person may be asked for what is missing; not where many targets are opened at once. */
export function openHostFor(options: RawOptions, io: Io, asks = true): (target: Target) => Promise<Host> {
  return async (target) => {
    if (io.platform === 'win32') {
      throw new CompatError(
        'usage',
        'local and ssh targets are not supported on Windows; http(s):// targets work here',
      );
    }
    if (target.kind === 'ssh') return openSsh(target, options, io, asks);
    return localHost({
      path: io.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
      home: io.home,
      platform: io.platform,
    });
  };
}

async function openSsh(
  target: Target & { kind: 'ssh' },
  options: RawOptions,
  io: Io,
  asks: boolean,
): Promise<Host> {
  const { openSshHost } = await import('../host/ssh/open.ts');
  const { userInfo } = await import('node:os');
  const local: LocalSide = { home: io.home, user: userInfo().username, env: withoutSecrets(io.env, options) };
  const { become, sshConfig, home } = options;
  if (typeof home === 'string' && !home.startsWith('/'))
    throw usageError(`--home of ${target.name} is a path on that machine, and so begins with a slash`);
  return openSshHost({
    address: target.address,
    user: target.user,
    port: target.port,
    local,
    ...(typeof sshConfig === 'string' ? { configFile: pathResolver(io)(sshConfig) } : {}),
    systemSsh: options['sshCommand'] === true,
    allowConfigExec: options['allowConfigExec'] === true,
    acceptNewHostKey: options['acceptNewHostKey'] === true,
    become: typeof become === 'string' ? become : null,
    questions: await questions(options, io, asks),
    signal: io.signal,
  });
}

/** What children of ours see: not the variables in which options say that secrets are. */
function withoutSecrets(env: Io['env'], options: RawOptions): Io['env'] {
  const { sshPasswordEnv, tokenEnv, passwordEnv, secretEnv } = options;
  const secret = new Set([sshPasswordEnv, tokenEnv, passwordEnv, secretEnv].flat());
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secret.has(name)));
}

/** A secret given by name answers every question once; else a person is asked, on a terminal only. */
async function questions(options: RawOptions, io: Io, asks: boolean): Promise<Questions> {
  const secret = await readSecretOption(
    options,
    io,
    'sshPasswordEnv',
    'sshPasswordFile',
    'the SSH password file',
  );
  if (secret !== null) {
    return {
      password: async () => secret,
      passphrase: async () => secret,
      answers: async (_title, prompts) => prompts.map(({ echo }) => (echo ? '' : secret)),
    };
  }
  if (!asks || !isInteractive(io)) return {};
  return {
    terminal: true,
    password: (whose) => askHidden(io, `Password of ${whose}: `),
    passphrase: (keyFile) => askHidden(io, `Passphrase of ${keyFile}: `),
    answers: async (title, prompts) => {
      const answers: string[] = [];
      for (const { text, echo } of prompts) {
        const answer = await (echo ? askShown : askHidden)(io, `${title === '' ? '' : `${title}: `}${text}`);
        if (answer === null) return null;
        answers.push(answer);
      }
      return answers;
    },
  };
}
