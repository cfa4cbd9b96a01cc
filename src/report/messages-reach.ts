import type { Args, Messages } from './message.ts';
import { has, proxyOr, value, viaProxy } from './message.ts';

const where = (args: Args): string => proxyOr(args, value(args, 'url', 'the address'));
const socket = (args: Args): string => (value(args, 'at', '') === 'ws' ? ' (at the WebSocket upgrade)' : '');

/** No answer, or an answer that is broken. */
export const reachMessages: Messages = {
  DNS_FAILED: {
    says: (args) => `The name in ${where(args)} cannot be resolved (${value(args, 'error', 'no answer')})`,
    means: 'No address is known for the host name, so nothing was contacted.',
    seen: 'The look-up of the name failed or did not end in time.',
    todo: 'Check the spelling, the VPN and the DNS server; an IP address works without DNS.',
    now: viaProxy,
  },
  CONNECTION_REFUSED: {
    says: (args) => `Nothing listens at ${where(args)}: the connection was refused${socket(args)}`,
    means: 'The machine is there, but no program accepts connections on that port.',
    seen: 'The TCP connection was refused on every address of the name.',
    todo: 'Start the dashboard there with `hermes-compat launch`, or name the address and port that it really uses.',
    now: viaProxy,
  },
  CONNECTION_RESET: {
    says: (args) => `The connection to ${where(args)} was cut before an answer came${socket(args)}`,
    means:
      'Something accepted the connection and closed it: a crashing server, a firewall, or another protocol.',
    seen: 'ECONNRESET or a close without any HTTP answer.',
    todo: 'Try again; if it stays, read the log of the engine or proxy on that port, and check http against https.',
    now: viaProxy,
  },
  CONNECT_TIMEOUT: {
    says: (args) => `No connection to ${where(args)} came about (${value(args, 'error', 'timeout')})`,
    means: 'Packets are dropped or there is no route: a firewall, a wrong address, a machine that is off.',
    seen: 'The TCP connection was neither accepted nor refused within the limit, or the network is unreachable.',
    todo: 'Check address, VPN and firewall. A dashboard bound to 127.0.0.1 is reached through an SSH tunnel or an ssh:// target.',
    now: viaProxy,
  },
  RESPONSE_TIMEOUT: {
    says: (args) =>
      `${where(args)} accepted the connection and did not answer in time${socket(args)}${has(args, 'ms') ? ` (${value(args, 'ms', '')} ms)` : ''}`,
    means:
      'Something listens but says nothing: an engine that is still starting or stuck, or another service.',
    seen: 'The connection was open and no complete answer came within the limit of the probe.',
    todo: 'Try again with --patience cold (90 s); if it stays silent, read the log of the process on that port.',
    now: viaProxy,
  },
  ENGINE_ERROR: {
    says: (args) => `The engine itself fails: /api/status answered ${value(args, 'status', '5xx')}`,
    means:
      'The dashboard runs and hits an error on its simplest page, often a home folder that it cannot read or write.',
    seen: 'A 5xx on a public path that comes from the engine and not from a proxy.',
    todo: 'Read logs/errors.log in HERMES_HOME, and check who owns that folder and the process.',
  },
  BACKEND_FLAPPING: {
    says: () => 'The dashboard answered and then did not, or another process took its place during the check',
    means:
      'It is being restarted or it crashes after start; a client would lose its connection again and again.',
    seen: 'Two probes in one run disagree, or pid or start time of the process changed between them.',
    todo: 'Look for a supervisor or an updater that restarts it, and for a second instance on the same port; then check again.',
  },
  SLOW_START: {
    says: (args) =>
      has(args, 'ended')
        ? `The dashboard did not answer within ${value(args, 'seconds', 'its')} s of its start and was ended`
        : has(args, 'pid') && has(args, 'seconds')
          ? `The dashboard (pid ${value(args, 'pid', '')}) is alive but not ready after ${value(args, 'seconds', '')} s`
          : `The dashboard is slow: it needed ${value(args, 'seconds', 'many')} s for its first answer`,
    means: 'A first start compiles everything and can take a minute or more; it is not down.',
    seen: 'The process started shortly before the check, or its first answer took more than 10 s.',
    todo: 'Wait and check again, or use --patience cold.',
    now: (args) => (has(args, 'ended') ? 'Give it longer with --timeout.' : ''),
  },
  RESPONSE_INVALID: {
    says: (args) =>
      value(args, 'at', '') === 'ws'
        ? `The WebSocket sends frames that cannot be read (${value(args, 'problem', 'broken')}), so we closed it`
        : `${where(args)} answers with a body that cannot be read (${value(args, 'problem', 'invalid')})`,
    means:
      'The answer was cut, too large, not UTF-8, not the JSON that it claims to be, or a decompression bomb.',
    seen: 'The body broke a limit (4 MiB, pages 16 MiB; a WebSocket frame 64 MiB) or did not parse; nothing of it was believed.',
    todo: 'Check what really listens there and what a proxy does to bodies (compression, buffering, size limits).',
  },
  WRONG_SERVICE: {
    says: (args) =>
      value(args, 'wanted', '') === 'api-server'
        ? `A Hermes dashboard answers at ${where(args)}, not the gateway’s API server`
        : `Something else answers at ${where(args)}${has(args, 'title') ? `: “${value(args, 'title', '')}”` : has(args, 'server') ? ` (server: ${value(args, 'server', '')})` : ''}, not a Hermes dashboard`,
    means: 'Another program has the port, or the address belongs to another site.',
    seen: '/api/status is not the status of a Hermes dashboard: no `version` beside the fields that every release has.',
    todo: 'Name the right address; on the machine itself `hermes-compat detect local` lists the dashboards that run there.',
    now: (args) =>
      value(args, 'wanted', '') === 'api-server'
        ? 'Leave --mode legacy out, or give the address of the API server (often port 8642).'
        : '',
  },
  API_SERVER_NOT_DASHBOARD: {
    says: (args) => `${where(args)} is the gateway’s API server, not the dashboard`,
    means:
      'The API server (often port 8642) has no /api/ws; dashboard clients need the dashboard (often port 9119).',
    seen: '/api/status is 404 there and /health says `platform: hermes-agent`.',
    todo: 'Use the dashboard’s address, or check this one with --mode legacy.',
  },
};
