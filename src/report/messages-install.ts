import type { Messages } from './message.ts';
import { few, has, value } from './message.ts';

/** The install, the process that runs it, and the page that it serves. */
export const installMessages: Messages = {
  DASHBOARD_NOT_RUNNING: {
    says: (args) =>
      `No dashboard is running; ${value(args, 'install', 'the install')} was judged from its files`,
    means:
      'Files and release data tell what a start would give, with less certainty than a running dashboard.',
    seen: 'No dashboard process and no listener of this home, and no --url.',
    todo: 'Start it with `hermes-compat launch`, or check with --start.',
  },
  INSTALL_NOT_FOUND: {
    says: (args) => `No install of Hermes Agent was found (${placesWord(value(args, 'places', ''))})`,
    means: 'There is nothing to judge or to fix on this machine, or it lies where nobody looks.',
    seen: 'PATH, the usual folders, package tools and running processes were searched.',
    todo: 'Name it: `hermes-compat doctor local:/path` takes a HERMES_HOME, an install root, a venv or a hermes script.',
  },
  MULTI_INSTALL: {
    says: (args) =>
      `The dashboard runs ${value(args, 'served', 'one install')}, but \`hermes\` on PATH is ${value(args, 'onPath', 'another')}`,
    means: 'Updates and fixes made by the command on PATH do not reach the dashboard.',
    seen: 'The install of the serving process and the first hermes on PATH differ.',
    todo: 'Update and patch the install that serves, or start the dashboard from the one on PATH.',
  },
  INSTALL_EDITED: {
    says: (args) => `The engine’s own files were edited: ${few(args, 'files', 'some')}`,
    means: 'An update may drop, park or collide with these edits.',
    seen: 'Hashes of RECORD, or git status, against the files.',
    todo: 'Know what the edits are for; `hermes-compat patch status` tells ours and Hermes One’s apart.',
  },
  ORPHAN_BACKEND: {
    says: (args) =>
      `Another dashboard of the same home is running: pid ${value(args, 'pid', '?')}${has(args, 'port') ? ` on port ${value(args, 'port', '')}` : ''}`,
    means: 'Clients may talk to different processes, and the older one keeps old code and its own token.',
    seen: 'Two dashboard processes with the same HERMES_HOME.',
    todo: 'End the one that nobody uses, by its pid.',
  },
  PROFILE_HOME_MISMATCH: {
    says: (args) =>
      `You asked for the home ${value(args, 'asked', '?')}; the dashboard serves ${value(args, 'served', '?')}`,
    means:
      'Sessions, models and patches of the one are not those of the other. From 0.17 on one dashboard serves the root home.',
    seen: 'hermes_home of the running dashboard against --home, --profile, HERMES_HOME and active_profile.',
    todo: 'Name the home that is served, or start a dashboard for yours (from 0.17 on with --isolated).',
  },
  ENGINE_BROKEN_PACKAGE: {
    says: (args) =>
      `The package is broken: Hermes Agent ${value(args, 'version', '')} lacks the module ${value(args, 'module', '?')}, so no dashboard starts`,
    means:
      'The wheels of 0.15.0 to 0.15.2 were published without it; the dashboard ends with ModuleNotFoundError.',
    seen: 'A module that hermes_cli.web_server imports is not among the installed files.',
    todo: 'Update to 0.16.0 or newer.',
  },
  WEB_BUILD_MISSING: {
    says: (args) =>
      has(args, 'path')
        ? `There is no web build at ${value(args, 'path', '')}`
        : has(args, 'tokenInPage')
          ? `Hermes Agent ${value(args, 'version', '')} shows its token only in its page, and the page is not built`
          : 'The dashboard has no web build: its page is missing, the API works',
    means: 'Clients that read the token from the page cannot; those with a token can.',
    seen: 'GET / says “Frontend not built”, or the package has no web_dist.',
    todo: 'Give clients the token, or point HERMES_WEB_DIST to a web build of the same release.',
    now: (args) =>
      has(args, 'tokenInPage')
        ? 'Give launch a built page with --web-dist (the web_dist folder of 0.14.0 fits 0.13.0), or update to 0.16 or newer.'
        : '',
  },
  WEB_BUILD_STALE: {
    says: () => 'The web build is older than the server that delivers it',
    means: 'The browser may call endpoints that are gone, or miss new ones.',
    seen: 'The built files are older than the code of the install.',
    todo: 'Build it again with the engine’s updater, or in its web folder with npm run build.',
  },
  HEADLESS: {
    says: () => 'The dashboard runs headless: it serves no page',
    means: 'API and WebSocket work; a browser gets nothing and no token can be read from it.',
    seen: 'GET / says “Headless backend”, or the process is `serve`.',
    todo: 'Nothing, unless a browser should use it: then start the dashboard instead of serve.',
  },
  CANONICAL_GATEWAY_PRESENT: {
    says: () => 'A gateway owns the sessions of this home (0.22 and newer)',
    means: 'Newer clients talk to it with tickets of `hermes gateway`; the dashboard is a second way in.',
    seen: 'A gateway process of the same home beside the dashboard.',
    todo: 'Nothing, as long as the dashboard answers.',
  },
  RESTART_REQUIRED: {
    says: (args) =>
      `The running dashboard (pid ${value(args, 'pid', '?')}, ${value(args, 'owner', 'unknown owner')}) is older than its code on disk`,
    means: 'An update or edit came after its start; it keeps the old code until it is restarted.',
    seen: 'Code files of its install changed after the process started.',
    todo: 'Restart it the way that it was started.',
  },
  WEB_ASSETS_BROKEN: {
    says: (args) =>
      `The page loads, its script does not (${value(args, 'script', '')} ${has(args, 'status') ? `answers ${value(args, 'status', '')}` : ''})`,
    means: 'A browser shows an empty page although the API works.',
    seen: 'The script that the page names is not JavaScript at the place that it points to.',
    todo: 'Check the prefix in the proxy, or rebuild the web files.',
  },
  BASE_PATH_MISMATCH: {
    says: (args) =>
      `The page believes that it lives at “${value(args, 'page', '/')}”, but it is reached at “${value(args, 'url', '/')}”`,
    means: 'Programs work; in a browser, scripts and the WebSocket go to the wrong path.',
    seen: '__HERMES_BASE_PATH__ of the page against the path of the address.',
    todo: 'Send X-Forwarded-Prefix with the prefix from the proxy.',
  },
  TOKEN_DRIFT: {
    says: (args) => `Two places name different tokens: ${value(args, 'places', '')}`,
    means: 'One of them is not what the dashboard uses; a client that reads it is refused.',
    seen: 'Fingerprints of the token in the process environment, in .env and of the one given.',
    todo: 'Keep one place. From 0.16 to 0.20 .env wins over the environment; in 0.22 the environment wins.',
  },
};

const placesWord = (places: string): string =>
  places === '' ? 'nowhere was looked' : `looked at ${places.split(', ').length} places`;
