/** What a stand-in dashboard shall be. */
export interface SimulatorOptions {
  /** Engine release, e.g. `0.19.0` or `0.22.2`. */
  release: string;
  /** Names of faults, see `faults`; they work together where that makes sense. */
  faults?: readonly string[];
  /** Session token; by default a random one. */
  token?: string;
  /** Embedded chat of 0.13–0.15, where it is a setting; off by default, as in the engine. */
  chat?: boolean;
  /** Asks for a login. Without a name and password: `admin` and `simulated`. */
  gated?: boolean | { username: string; password: string };
  /** Address to listen on; loopback by default. Others than 127.0.0.1, localhost and ::1 are beyond loopback for the guards. */
  host?: string;
  /** 0 or absent: a free one. */
  port?: number;
  /** Behind a proxy that serves it below this path (`/hermes`), strips it and says so. */
  prefix?: string;
  /** The page was built; by default as in the published package. */
  webBuild?: boolean;
  /** `hermes serve` instead of the dashboard. */
  headless?: boolean;
  /** `/api/model/library` is there, as a remedy adds it. */
  library?: boolean;
  /** Lines of a recording (`cases/turns/…jsonl`), played to the client that submits prompts. */
  play?: string;
  /** Rows of that recording (`….stored.json`), served as stored messages. */
  stored?: unknown;
  /** Is told of every request and upgrade, as in `log`. */
  onRequest?: (line: string) => void;
  /** Factor on the pauses of a recording; 0, the default, plays it at once. */
  pace?: number;
}

export interface Simulator {
  /** Base URL, with the prefix. */
  url: string;
  port: number;
  /** What a client sends; null in gated mode. */
  token: string | null;
  /** Name and password in gated mode. */
  login: { username: string; password: string } | null;
  /** Requests and upgrades so far, without credentials: `GET /api/status`, `UPGRADE /api/ws`. */
  log: readonly string[];
  /** JSON-RPC frames of clients, in order. */
  frames: readonly unknown[];
  close: () => Promise<void>;
}
