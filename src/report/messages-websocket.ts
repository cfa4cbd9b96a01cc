import type { Messages } from './message.ts';
import { has, value } from './message.ts';

/** `/api/ws` and what runs over it. */
export const websocketMessages: Messages = {
  CHAT_DISABLED: {
    says: (args) =>
      has(args, 'env')
        ? `The engine’s embedded chat is off: ${value(args, 'home', '')}/.env sets HERMES_DASHBOARD_TUI=${value(args, 'env', '')}, which wins over the environment`
        : 'The engine’s embedded chat is off, so /api/ws refuses every client',
    means: 'From 0.12 to 0.15 the dashboard opens its WebSocket only when it was started with the chat on.',
    seen: 'The page says __HERMES_DASHBOARD_EMBEDDED_CHAT__=false, or process and files show a start without it.',
    todo: 'Start it with HERMES_DASHBOARD_TUI=1 (never with --tui, which 0.16 refuses), use our overlay, or update to 0.16.',
    now: (args) =>
      has(args, 'openToNetwork')
        ? 'It is bound beyond loopback: with the chat on, every peer would get a terminal without login. Bind it to 127.0.0.1 or update.'
        : has(args, 'env')
          ? 'Remove that line, or set it to 1.'
          : '',
  },
  CHAT_OPEN_TO_NETWORK: {
    says: (args) =>
      `The chat is on and bound to ${value(args, 'bind', 'the network')}: every peer gets a terminal without login`,
    means: 'Up to 0.15 the token is in the public page and /api/pty is a shell.',
    seen: 'Release 0.15 or older, chat on, bind address beyond loopback.',
    todo: 'Bind it to 127.0.0.1 and use an SSH tunnel, or update to 0.16 or newer and set up a login.',
  },
  NO_WS_ROUTE: {
    says: (args) => `Hermes Agent ${value(args, 'version', '')} has no /api/ws; it came with 0.12.0`,
    means: 'No client of the dashboard can chat with this release.',
    seen: 'The version, and the bare refusal that every unknown WebSocket path gets.',
    todo: 'Update the engine to 0.16 or newer.',
  },
  WS_LIB_MISSING: {
    says: () => 'The engine’s environment has no WebSocket library, so it answers upgrades as plain requests',
    means: 'uvicorn needs websockets or wsproto; without one it only warns in its log.',
    seen: 'The upgrade got the JSON answer of an ordinary request although nothing is in between, or the library is absent on disk.',
    todo: 'Install websockets into the environment of the engine and restart the dashboard.',
  },
  UPGRADE_DROPPED: {
    says: () => 'The WebSocket upgrade is lost on the way: the engine sees an ordinary request',
    means: 'A proxy in between does not pass Upgrade and Connection on. REST works, chat does not.',
    seen: 'The upgrade was answered as plain HTTP by the engine.',
    todo: 'Pass Upgrade and Connection through with HTTP/1.1 in the proxy.',
  },
  WS_PATH_MAPPED_WRONG: {
    says: () => '/api/ws is mapped to another path on the way: its sibling /api/events opens',
    means:
      'The proxy has a rule for /api/ws that changes the path, and an unknown WebSocket path is refused.',
    seen: 'Every variant of /api/ws is refused and /api/events opens with the same credential.',
    todo: 'Let the proxy’s WebSocket location keep the path /api/ws.',
  },
  EDGE_REFUSES_WS: {
    says: (args) =>
      `Something in front refuses the WebSocket (HTTP ${value(args, 'status', '403')}); the engine’s own refusal looks different`,
    means:
      'REST passes and the upgrade does not: a firewall rule, an access gateway, or a proxy route for /api/ws.',
    seen: 'The upgrade got an answer with a body, a redirect or a challenge; the engine refuses with an empty 403.',
    todo: 'Exempt /api/ws (and /api/events, /api/pty) there, or give the headers that it wants with --header-file.',
  },
  WS_REFUSED: {
    says: (args) =>
      has(args, 'candidates')
        ? `The WebSocket is refused and the cause cannot be told apart: ${value(args, 'candidates', '')}`
        : 'The WebSocket is refused and the cause cannot be told',
    means:
      'The engine gives the same bare 403 for every reason, and the probes beside it do not separate them.',
    seen: 'A refused upgrade whose control probes were not possible or contradict each other.',
    todo: 'Run it on the engine’s own machine (`hermes-compat doctor local`), where process, disk and log are seen too.',
  },
  WS_HANDSHAKE_INVALID: {
    says: (args) =>
      value(args, 'fault', '') === 'bad-protocol'
        ? 'The server accepts the WebSocket with a protocol that was not offered'
        : 'The server accepts the WebSocket with a wrong key, so no client may use it',
    means: 'What answers is not the engine’s WebSocket, or a proxy damages the handshake.',
    seen: 'HTTP 101 whose Sec-WebSocket-Accept or Sec-WebSocket-Protocol does not fit the request.',
    todo: 'Look at what terminates the WebSocket in front of the engine.',
  },
  WS_CLOSED_EARLY: {
    says: (args) =>
      `The WebSocket opens and is closed again (code ${value(args, 'closeCode', '1006')}) before anything is answered`,
    means: 'The engine accepted the client and ended the connection, or something in between did.',
    seen: 'HTTP 101, then a close before a JSON-RPC answer.',
    todo: 'Read logs/errors.log in HERMES_HOME at that time, then check again.',
  },
  WS_SILENT: {
    says: () => 'The WebSocket opens and stays silent',
    means: 'No frame and no JSON-RPC answer came; an open socket alone is no working chat.',
    seen: 'HTTP 101, then nothing within the limit.',
    todo: 'Check again with --patience cold; if it stays silent, a proxy buffers frames or the engine is stuck.',
  },
  WS_IDLE_CUT: {
    says: (args) => `The WebSocket is cut after ${value(args, 'seconds', 'some')} s without traffic`,
    means: 'A proxy closes idle connections; a chat would break whenever nobody types.',
    seen: 'With --hold the open WebSocket was closed before the time was over.',
    todo: 'Raise the idle limit of the proxy, or let the client send a ping more often than that.',
  },
  RPC_FAILED: {
    says: () => 'The WebSocket opens, but JSON-RPC does not answer',
    means: 'Frames come, yet a call gets no valid answer: the client cannot work with it.',
    seen: 'HTTP 101 and frames, and no JSON-RPC answer to a harmless call.',
    todo: 'Read logs/errors.log in HERMES_HOME, then check again.',
  },
  CONTRACT_NONE: {
    says: (args) => `The engine names no backend contract; the client wants ${value(args, 'wanted', 'one')}`,
    means:
      'Engines before 0.16 have none. That is not an old contract, it is none: some features may misbehave.',
    seen: 'The source has no DESKTOP_BACKEND_CONTRACT, or a session’s info has no desktop_contract.',
    todo: 'Update the engine to 0.16 or newer.',
  },
  CONTRACT_TOO_OLD: {
    says: (args) =>
      `The engine’s contract is ${value(args, 'value', '?')}; the client wants ${value(args, 'wanted', '?')} or more`,
    means: 'The client works and warns; newer features of it do not.',
    seen: 'The contract from the source, a session’s info, or the release, against clients/*.json.',
    todo: 'Update the engine.',
  },
  CONTRACT_TOO_NEW: {
    says: (args) =>
      `The engine’s contract is ${value(args, 'value', '?')}; the client was written for ${value(args, 'known', '?')}`,
    means: 'The client is older than the engine; approvals and prompts may not reach it.',
    seen: 'The contract is above what clients/*.json says that the client knows.',
    todo: 'Update the client.',
  },
  CONTRACT_UNKNOWN: {
    says: (args) =>
      has(args, 'raw')
        ? `The engine’s contract is no whole number: ${value(args, 'raw', '')}`
        : 'The engine’s contract could not be read',
    means: 'It is neither old nor new; nothing is said about it.',
    seen: 'No readable source and no session that told it, or a value of the wrong type.',
    todo: 'Use --session-probe always, or check on the engine’s own machine where its files are read.',
  },
  MODEL_LIBRARY_MISSING: {
    says: () => 'The engine has no /api/model/library, which this client needs',
    means:
      'The list of saved models is no part of any release; the client expects an addition on the engine’s machine.',
    seen: 'GET /api/model/library is not JSON with `models`, or neither source nor overlay adds it.',
    todo: 'Add our overlay with `hermes-compat doctor --fix`; it outlasts updates and can be reverted.',
    now: (args) =>
      args['place'] === 'unknown'
        ? 'This engine is built in a way that is not known, so that nothing of ours would be placed: report its version.'
        : '',
  },
  CAPABILITY_MISSING: {
    says: (args) => `The engine does not offer ${value(args, 'capability', 'what the client needs')}`,
    means: 'The client requires it, and only another engine version brings it.',
    seen: 'The endpoint is not there, or the release is too old for it.',
    todo: 'Update the engine.',
  },
  CAPABILITY_UNKNOWN: {
    says: (args) =>
      has(args, 'leftOut')
        ? `Whether ${value(args, 'capability', 'it')} works is unknown: its check was left out`
        : `Whether ${value(args, 'capability', 'it')} works could not be checked`,
    means: 'The client requires it, so there is no verdict without it.',
    seen: 'No probe and no file told it.',
    todo: 'Check again without --only and --skip, with a credential, or on the engine’s own machine.',
  },
};
