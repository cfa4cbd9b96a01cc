import { CompatError } from '../errors.ts';
import { startForCheck } from '../launch/launch.ts';
import { fingerprint } from '../target/credential.ts';
import { chosenInstall } from './chosen-install.ts';
import { examine, type Examination, type ExamineInput } from './examine.ts';

/**
 * `--start`: where nothing runs, the dashboard of the install in question is started on a free loopback port, examined, and ended.
 * The engine writes into its home by this, so whoever calls has asked. Gives the first examination back when there is nothing to start.
 *
 * @throws CompatError interrupted, refused
 */
export async function examineStarted(
  first: Examination,
  input: ExamineInput,
  engineEnv: Record<string, string>,
): Promise<Examination> {
  const { host, seen, facts } = first;
  const install = chosenInstall(seen);
  const home = seen?.host.home ?? null;
  if (host === null || home === null || install === null || facts.service !== null) return first;
  input.onProgress?.('starting a dashboard for the check');
  const options = { port: 0, host: '127.0.0.1', webDist: null, engineArgs: [], env: engineEnv, seconds: 90 };
  const running = await startForCheck({ host, install, home, options }, input.signal);
  if (running.outcome === 'failed') {
    const { code, args, evidence } = running.failure;
    return {
      ...first,
      facts: { ...facts, hostError: { finding: code, text: evidence.join('\n'), args, commands: [] } },
    };
  }
  try {
    const credential =
      running.token === null
        ? null
        : ({
            kind: 'token',
            source: 'launch-record',
            secret: running.token,
            username: null,
            fingerprint: fingerprint(running.token),
          } as const);
    const again = await examine({
      ...input,
      openHost: async () => host,
      started: { url: running.url, pid: running.record.pid, credential },
    });
    if (input.signal.aborted) throw new CompatError('interrupted', 'interrupted');
    return again;
  } finally {
    await running.stop();
  }
}
