import { launchFolder } from '../engine/compat-places.ts';
import type { EngineProcess } from '../engine/schema.ts';
import { FileError, type Host } from '../host/types.ts';
import { fingerprint } from '../target/credential.ts';
import type { Credential } from '../target/types.ts';
import type { LaunchRecord } from './record.ts';
import { readRecords } from './record.ts';

/** The record of the launch that started this very process, told by pid and start time; null for any other. */
export async function recordOf(
  host: Host,
  rootHome: string,
  process: Pick<EngineProcess, 'pid' | 'startTicks'>,
): Promise<LaunchRecord | null> {
  const records = await readRecords(host, rootHome);
  return (
    records.find(
      ({ pid, startTicks }) =>
        startTicks !== null && pid === process.pid && startTicks === process.startTicks,
    ) ?? null
  );
}

/**
 * The session token of a dashboard that `launch` started: what makes one without a web page readable again. null when the record
 * has none, or its file is gone or not ours to read.
 */
export async function credentialOf(
  host: Host,
  rootHome: string,
  record: LaunchRecord,
): Promise<Credential | null> {
  // Only the file that launch itself would write.
  const file = `${launchFolder(rootHome)}/${record.id}.token`;
  if (record.tokenFile !== file) return null;
  try {
    const secret = (await host.readFile(file, 8192)).toString('utf8').replace(/\r?\n$/, '');
    if (secret === '' || /[\u0000-\u001f\u007f]/.test(secret)) return null;
    return {
      kind: 'token',
      source: 'launch-record',
      secret,
      username: null,
      fingerprint: fingerprint(secret),
    };
  } catch (error) {
    if (error instanceof FileError) return null;
    throw error;
  }
}
