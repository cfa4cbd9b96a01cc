import type { Duplex } from 'node:stream';
import type { ContractOnDisk } from '../engine/schema.ts';
import type { Credential } from '../target/types.ts';
import type { Facts } from './schema.ts';

/** Which optional things are looked at. What is not needed becomes a fact with outcome `skipped`, why `not-needed`. */
export interface ProbeNeeds {
  sessionMessages: boolean;
  modelOptions: boolean;
  modelLibrary: boolean;
  /** Asks for openapi.json, which costs an engine half a second once; without any credential it is asked anyway. */
  modelSet: boolean;
  /** The page's own script, from where the page says it is. */
  asset: boolean;
  /** The judged client has a wish about the contract. */
  contract: boolean;
  /** Memory-only session for the contract: `auto` only when it is wanted and the disk does not know it. */
  sessionProbe: 'auto' | 'always' | 'never';
  /** After an unexplained refusal, one upgrade to /api/console with the same credential: the engine logs its reason there (0.18.2+). */
  console: boolean;
}

/** How one target is probed. Sources: DESIGN §3, 4, 8. */
export interface ProbeInput {
  /** Base URL without a trailing slash, as `connect` reaches it: over ssh, as the other host sees it. */
  url: string;
  /** The Origin that the user's client sends on the upgrade; null sends none. */
  origin: string | null;
  mode: 'auto' | 'dashboard' | 'legacy';
  /** How long one answer may take: normal 15 s, cold 90 s. */
  patience: 'normal' | 'cold';
  /** Limit for all probes together, in milliseconds. Hold time comes on top. */
  timeoutMs?: number | undefined;
  /** null: an ungated dashboard on loopback is asked for the token of its page. */
  credential: Credential | null;
  needs: ProbeNeeds;
  /** What the install of the serving process says; null when no disk can be read or it is newer than the process. */
  contractFromDisk?: ContractOnDisk | null | Promise<ContractOnDisk | null> | undefined;
  /** A byte stream to a port as another host reaches it; absent: direct. */
  connect?: ((host: string, port: number, signal: AbortSignal) => Promise<Duplex>) | undefined;
  /** From --header-file: sent with every request and upgrade to this origin. */
  headers?: readonly (readonly [name: string, value: string])[] | undefined;
  /** PEM, trusted beside the usual authorities. */
  ca?: string | undefined;
  clientCert?: { cert: string; key: string; passphrase?: string } | undefined;
  /** http(s)://[user:password@]host:port of a CONNECT proxy. Never used for loopback or with `connect`. */
  proxy?: string | undefined;
  /** Keep the WebSocket open for this long, without traffic of ours. */
  holdSeconds?: number | undefined;
  /** `no`: we speak to the port of the engine process itself, so another Host header can prove nothing. */
  proxied?: 'no' | 'yes' | 'unknown' | undefined;
  /** Ends all probes at once; what was seen by then is still returned. */
  signal?: AbortSignal | undefined;
}

/** The part of the facts that probing fills. */
export type ProbeFacts = Pick<
  Facts,
  'credential' | 'status' | 'http' | 'ws' | 'rpc' | 'contract' | 'sessionList' | 'tls' | 'phases' | 'flapping'
>;

/** The credential that worked or was tried last. For a connection by the same process; never for a document. */
export type UsedCredential =
  | { kind: 'none' }
  | { kind: 'token'; token: string }
  | { kind: 'cookie'; cookie: string }
  | { kind: 'bearer'; token: string };

export interface ProbeResult {
  facts: ProbeFacts;
  used: UsedCredential;
}
