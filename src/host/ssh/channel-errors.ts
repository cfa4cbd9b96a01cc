import { netError, sshError } from './failures.ts';

const reasonOf = (error: unknown): number | null => {
  const reason = (error as { reason?: unknown } | null)?.reason;
  return typeof reason === 'number' ? reason : null;
};

/** A server that refuses a further session is no cut link; MaxSessions of sshd does that. */
export function openError(name: string, error: unknown): unknown {
  if (!(error instanceof Error) || error.name === 'CompatError') return error;
  return sshError(
    'SSH_SHELL_UNUSABLE',
    `${name} refuses to run a command: ${error.message}`,
    { host: name, line: error.message, sessions: 'refused' },
    { cause: error },
  );
}

/** Words of sshd for a port that its host cannot reach, as `node:net` codes. */
const netCodes: readonly [RegExp, string][] = [
  [/refused/i, 'ECONNREFUSED'],
  [/timed out/i, 'ETIMEDOUT'],
  [/not known|resolve|no address/i, 'ENOTFOUND'],
  [/no route/i, 'EHOSTUNREACH'],
  [/network is unreachable/i, 'ENETUNREACH'],
];

export function forwardError(name: string, host: string, port: number, error: unknown): unknown {
  if (!(error instanceof Error) || error.name === 'CompatError') return error;
  // RFC 4254 §5.1: 1 is "administratively prohibited", 2 "connect failed".
  if (reasonOf(error) === 1) {
    return sshError(
      'SSH_FORWARD_FORBIDDEN',
      `${name} forbids tunnels to ${host}:${port}`,
      { host: name, port },
      { cause: error },
    );
  }
  const [, code = 'ECONNREFUSED'] = netCodes.find(([pattern]) => pattern.test(error.message)) ?? [];
  return netError(code, host, port, name, error);
}
