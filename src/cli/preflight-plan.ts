import { CompatError, usageError } from '../errors.ts';
import type { CapabilityId } from '../judge/capability-ids.ts';
import type { Client } from '../judge/client.ts';
import type { ExamineInput } from '../lifecycle/examine.ts';
import { readCredential } from '../target/credential.ts';
import { parseTargetsFile, type PlannedTarget, type TargetsPlan } from '../target/targets-file.ts';
import { readCertificates, readExamineOptions } from './examine-request.ts';
import type { Io } from './io.ts';
import { openHostFor } from './open-host.ts';
import { pathResolver, type RawOptions, readHeaderFile, readTextFile } from './request.ts';

/** One target, ready to be checked: its client with what the file asks for besides, secrets read. */
export interface Work {
  planned: PlannedTarget;
  client: Client;
  clients: readonly Client[];
  /** For one run, which ends with `signal`. */
  input(signal: AbortSignal): ExamineInput;
}

/** A targets file, or the hosts of an Ansible inventory. @throws CompatError usage */
export async function readPlan(file: string | undefined, options: RawOptions, io: Io): Promise<TargetsPlan> {
  const inventory = options['ansibleInventory'];
  if ((file === undefined) === (typeof inventory !== 'string'))
    throw usageError('give a targets file, or --ansible-inventory FILE');
  const client = typeof options['client'] === 'string' ? options['client'] : null;
  if (typeof inventory === 'string') {
    const { targetsOfInventory } = await import('../target/ansible-inventory.ts');
    const path = pathResolver(io)(inventory);
    return { parallel: null, targets: targetsOfInventory(await listInventory(path, io), client) };
  }
  if (client !== null)
    throw usageError('--client is for an Ansible inventory; a targets file names the client of each target');
  const path = pathResolver(io)(file ?? '');
  const beside = path.slice(0, path.lastIndexOf('/') + 1);
  const text = await readTextFile(path, 'the targets file');
  return parseTargetsFile(text, file ?? path, pathResolver({ ...io, cwd: beside }));
}

async function listInventory(path: string, io: Io): Promise<string> {
  const { execa } = await import('execa');
  const result = await execa('ansible-inventory', ['--inventory', path, '--list'], {
    env: io.env,
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
    timeout: 60_000,
    maxBuffer: 64 * 1024 * 1024,
    cancelSignal: io.signal,
  });
  if (result.exitCode !== 0) {
    const why =
      result.code === 'ENOENT'
        ? 'ansible-inventory is not on PATH'
        : `ansible-inventory failed: ${result.stderr.slice(0, 300)}`;
    throw usageError(`cannot read the Ansible inventory: ${why}`);
  }
  return result.stdout;
}

/** Everything that can be wrong with the whole job is found before the first target is asked. @throws CompatError usage */
export async function prepare(plan: TargetsPlan, options: RawOptions, io: Io): Promise<Work[]> {
  const [{ readClients }, { capabilityIds }, inputFor] = await Promise.all([
    import('../judge/client.ts'),
    import('../judge/capability-ids.ts'),
    readExamineOptions(
      { ...options, tokenEnv: undefined },
      { ...io, env: { ...io.env, HERMES_COMPAT_TOKEN: undefined } },
    ),
  ]);
  const clients = await readClients();
  const works: Work[] = [];
  const secretEnv = plan.targets.flatMap(({ secrets: { tokenEnv, passwordEnv } }) =>
    [tokenEnv, passwordEnv].filter((name) => name !== undefined),
  );
  // In order, so that of several faults the first in the file is told.
  for (const planned of plan.targets) {
    const client = clientFor(planned, clients, capabilityIds);
    const all = clients.map((each) => (each.name === client.name ? client : each));
    const input = await inputOf(planned, inputFor(planned.target), client, io);
    works.push({
      planned,
      client,
      clients: all,
      input: (signal) => ({
        ...input,
        signal,
        openHost: openHostFor({ ...options, secretEnv }, { ...io, signal }, false),
      }),
    });
  }
  return works;
}

/** Secrets are read as for the command line, and named by the keys of the file. */
const inWordsOfFile = (message: string): string =>
  message.replaceAll(
    /--(token|password)-(env|file)\b/g,
    (_, secret: string, from: string) => `${secret}${from === 'env' ? 'Env' : 'File'}`,
  );

const whereOf = ({ name, place }: PlannedTarget): string =>
  `${place === null ? '' : `${place}: `}target "${name.slice(0, 60)}"`;

function clientFor(
  planned: PlannedTarget,
  clients: readonly Client[],
  capabilityIds: readonly CapabilityId[],
): Client {
  const client = clients.find((each) => each.name === planned.client);
  if (client === undefined)
    throw usageError(
      `${whereOf(planned)}: no client "${planned.client.slice(0, 40)}"; there is ${clients.map((each) => each.name).join(', ')}`,
    );
  const required = planned.require.map((id) => {
    const known = capabilityIds.find((each) => each === id);
    if (known === undefined)
      throw usageError(
        `${whereOf(planned)}: no capability "${id.slice(0, 40)}"; there is ${capabilityIds.join(', ')}`,
      );
    return known;
  });
  return { ...client, requires: [...new Set([...client.requires, ...required])] };
}

async function inputOf(
  planned: PlannedTarget,
  base: ExamineInput,
  client: Client,
  io: Io,
): Promise<ExamineInput> {
  const named = <T>(reading: Promise<T>): Promise<T> =>
    reading.catch((error: unknown) => {
      throw error instanceof CompatError
        ? usageError(`${whereOf(planned)}: ${inWordsOfFile(error.message)}`, { cause: error })
        : error;
    });
  const credential = await named(
    readCredential(planned.secrets, {
      env: io.env,
      readFile: (path) => readTextFile(path, 'the secret file'),
      readStdin: async () => '',
      runCommand: async () => '',
    }),
  );
  const headers = planned.headerFile === null ? null : await named(readHeaderFile(planned.headerFile, io));
  const ca = planned.ca === null ? null : await named(readCertificates(planned.ca));
  return {
    ...base,
    credential,
    client: client.name,
    needs: {
      ...base.needs,
      contract: client.contract !== null || client.requires.some((id) => id === 'contract'),
      modelSet: client.requires.some((id) => id === 'model-set'),
    },
    refinements: { ...base.refinements, mode: planned.mode, origin: planned.origin },
    timeoutMs: planned.timeoutMs ?? base.timeoutMs,
    connection: {
      ...base.connection,
      ...(headers === null ? {} : { headers: Object.entries(headers) }),
      ...(ca === null ? {} : { ca }),
    },
  };
}
