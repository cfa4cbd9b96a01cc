import { apiServer } from './api-server.ts';
import { capabilityChecks } from './capability.ts';
import type { CheckDefinition } from './check.ts';
import { compatFolder } from './compat-folder.ts';
import { contract } from './contract.ts';
import { credential } from './credential.ts';
import { dashboard } from './dashboard.ts';
import { enginePackage } from './engine-package.ts';
import { exposure } from './exposure.ts';
import { gateway } from './gateway.ts';
import { home } from './home.ts';
import { hostNotes } from './host-notes.ts';
import { install } from './install.ts';
import { installs } from './installs.ts';
import { loginCookie } from './login-cookie.ts';
import { overlay } from './overlay.ts';
import { page } from './page.ts';
import { patches } from './patches.ts';
import { processes } from './processes.ts';
import { reach } from './reach.ts';
import { residue } from './residue.ts';
import { restart } from './restart.ts';
import { rpc } from './rpc.ts';
import { servedHome } from './served-home.ts';
import { sessionList } from './session-list.ts';
import { sourceEdits } from './source-edits.ts';
import { stability } from './stability.ts';
import { tokenSources } from './token-sources.ts';
import { websocket } from './websocket.ts';
import { writable } from './writable.ts';
import { wsHold } from './ws-hold.ts';

/** Every check, in the order of the report: reaching it, the credential, the WebSocket, what it offers, then install, process and leftovers. */
export const checks: readonly CheckDefinition[] = [
  reach,
  apiServer,
  stability,
  credential,
  loginCookie,
  tokenSources,
  websocket,
  rpc,
  wsHold,
  sessionList,
  contract,
  ...capabilityChecks,
  page,
  exposure,
  dashboard,
  install,
  installs,
  enginePackage,
  processes,
  home,
  servedHome,
  gateway,
  restart,
  overlay,
  patches,
  sourceEdits,
  compatFolder,
  residue,
  writable,
  hostNotes,
];
