/**
 * What a person names on the command line.
 *
 * - `local` with `path`: a HERMES_HOME, an install root, a virtual environment or a `hermes` script; null is this machine's default.
 * - `ssh`: `address` is a host or an ssh_config alias; `path` a root on that host.
 * - `http`: a base URL without a trailing slash; disk is never read, even on loopback.
 */
export type Target =
  | { kind: 'local'; name: string; path: string | null }
  | {
      kind: 'ssh';
      name: string;
      address: string;
      user: string | null;
      port: number | null;
      path: string | null;
    }
  | { kind: 'http'; name: string; url: string };

/** `--url`, `--port`, `--home`, `--profile`, `--origin`, `--mode`: what refines a target. */
export interface Refinements {
  /** Where the local or ssh target's dashboard is, as seen from that host. */
  url: string | null;
  port: number | null;
  home: string | null;
  profile: string | null;
  /** The Origin that the user's client sends; null sends none. */
  origin: string | null;
  mode: 'auto' | 'dashboard' | 'legacy';
}

/** Where a credential came from. The value never leaves this object into a fact, report or error: only `fingerprint` does. */
export interface Credential {
  kind: 'token' | 'login';
  source:
    | 'env'
    | 'token-env'
    | 'token-file'
    | 'token-stdin'
    | 'token-command'
    | 'page'
    | 'launch-record'
    | 'password';
  /** Token, or password for `login`. */
  secret: string;
  username: string | null;
  /** First 8 hex digits of sha256(secret). */
  fingerprint: string;
}
