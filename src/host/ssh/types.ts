import type { Duplex, Readable, Writable } from 'node:stream';
import type { Host, ReverseTunnel } from '../types.ts';
import type { FileMethods } from './file-methods.ts';

/** What of this machine the ssh client may look at; handed in, nothing here reads the process. */
export interface LocalSide {
  /** Home folder: `~/.ssh` lies below it. */
  home: string;
  /** Account name: the remote user where nothing names one. */
  user: string;
  env: Record<string, string | undefined>;
}

/** How a person is asked. A function that is absent, or that gives null, means: nobody can answer. */
export interface Questions {
  /** There is a terminal on which the ssh program may ask by itself. */
  terminal?: boolean;
  password?(whose: string): Promise<string | null>;
  passphrase?(keyFile: string): Promise<string | null>;
  /** One answer for each prompt of a keyboard-interactive login. */
  answers?(title: string, prompts: readonly { text: string; echo: boolean }[]): Promise<string[] | null>;
}

export interface SshOptions {
  /** Host name or ssh_config alias, IPv6 without brackets. */
  address: string;
  user?: string | null;
  port?: number | null;
  local: LocalSide;
  /** Read instead of `~/.ssh/config` and `/etc/ssh/ssh_config`, as `ssh -F`. */
  configFile?: string;
  /** Use the system `ssh` for everything. */
  systemSsh?: boolean;
  /** `Match exec` and `ProxyCommand` of the configuration may run. */
  allowConfigExec?: boolean;
  /** Record an unknown host key instead of refusing it. A changed key is refused all the same. */
  acceptNewHostKey?: boolean;
  /** Act as this account: `sudo -n -H -u`. */
  become?: string | null;
  questions?: Questions;
  /** Milliseconds for each step of connecting; ConnectTimeout of the configuration wins for the first. Default 15 000. */
  timeoutMs?: number;
  /** The login is done; what follows is counted as use. */
  onReady?: () => void;
  signal?: AbortSignal;
}

/** Something about the connection that a report should say although it worked. */
export interface SshNote {
  code: 'SSH_CONFIG_UNSUPPORTED' | 'STDOUT_NOISE' | 'SSH_FORWARD_FORBIDDEN' | 'SSH_SHELL_UNUSABLE';
  args: Record<string, string | number>;
}

export interface SshHost extends Host {
  readonly kind: 'ssh';
  /** Grows while the host is used: read it when reporting. */
  readonly notes: readonly SshNote[];
}

/** How a remote process ended. Code and signal are null when only the connection ended. */
export interface PipeEnd {
  code: number | null;
  signal: string | null;
}

/** A running remote command. */
export interface Pipe {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  /** Settles when its output has been read to the end, or when the connection is gone. */
  ended: Promise<PipeEnd>;
  /** Lets go of it; the remote process may live on. */
  close(): void;
  /** Asks the server to end it, where it can. */
  kill(): void;
}

/** One connection to a host. Implementations: `library.ts` (ssh2) and `system.ts` (the ssh program). */
export interface Transport {
  /** `user@host:port`, for people. */
  readonly name: string;
  /**
   * Runs a command with this as its first input.
   *
   * @throws CompatError SSH_CUT, or SSH_SHELL_UNUSABLE when the server refuses a further session
   */
  open(command: string, input: string): Promise<Pipe>;
  /** @throws CompatError SSH_FORWARD_FORBIDDEN, or an Error with a code of `node:net` when the port itself cannot be reached */
  connect(host: string, port: number, signal?: AbortSignal): Promise<Duplex>;
  /** @throws CompatError SSH_FORWARD_FORBIDDEN */
  reverse(port: number): Promise<ReverseTunnel>;
  /** Files without a shell, where the transport can; null where it cannot. */
  files(): Promise<FileMethods | null>;
  close(): Promise<void>;
}
