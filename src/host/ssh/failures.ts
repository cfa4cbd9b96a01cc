import { CompatError, type ErrorDetails } from '../../errors.ts';

type Args = NonNullable<ErrorDetails['args']>;

/** An SSH failure: nothing could be looked at (exit 3). `finding` is a code of CODES.md. */
export const sshError = (
  finding: string,
  message: string,
  args: Args = {},
  more: { commands?: string[][]; cause?: unknown } = {},
): CompatError => new CompatError('unchecked', message, { finding, args, ...more });

export const cutError = (name: string, cause?: unknown): CompatError =>
  sshError(
    'SSH_CUT',
    `the connection to ${name} was cut`,
    { host: name },
    cause === undefined ? {} : { cause },
  );

export const interrupted = (name: string): CompatError =>
  new CompatError('interrupted', `${name}: interrupted`);

/** A port that the host cannot reach, as `node:net` says it. */
export const netError = (code: string, host: string, port: number, from: string, cause?: unknown): Error =>
  Object.assign(new Error(`connect ${code} ${host}:${port} from ${from}`, { cause }), { code });

/** First line of what a host printed, made safe to show: no control characters, at most 200 characters. */
export function firstLine(output: Buffer | string): string {
  const text = typeof output === 'string' ? output : output.toString('utf8');
  for (const line of text.split(/[\r\n]+/)) {
    // eslint-disable-next-line no-control-regex
    const clean = line.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]|[\u0000-\u001f\u007f-\u009f]/g, '').trim();
    if (clean !== '') return clean.slice(0, 200);
  }
  return '';
}
