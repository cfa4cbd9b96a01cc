import type { LaunchFailure } from '../launch/classify.ts';
import type { LaunchDocument, StopDocument } from '../launch/schema.ts';

/** Text of `launch` and `stop`: documents in, lines out. */

/** What stands in the way, and what helps, as sentences. */
export function launchFailureText({ code, args }: LaunchFailure): { what: string; help: string } {
  const at = (key: string): string => String(args[key]);
  const has = (key: string): boolean => args[key] !== null && args[key] !== undefined;
  switch (code) {
    case 'ENGINE_BROKEN_PACKAGE':
      return {
        what: `the installed package lacks the module ${at('module')}, which its dashboard imports`,
        help: 'update the engine (0.15.x from PyPI: to 0.16 or newer), or reinstall it',
      };
    case 'PORT_IN_USE':
      return {
        what: `port ${at('port')} is taken${has('pid') ? ` by process ${at('pid')}${has('command') ? ` (${at('command')})` : ''}` : ''}`,
        help: 'end that process, or choose another port with --port; without --port a free one is taken',
      };
    case 'BIND_REFUSED':
      return { what: bindText(at('host'), at('reason')), help: bindHelp(at('reason')) };
    case 'FLAG_UNSUPPORTED':
      return { what: `this version does not know ${at('flag')}`, help: 'leave it out' };
    case 'WEB_BUILD_MISSING':
      return webBuildText(has('path') ? at('path') : null, has('version') ? at('version') : null);
    case 'HOME_UNREADABLE':
      return args['missing'] === true
        ? { what: `${at('path')} does not exist`, help: 'name an existing home with --home' }
        : { what: `${at('path')} cannot be read by this user`, help: 'run it as its owner' };
    case 'HOME_READ_ONLY':
      return {
        what: `${at('path')} cannot be written by this user, or is not a folder that only this user can write to`,
        help: 'run it as its owner, or choose another home with --home',
      };
    case 'ENGINE_DIED':
      return {
        what: has('exitCode')
          ? `the engine ended with status ${at('exitCode')}`
          : 'the engine could not be started',
        help: 'its last lines are above',
      };
    case 'ENGINE_ERROR':
      return {
        what: `/api/status answers HTTP ${at('status')}`,
        help: "see logs/errors.log in the engine's home",
      };
    case 'SLOW_START':
      return {
        what: `it did not answer within ${at('seconds')} s and was ended`,
        help: 'try a longer --timeout; the first start after an install or update is the slowest',
      };
    case 'CHAT_DISABLED':
      return {
        what: has('env')
          ? `chat stays off: ${at('home')}/.env sets HERMES_DASHBOARD_TUI=${at('env')}, which wins over the environment`
          : 'chat stays off in this dashboard',
        help: has('env')
          ? 'remove that line or set it to 1'
          : 'bind 127.0.0.1: this version opens chat only there',
      };
    case 'WS_LIB_MISSING':
      return {
        what: `/api/ws answers as a plain page (HTTP ${at('status')}): no WebSocket library in the engine's environment`,
        help: "install `uvicorn[standard]` into the engine's environment",
      };
    case 'WS_REFUSED':
      return { what: '/api/ws does not open with its own token', help: 'run doctor for the cause' };
    case 'WS_SILENT':
      return {
        what: '/api/ws opens but answers no request',
        help: "see logs/errors.log in the engine's home",
      };
    default:
      return code satisfies never;
  }
}

function bindText(host: string, reason: string): string {
  if (reason === 'guard') return `this version binds ${host} only with a login configured`;
  if (reason === 'permission') return `this user may not bind that port on ${host}`;
  if (reason === 'no-such-name') return 'the name given to --host has no address';
  return `${host} is no address of this machine`;
}

function bindHelp(reason: string): string {
  if (reason === 'guard') return 'bind 127.0.0.1 and use a tunnel, or configure a login (0.16 and newer)';
  return reason === 'permission' ? 'choose a port above 1023' : 'choose another --host';
}

const webBuildText = (path: string | null, version: string | null): { what: string; help: string } =>
  path === null
    ? {
        what: `the web page, ${version === null ? '' : `where ${version} shows its token, `}is not built, so no client can learn the token`,
        help: 'give a built web_dist folder with --web-dist (the one of 0.14.0 fits 0.13.0), or update to 0.16 or newer',
      }
    : {
        what: `there is no web build at ${path}`,
        help: 'give a built web_dist folder with --web-dist, or none',
      };

/** The human report of a launch that went well. */
export function launchedText(document: LaunchDocument): string {
  if (document.outcome === 'printed') return `${document.shell.join('\n')}\n`;
  const { url, pid, tokenFile, log, ws, why, version, install } = document;
  const rows: [string, string][] = [
    ['Dashboard', String(url)],
    ['Process', `${pid}, Hermes ${version ?? 'of unknown version'} in ${install}`],
    ['Token', tokenFile === null ? tokenless[why ?? 'gated'] : `in ${tokenFile}`],
    ['Chat', ws === 'open' ? '/api/ws opens and answers' : 'not tried: there is no token to try it with'],
    ['Log', String(log)],
    ['End it', `hermes-compat stop --port ${document.port}`],
  ];
  return `${rows.map(([name, value]) => `${name.padEnd(11)}${value}`).join('\n')}\n`;
}

const tokenless = {
  gated: 'none: this dashboard wants a login',
  'token-in-env-file': "the one in the home's .env, which we do not read",
};

export function stoppedText({ stopped }: StopDocument): string {
  if (stopped.length === 0) return 'Nothing that launch started is on record here.\n';
  const line = ({ pid, port, outcome, log }: StopDocument['stopped'][number]): string => {
    const which = `process ${pid} on port ${port}`;
    switch (outcome) {
      case 'stopped':
        return `Ended ${which}.`;
      case 'killed':
        return `Ended ${which}; it took SIGKILL.`;
      case 'gone':
        return `The ${which} had ended by itself; nothing was signalled. Its log: ${log}`;
      case 'denied':
        return `The ${which} belongs to another user; it was left alone.`;
      case 'alive':
        return `The ${which} outlived SIGKILL.`;
      default:
        return outcome satisfies never;
    }
  };
  return `${stopped.map(line).join('\n')}\n`;
}
