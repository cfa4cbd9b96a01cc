import { capabilityChecks } from './capability.ts';
import type { CheckDefinition } from './check.ts';
import { contract } from './contract.ts';
import { credential } from './credential.ts';
import { dashboard } from './dashboard.ts';
import { enginePackage } from './engine-package.ts';
import { install } from './install.ts';
import { reach } from './reach.ts';
import { rpc } from './rpc.ts';
import { stability } from './stability.ts';
import { websocket } from './websocket.ts';

/** Every check, in the order of the report: reaching it, the credential, the WebSocket, what it offers, then install and process. */
export const checks: readonly CheckDefinition[] = [
  reach,
  stability,
  credential,
  websocket,
  rpc,
  contract,
  ...capabilityChecks,
  dashboard,
  install,
  enginePackage,
];
