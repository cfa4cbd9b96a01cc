/** What makes one engine release differ from another for a client. Everything here was measured on the release itself. */

export interface GateTraits {
  /** Cookies that a login sets: up to 0.18 two, then also the provider's name. */
  providerCookie: boolean;
  /** The access token of a login is accepted as `Authorization: Bearer`. */
  bearer: boolean;
  /** A ticket may come as WebSocket subprotocol. */
  subprotocolTicket: boolean;
  /** `login`: pages lead to /login; `provider`: straight to the only provider, which 0.18 answers with 500 for passwords. */
  pagesLeadTo: 'login' | 'provider';
  /** Deletion cookies of the `__Host-`, `__Secure-` kinds carry Secure, sorted by cookie instead of by kind. */
  secureDeletions: boolean;
  /** `next` gets the forwarded prefix. */
  prefixedNext: boolean;
}

/** What each name in `session.create`'s `info` holds is in `socket/session-info.ts`. */
export type InfoField =
  | 'model'
  | 'tools'
  | 'skills'
  | 'cwd'
  | 'branch'
  | 'project'
  | 'lazy'
  | 'desktop_contract'
  | 'profile_name';

export interface Release {
  /** As `/api/status` says it. */
  version: string;
  releaseDate: string;
  generation: 'G0' | 'G1' | 'G2';
  /** `DESKTOP_BACKEND_CONTRACT`; null where the release has none. */
  contract: number | null;
  configVersion: number;
  /** Where it was measured from: the published package, or a fork that follows upstream. */
  source: 'package' | 'fork';

  /** Names in `/api/status`, in order; `openOnly` only without a gate. */
  status: readonly string[];
  openOnly: readonly string[];
  /** `/api/health`: absent, or which fields it has. */
  health: readonly string[] | null;

  /** The embedded chat is a setting of the launch (off by default), or always on. */
  chat: 'setting' | 'always';
  /** The package carries a built page. */
  webBuild: boolean;
  /** Name of the page's script, without folder. */
  script: string;
  /** Globals of the page, in order. */
  globals: readonly ('token' | 'chat' | 'basePath' | 'authRequired' | 'initialProfile' | 'profile')[];
  /** Unknown `/api/…` with a credential: the page, or JSON 404. */
  unknownApi: 'page' | 'json';
  /** Without web build, unknown `/api/…` say so too, or keep their own 404. */
  unbuiltHidesApi: boolean;
  /** Without web build, `/assets/…` fails with 500. */
  unbuiltAssetsFail: boolean;
  /** `/api/plugins/<unknown>/…`: an unknown path, or `Plugin not found` before the route. */
  pluginGuard: boolean;
  /** Headless `serve`: not there, JSON 404 for every page, or a page at `/` that holds only the token. */
  headless: 'none' | 'json' | 'page';
  /** Sentence of the Host guard. */
  hostSentence: string;
  /** CORS headers on all answers, or only on those that passed the guards. */
  corsOutermost: boolean;

  /** Guards of the WebSocket: none (0.13, 0.14), Host and http(s) Origins, Host and every Origin. */
  socketGuards: 'none' | 'all-origins' | 'web-origins';
  /** X-Forwarded-For of a loopback proxy counts as the peer. */
  forwardedPeer: boolean;
  /** `/api/console` exists; its first frame. */
  console: readonly ('context' | 'profile' | 'prompt')[] | null;
  /** Payload of `gateway.ready` besides the skin. */
  ready: readonly ('change_events' | 'heartbeat' | 'replay_epoch')[];
  /** Pings every 20 s on every bind, or only beyond loopback. */
  pings: 'always' | 'beyond-loopback';
  /** Events are numbered per session. */
  numbered: boolean;
  /** Blocking prompts are requests of the server, and unknown params of an RPC are refused. */
  serverRequests: boolean;

  /** The login routes exist. */
  authRoutes: boolean;
  /** Gated mode; null where no provider for it was shipped. */
  gate: GateTraits | null;
  /** `/api/auth/me` without a gate. */
  meWithoutGate: 'unauthorized' | 'local-user';

  /** Model that a session without configuration gets. */
  defaultModel: string;
  info: readonly InfoField[];
  /** `session.create` answers with stored id and messages too. */
  storedIdInCreate: boolean;
  /** Slugs of `/api/model/options` in an empty home, and of the RPC `model.options`. */
  restProviders: readonly string[];
  rpcProviders: readonly string[];
  /** Keys that lists of sessions carry besides the list and its page. */
  sessionsExtra: readonly string[];
}
