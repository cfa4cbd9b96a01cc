import { agents, head, oldStatus, openPaths } from './status-fields.ts';
import type { Release } from './types.ts';

/** Releases of the package `hermes-agent`, each as a difference to the one before. */

const oldInfo = ['model', 'tools', 'skills', 'cwd', 'lazy'] as const;
const contractInfo = [
  'model',
  'tools',
  'skills',
  'cwd',
  'branch',
  'lazy',
  'desktop_contract',
  'profile_name',
] as const;
const projectInfo = [
  'model',
  'tools',
  'skills',
  'cwd',
  'branch',
  'project',
  'lazy',
  'desktop_contract',
  'profile_name',
] as const;

/** Providers that an engine lists before any is set up. */
const catalogue =
  'nous openrouter novita lmstudio anthropic openai-codex openai-api alibaba xai-oauth xiaomi tencent-tokenhub nvidia copilot copilot-acp huggingface gemini google-gemini-cli deepseek xai zai kimi-coding kimi-coding-cn stepfun minimax minimax-oauth minimax-cn ollama-cloud arcee gmi kilocode opencode-zen opencode-go bedrock azure-foundry qwen-oauth alibaba-coding-plan custom'.split(
    ' ',
  );
const catalogue14 = [...catalogue.filter((slug) => slug !== 'openai-api'), 'ai-gateway'];
const catalogue13 = catalogue14.filter((slug) => slug !== 'xai-oauth');

const boundHost = 'Invalid Host header. Dashboard requests must use the hostname the server was bound to.';
export const v14: Release = {
  version: '0.14.0',
  releaseDate: '2026.5.16',
  generation: 'G0',
  contract: null,
  configVersion: 23,
  source: 'package',
  status: oldStatus,
  openOnly: [],
  health: null,
  chat: 'setting',
  webBuild: true,
  script: 'index-Cf3a3-pl.js',
  globals: ['token', 'chat', 'basePath'],
  unknownApi: 'page',
  unbuiltHidesApi: true,
  unbuiltAssetsFail: false,
  pluginGuard: false,
  headless: 'none',
  hostSentence: boundHost,
  corsOutermost: false,
  socketGuards: 'none',
  forwardedPeer: true,
  console: null,
  ready: [],
  pings: 'always',
  numbered: false,
  serverRequests: false,
  authRoutes: false,
  gate: null,
  meWithoutGate: 'unauthorized',
  defaultModel: 'anthropic/claude-sonnet-4',
  info: oldInfo,
  storedIdInCreate: false,
  restProviders: [],
  rpcProviders: catalogue14,
  sessionsExtra: [],
};

export const v13: Release = {
  ...v14,
  version: '0.13.0',
  releaseDate: '2026.5.7',
  webBuild: false,
  rpcProviders: catalogue13,
};

/** The published package lacks a module and cannot start; measured with that module added. */
export const v15: Release = {
  ...v14,
  version: '0.15.2',
  releaseDate: '2026.5.29.2',
  configVersion: 24,
  status: [...oldStatus, 'auth_required', 'auth_providers'],
  script: 'index-Biiuh3zm.js',
  globals: ['token', 'chat', 'basePath', 'authRequired'],
  socketGuards: 'all-origins',
  forwardedPeer: false,
  authRoutes: true,
  info: [...oldInfo, 'profile_name'],
  rpcProviders: catalogue,
};

export const v16: Release = {
  ...v15,
  version: '0.16.0',
  releaseDate: '2026.6.5',
  generation: 'G1',
  contract: 1,
  configVersion: 27,
  chat: 'always',
  script: 'index-D6vfG-wo.js',
  unknownApi: 'json',
  socketGuards: 'web-origins',
  gate: {
    providerCookie: false,
    bearer: false,
    subprotocolTicket: false,
    pagesLeadTo: 'login',
    secureDeletions: false,
    prefixedNext: false,
  },
  info: contractInfo,
  storedIdInCreate: true,
};

export const v17: Release = {
  ...v16,
  version: '0.17.0',
  releaseDate: '2026.6.19',
  contract: 2,
  configVersion: 30,
  status: [...head, 'active_sessions', 'auth_required', 'auth_providers'],
  openOnly: openPaths,
  script: 'index-D_cUm4EQ.js',
  restProviders: catalogue,
};

const gate18 = {
  providerCookie: false,
  bearer: false,
  subprotocolTicket: false,
  pagesLeadTo: 'provider',
  secureDeletions: false,
  prefixedNext: false,
} as const;
export const gate19 = { ...gate18, providerCookie: true, pagesLeadTo: 'login' } as const;

export const v18: Release = {
  ...v17,
  version: '0.18.2',
  releaseDate: '2026.7.7.2',
  configVersion: 33,
  status: [...head, ...agents, 'nous_session_valid', 'profiles', 'gateway_mode'],
  openOnly: [...openPaths, 'gateways'],
  script: 'index-CBTV-n-R.js',
  pluginGuard: true,
  headless: 'json',
  console: ['context', 'profile', 'prompt'],
  pings: 'beyond-loopback',
  gate: gate18,
  restProviders: ['moa'],
  rpcProviders: ['moa'],
};

export const v19: Release = {
  ...v18,
  version: '0.19.0',
  releaseDate: '2026.7.20',
  contract: 4,
  script: 'index-DE8KfxAS.js',
  console: ['profile', 'prompt'],
  gate: gate19,
  defaultModel: 'z-ai/glm-5.2',
  info: projectInfo,
};
