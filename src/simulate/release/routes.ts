import { bundledPlugins, bundledUntil } from './plugin-routes.ts';

/**
 * The REST routes of each release, as its `/openapi.json` lists them. A route not listed here gets the release's answer for unknown
 * paths; one that is listed but not modelled gets 501 and says so.
 */

interface RouteGroup {
  since: string;
  routes: string;
}

export interface Route {
  method: string;
  /** With `{name}` for one segment. */
  path: string;
}

const groups: readonly RouteGroup[] = [
  {
    since: '0.13.0',
    routes: `
      GET /api/status, POST /api/gateway/restart, POST /api/hermes/update, GET /api/actions/{name}/status,
      GET /api/sessions, GET /api/sessions/search, GET /api/config, PUT /api/config, GET /api/config/defaults,
      GET /api/config/schema, GET /api/model/info, GET /api/model/options, GET /api/model/auxiliary,
      POST /api/model/set, GET /api/env, PUT /api/env, DELETE /api/env, POST /api/env/reveal,
      GET /api/providers/oauth, DELETE /api/providers/oauth/{provider_id},
      POST /api/providers/oauth/{provider_id}/start, POST /api/providers/oauth/{provider_id}/submit,
      GET /api/providers/oauth/{provider_id}/poll/{session_id},
      DELETE /api/providers/oauth/sessions/{session_id}, GET /api/sessions/{session_id},
      DELETE /api/sessions/{session_id}, GET /api/sessions/{session_id}/latest-descendant,
      GET /api/sessions/{session_id}/messages, GET /api/logs, GET /api/cron/jobs, POST /api/cron/jobs,
      GET /api/cron/jobs/{job_id}, PUT /api/cron/jobs/{job_id}, DELETE /api/cron/jobs/{job_id},
      POST /api/cron/jobs/{job_id}/pause, POST /api/cron/jobs/{job_id}/resume,
      POST /api/cron/jobs/{job_id}/trigger, GET /api/profiles, POST /api/profiles,
      GET /api/profiles/{name}/setup-command, POST /api/profiles/{name}/open-terminal,
      PATCH /api/profiles/{name}, DELETE /api/profiles/{name}, GET /api/profiles/{name}/soul,
      PUT /api/profiles/{name}/soul, GET /api/skills, PUT /api/skills/toggle, GET /api/tools/toolsets,
      GET /api/config/raw, PUT /api/config/raw, GET /api/analytics/usage, GET /api/analytics/models,
      GET /api/dashboard/themes, PUT /api/dashboard/theme, GET /api/dashboard/plugins,
      GET /api/dashboard/plugins/rescan, GET /api/dashboard/plugins/hub,
      POST /api/dashboard/agent-plugins/install, POST /api/dashboard/agent-plugins/{name}/enable,
      POST /api/dashboard/agent-plugins/{name}/disable, POST /api/dashboard/agent-plugins/{name}/update,
      DELETE /api/dashboard/agent-plugins/{name}, PUT /api/dashboard/plugin-providers,
      POST /api/dashboard/plugins/{name}/visibility, GET /dashboard-plugins/{plugin_name}/{file_path}`,
  },
  {
    since: '0.15.2',
    routes: `
      GET /login, GET /api/auth/providers, GET /auth/login, GET /auth/callback, POST /auth/password-login,
      POST /auth/logout, GET /api/auth/me, POST /api/auth/ws-ticket`,
  },
  {
    since: '0.16.0',
    routes: `
      GET /api/system/stats, GET /api/curator, PUT /api/curator/paused, POST /api/curator/run, GET /api/portal,
      POST /api/ops/prompt-size, POST /api/ops/dump, POST /api/ops/config-migrate, POST /api/ops/debug-share,
      GET /api/hermes/update/check, POST /api/audio/transcribe, GET /api/audio/elevenlabs/voices,
      POST /api/audio/speak, GET /api/profiles/sessions, GET /api/model/recommended-default,
      POST /api/providers/validate, POST /api/messaging/telegram/onboarding/start,
      GET /api/messaging/telegram/onboarding/{pairing_id},
      DELETE /api/messaging/telegram/onboarding/{pairing_id},
      POST /api/messaging/telegram/onboarding/{pairing_id}/apply, GET /api/messaging/platforms,
      PUT /api/messaging/platforms/{platform_id}, POST /api/messaging/platforms/{platform_id}/test,
      POST /api/sessions/bulk-delete, GET /api/sessions/empty/count, DELETE /api/sessions/empty,
      GET /api/sessions/stats, PATCH /api/sessions/{session_id}, GET /api/sessions/{session_id}/export,
      POST /api/sessions/prune, GET /api/mcp/servers, POST /api/mcp/servers, DELETE /api/mcp/servers/{name},
      POST /api/mcp/servers/{name}/test, PUT /api/mcp/servers/{name}/enabled, GET /api/mcp/catalog,
      POST /api/mcp/catalog/install, GET /api/pairing, POST /api/pairing/approve, POST /api/pairing/revoke,
      POST /api/pairing/clear-pending, GET /api/webhooks, POST /api/webhooks, DELETE /api/webhooks/{name},
      PUT /api/webhooks/{name}/enabled, POST /api/gateway/start, POST /api/gateway/stop,
      GET /api/credentials/pool, POST /api/credentials/pool, DELETE /api/credentials/pool/{provider}/{index},
      GET /api/memory, PUT /api/memory/provider, POST /api/memory/reset, POST /api/ops/doctor,
      POST /api/ops/security-audit, POST /api/ops/backup, POST /api/ops/import, GET /api/ops/hooks,
      POST /api/ops/hooks, DELETE /api/ops/hooks, GET /api/ops/checkpoints, POST /api/ops/checkpoints/prune,
      POST /api/skills/hub/install, POST /api/skills/hub/uninstall, POST /api/skills/hub/update,
      GET /api/skills/hub/search, GET /api/profiles/active, POST /api/profiles/active,
      PUT /api/profiles/{name}/description, PUT /api/profiles/{name}/model,
      POST /api/profiles/{name}/describe-auto, PUT /api/tools/toolsets/{name},
      GET /api/tools/toolsets/{name}/config, PUT /api/tools/toolsets/{name}/provider`,
  },
  {
    since: '0.17.0',
    routes: `
      GET /api/media, GET /api/files, DELETE /api/files, GET /api/files/read, GET /api/files/download,
      POST /api/files/upload, POST /api/files/upload-stream, POST /api/files/mkdir, GET /api/fs/list,
      GET /api/fs/read-text, GET /api/fs/read-data-url, GET /api/fs/git-root, GET /api/fs/default-cwd,
      GET /api/memory/providers/{name}/config, PUT /api/memory/providers/{name}/config,
      GET /api/cron/jobs/{job_id}/runs, GET /api/cron/delivery-targets, POST /api/cron/fire,
      GET /api/cron/blueprints, POST /api/cron/blueprints/instantiate, POST /api/webhooks/enable,
      GET /api/skills/hub/sources, GET /api/skills/hub/preview, GET /api/skills/hub/scan, POST /api/skills,
      GET /api/skills/content, PUT /api/skills/content, PUT /api/tools/toolsets/{name}/env,
      POST /api/tools/toolsets/{name}/post-setup, GET /api/dashboard/font, PUT /api/dashboard/font`,
  },
  {
    since: '0.18.2',
    routes: `
      POST /api/memory/providers/{provider}/oauth/start, GET /api/memory/providers/{provider}/oauth/status,
      POST /api/fs/write-text, GET /api/git/status, GET /api/git/worktrees, GET /api/git/branches,
      GET /api/git/review/list, GET /api/git/review/diff, GET /api/git/file-diff,
      GET /api/git/review/commit-context, GET /api/git/review/rev-parse, GET /api/git/review/ship-info,
      POST /api/git/review/stage, POST /api/git/review/unstage, POST /api/git/review/revert,
      POST /api/git/review/commit, POST /api/git/review/push, POST /api/git/review/create-pr,
      POST /api/git/worktree/add, POST /api/git/worktree/remove, POST /api/git/branch/switch,
      GET /api/learning/graph, GET /api/learning/node, DELETE /api/learning/node, PUT /api/learning/node,
      POST /api/gateway/drain, POST /api/memory/providers/{name}/setup, GET /api/model/moa, PUT /api/model/moa,
      POST /api/messaging/whatsapp/onboarding/start, GET /api/messaging/whatsapp/onboarding/{pairing_id},
      DELETE /api/messaging/whatsapp/onboarding/{pairing_id},
      POST /api/messaging/whatsapp/onboarding/{pairing_id}/apply, PUT /api/mcp/servers,
      POST /api/mcp/servers/{name}/auth, GET /api/ops/backup/download, POST /api/ops/import-upload,
      GET /api/tools/toolsets/{name}/models, PUT /api/tools/toolsets/{name}/model,
      GET /api/tools/computer-use/status, POST /api/tools/computer-use/permissions/grant`,
  },
  {
    since: '0.19.0',
    routes: `
      POST /api/chat/image-upload, GET /api/git/base-branches, GET /api/profiles/sessions/sidebar,
      GET /api/providers/custom-endpoints, POST /api/providers/custom-endpoints,
      POST /api/providers/custom-endpoints/{endpoint_id}/activate,
      DELETE /api/providers/custom-endpoints/{endpoint_id}, POST /api/providers/custom-endpoints/validate,
      POST /api/sessions/import, GET /api/mcp/oauth/flows/{flow_id}, GET /api/mcp/oauth/callback/{server_name},
      GET /api/tools/terminal/backends, PUT /api/tools/terminal/backend`,
  },
  {
    since: '0.20.0',
    routes: `
      GET /api/ssh/ownership, GET /api/health, GET /api/egress/status, POST /api/profiles/{name}/export,
      POST /api/profiles/import, GET /api/profiles/{name}/desktop-overlay, GET /auth/native/authorize,
      POST /auth/native/token, POST /auth/native/refresh`,
  },
  {
    since: '0.21.0',
    routes: `
      HEAD /api/files/stream, GET /api/files/stream, GET /api/fs/download, GET /api/git/gh-auth,
      POST /api/git/review/pr-list, GET /api/audio/voice-config, GET /api/hermes/update/receipt,
      GET /api/profiles/projects/tree, POST /api/profiles/sessions/pull-requests,
      POST /api/sessions/owner-backfill, DELETE /api/mcp/oauth/flows/{flow_id}`,
  },
  {
    since: '0.21.4',
    routes: `
      GET /api/local-models/status, GET /api/local-models/hardware, GET /api/local-models/catalog,
      POST /api/local-models/runtime/install, POST /api/local-models/download,
      DELETE /api/local-models/models/{model_id}, POST /api/local-models/quickstart,
      POST /api/local-models/server, POST /api/local-models/eject, POST /api/local-models/activate,
      GET /api/local-models/jobs, GET /api/local-models/jobs/{job_id}, GET /api/local-models/search,
      GET /api/local-models/search/files, POST /api/local-models/download-browsed,
      POST /api/local-models/sideload, GET /api/host/identity, GET /api/health/idle, POST /api/health/retirement,
      GET /api/gateway/migrate/plan, POST /api/gateway/migrate, GET /api/audio/voice-live/status,
      POST /api/audio/voice-live/session, POST /api/audio/tts-lease, GET /api/sessions/{session_id}/timeline,
      GET /api/sessions/{session_id}/messages/around, GET /api/skills/hub/official,
      GET /api/dashboard/plugins/catalog`,
  },
  {
    since: '0.22.2',
    routes: `
      GET /api/media/proxy, POST /api/local-models/download/pause, POST /api/local-models/download/resume,
      POST /api/audio/stt-lease, GET /api/chat/workspaces, POST /api/dashboard/agent-plugins/activate,
      GET /api/shared-metrics/consent, PUT /api/shared-metrics/consent`,
  },
];

const order = [
  '0.13.0',
  '0.14.0',
  '0.15.2',
  '0.16.0',
  '0.17.0',
  '0.18.2',
  '0.19.0',
  '0.20.0',
  '0.21.0',
  '0.21.4',
  '0.22.2',
];

const position = (version: string): number =>
  order.findIndex((known) => version === known || version.startsWith(`${known}.post`));

/** Routes of a release, `0.20.0.post2` counting as 0.20.0. */
export const routesOf = (version: string): Route[] => {
  const at = position(version);
  const plugins =
    at <= position(bundledUntil) ? bundledPlugins.filter(({ notIn = [] }) => !notIn.includes(version)) : [];
  return [...groups, ...plugins]
    .filter(({ since }) => position(since) <= at)
    .flatMap(({ routes }) => routes.split(','))
    .map((route) => {
      const [method = '', path = ''] = route.trim().split(' ');
      return { method, path };
    });
};
