import { usageError } from '../errors.ts';
import type { Host } from '../host/types.ts';
import { readClients } from '../judge/client.ts';
import { judge } from '../judge/judge.ts';
import type { Report } from '../judge/schema.ts';
import { fingerprint } from '../target/credential.ts';
import { parseTarget } from '../target/parse.ts';
import type { Credential, Target } from '../target/types.ts';
import { examine } from './examine.ts';

export interface CheckOptions {
  /** Whose needs decide; default `hermes-one`. */
  client?: string;
  /** Session token; without one, an ungated loopback dashboard is asked for the token of its page. */
  token?: string | undefined;
  /** The Origin that the client sends. */
  origin?: string;
  /** Limit as a whole, milliseconds. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Opens the machine of a `local` or `ssh` target, e.g. `localHost(…)`. Not needed for URLs. */
  openHost?: (target: Target) => Promise<Host>;
}

/**
 * One target, one report: what `hermes-compat doctor` does, without a command line.
 *
 * @throws CompatError usage, for an address or client that is none
 */
export async function check(address: string, options: CheckOptions = {}): Promise<Report> {
  const { client: name = 'hermes-one', origin = null, timeoutMs = null } = options;
  const target = parseTarget(address, (path) => path);
  const clients = await readClients();
  const client = clients.find((each) => each.name === name);
  if (client === undefined)
    throw usageError(`no client "${name}"; there is ${clients.map((each) => each.name).join(', ')}`);
  const began = performance.now();
  const { facts, host } = await examine({
    target,
    refinements: { url: null, port: null, home: null, profile: null, origin, mode: 'auto' },
    credential: tokenCredential(options.token),
    openHost: options.openHost ?? noHost,
    env: {},
    client: name,
    needs: {
      sessionMessages: true,
      modelOptions: true,
      modelLibrary: true,
      modelSet: client.requires.includes('model-set'),
      asset: true,
      contract: client.contract !== null,
      sessionProbe: 'auto',
      console: target.kind !== 'http',
    },
    patience: 'normal',
    timeoutMs,
    connection: {},
    signal: options.signal ?? new AbortController().signal,
    started: null,
  });
  await host?.close();
  return { ...judge(facts, { client: name, clients }), durationMs: Math.round(performance.now() - began) };
}

const noHost = async (): Promise<Host> => {
  throw usageError('a local or ssh target needs openHost');
};

const tokenCredential = (token: string | undefined): Credential | null =>
  token === undefined || token === ''
    ? null
    : { kind: 'token', source: 'env', secret: token, username: null, fingerprint: fingerprint(token) };
