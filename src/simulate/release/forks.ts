import { gate19, v19 } from './packages.ts';
import { agents, head, heartbeat, measured } from './status-fields.ts';
import type { Release } from './types.ts';

/** Releases that only forks publish, each as a difference to the one before. */

const gate20 = { ...gate19, bearer: true } as const;
const gate21 = { ...gate20, secureDeletions: true, subprotocolTicket: true } as const;

const publicHost =
  'Invalid Host header. Dashboard requests must use the bound hostname or the configured public hostname.';

export const v20: Release = {
  ...v19,
  version: '0.20.0.post2',
  releaseDate: '2026.8.3',
  contract: 5,
  source: 'fork',
  status: [
    ...head,
    ...agents,
    'auth_flows',
    'nous_session_valid',
    'components',
    'overall',
    'profiles',
    'gateway_mode',
  ],
  health: ['ok', 'version', 'auth_required'],
  webBuild: false,
  ready: ['change_events'],
  gate: gate20,
};

export const v21: Release = {
  ...v20,
  version: '0.21.0.post1',
  releaseDate: '2026.8.31',
  contract: 6,
  configVersion: 39,
  status: [
    ...head,
    ...agents,
    'auth_flows',
    'nous_session_valid',
    'install_id',
    ...measured,
    'profiles',
    'gateway_mode',
  ],
  unbuiltHidesApi: false,
  unbuiltAssetsFail: true,
  hostSentence: publicHost,
  headless: 'page',
  ready: ['change_events', 'heartbeat', 'replay_epoch'],
  numbered: true,
  gate: gate21,
  restProviders: ['moa', 'opencode-free'],
  rpcProviders: ['moa', 'opencode-free'],
};

export const v214: Release = {
  ...v21,
  version: '0.21.4.post1',
  releaseDate: '2026.9.21',
  generation: 'G2',
  contract: 7,
  configVersion: 45,
  status: [
    ...head,
    ...heartbeat,
    ...agents,
    'auth_flows',
    'nous_session_valid',
    'install_id',
    ...measured,
    'profiles',
    'gateway_mode',
  ],
  serverRequests: true,
  restProviders: ['moa'],
  rpcProviders: ['moa'],
};

export const v222: Release = {
  ...v214,
  version: '0.22.2.post1',
  releaseDate: '2026.9.24',
  contract: 8,
  configVersion: 50,
  status: [
    ...head,
    ...heartbeat,
    ...agents,
    'auth_flows',
    'nous_session_valid',
    'install_id',
    'shared_profile_warning',
    ...measured,
    'profiles',
    'parked_profiles',
    'gateway_mode',
    'multiplex_standalone_reason',
  ],
  health: ['ok', 'version', 'displayVersion', 'commit', 'auth_required'],
  globals: ['token', 'chat', 'basePath', 'authRequired', 'initialProfile', 'profile'],
  corsOutermost: true,
  gate: { ...gate21, prefixedNext: true },
  meWithoutGate: 'local-user',
  restProviders: [],
  rpcProviders: [],
  sessionsExtra: ['storage'],
};
