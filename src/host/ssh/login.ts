import { randomBytes } from 'node:crypto';
import type { CompatError } from '../../errors.ts';
import { cutError, firstLine, sshError } from './failures.ts';
import { markerReader, type StreamEvent } from './markers.ts';
import { becoming, type Greeting, greeting, greetingFields } from './requests.ts';
import type { Pipe, PipeEnd, Transport } from './types.ts';

/** A remote POSIX shell that has proved to be one and waits for requests. */
export interface Login {
  pipe: Pipe;
  nonce: string;
  greeting: Greeting;
  /** First line that the account printed on its own, or empty. */
  noise: string;
  /** From now on events go there. Call once. */
  listen(handler: (stream: 'stdout' | 'stderr', event: StreamEvent) => void): void;
}

export interface LoginSetup {
  become: string | null;
  /** Milliseconds until the shell must have answered. */
  timeoutMs: number;
}

/** More than this before our first marker is no banner. */
const mostNoise = 64 * 1024 * 1024;
const keptNoise = 4096;

/**
 * Opens `exec /bin/sh -s`, which every login shell that was tried understands, and greets it.
 *
 * @throws CompatError SSH_SHELL_UNUSABLE, SUDO_REFUSED, SSH_CUT
 */
export async function logIn(transport: Transport, setup: LoginSetup): Promise<Login> {
  const nonce = randomBytes(12).toString('hex');
  const first = setup.become === null ? greeting(nonce) : becoming(nonce, setup.become);
  const pipe = await transport.open('exec /bin/sh -s', first);
  const seen = { noise: '', noiseBytes: 0, errors: '', facts: [] as Buffer[], proved: false };
  let handler = (stream: 'stdout' | 'stderr', event: StreamEvent): void => {
    if (event.kind === 'noise' && stream === 'stdout') {
      seen.noiseBytes += event.bytes.length;
      if (seen.noise.length < keptNoise) seen.noise += event.bytes.toString('utf8', 0, keptNoise);
      if (seen.noiseBytes > mostNoise) settle('loud');
    } else if (event.kind === 'noise') {
      if (seen.errors.length < keptNoise) seen.errors += event.bytes.toString('utf8', 0, keptNoise);
    } else if (event.kind === 'data') {
      if (stream === 'stdout') seen.facts.push(event.bytes);
    } else if (event.name === 'N0' && event.value === '42') {
      seen.proved = true;
      pipe.stdin.write(greeting(nonce));
    } else if (event.name === 'E0') settle('greeted');
  };
  let settle: (how: 'greeted' | 'loud' | 'silent' | PipeEnd) => void = () => {};
  const settled = new Promise<'greeted' | 'loud' | 'silent' | PipeEnd>((resolve) => (settle = resolve));
  for (const stream of ['stdout', 'stderr'] as const) {
    pipe[stream].on(
      'data',
      markerReader(nonce, (event) => handler(stream, event)),
    );
  }
  void pipe.ended.then((end) => settle(end));
  const timer = setTimeout(() => settle('silent'), setup.timeoutMs);
  const how = await settled;
  clearTimeout(timer);
  const facts = Buffer.concat(seen.facts).toString('utf8').split('\0');
  if (how === 'greeted' && facts.length > greetingFields.length) {
    const fields = Object.fromEntries(greetingFields.map((name, i) => [name, facts[i] ?? ''])) as Greeting;
    const listen: Login['listen'] = (next) => (handler = next);
    return { pipe, nonce, greeting: fields, noise: firstLine(seen.noise), listen };
  }
  if (how === 'silent') {
    // Some shells say what they dislike only when their input ends.
    pipe.stdin.end();
    await Promise.race([pipe.ended, new Promise((resolve) => setTimeout(resolve, 1000))]);
  }
  pipe.close();
  throw unusable(transport.name, how, setup, { ...seen, become: setup.become });
}

function unusable(
  host: string,
  how: 'greeted' | 'loud' | 'silent' | PipeEnd,
  setup: LoginSetup,
  seen: { noise: string; errors: string; proved: boolean; become: string | null },
): CompatError {
  const line = firstLine(seen.errors) || firstLine(seen.noise);
  const said = line === '' ? 'It printed nothing.' : `It said: ${line}`;
  if (typeof how === 'object' && how.code === null && how.signal === null) return cutError(host);
  if (seen.become !== null && seen.proved) {
    return sshError('SUDO_REFUSED', `${host}: sudo -n -u ${seen.become} was refused. ${said}`, {
      host,
      user: seen.become,
      line,
    });
  }
  const why =
    how === 'silent'
      ? `did not reach /bin/sh within ${Math.round(setup.timeoutMs / 1000)} s`
      : how === 'loud'
        ? 'prints without end'
        : `ended (${typeof how === 'object' ? `exit ${how.code ?? how.signal}` : 'no facts'}) before /bin/sh ran`;
  return sshError('SSH_SHELL_UNUSABLE', `${host}: the account's login shell ${why}. ${said}`, {
    host,
    line,
    exit: typeof how === 'object' ? how.code : null,
  });
}
