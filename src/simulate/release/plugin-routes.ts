/** Routes of the plugins that the packages 0.15 to 0.19 bring along, as each was seen; the forks bring none. */

export interface BundledPlugin {
  since: string;
  /** Releases later than `since` whose package lacks it. */
  notIn?: readonly string[];
  routes: string;
}

export const bundledUntil = '0.19.0';

export const bundledPlugins: readonly BundledPlugin[] = [
  {
    since: '0.15.2',
    routes: `
    GET /api/plugins/hermes-achievements/achievements, GET /api/plugins/hermes-achievements/scan-status,
    GET /api/plugins/hermes-achievements/recent-unlocks,
    GET /api/plugins/hermes-achievements/sessions/{session_id}/badges,
    POST /api/plugins/hermes-achievements/rescan, POST /api/plugins/hermes-achievements/reset-state`,
  },
  {
    since: '0.15.2',
    notIn: ['0.16.0'],
    routes: `
    GET /api/plugins/kanban/board, GET /api/plugins/kanban/tasks/{task_id},
    PATCH /api/plugins/kanban/tasks/{task_id}, DELETE /api/plugins/kanban/tasks/{task_id},
    POST /api/plugins/kanban/tasks, POST /api/plugins/kanban/tasks/{task_id}/comments,
    POST /api/plugins/kanban/links, DELETE /api/plugins/kanban/links, POST /api/plugins/kanban/tasks/bulk,
    GET /api/plugins/kanban/diagnostics, GET /api/plugins/kanban/workers/active,
    GET /api/plugins/kanban/runs/{run_id}, GET /api/plugins/kanban/runs/{run_id}/inspect,
    POST /api/plugins/kanban/tasks/{task_id}/reclaim, POST /api/plugins/kanban/tasks/{task_id}/specify,
    POST /api/plugins/kanban/tasks/{task_id}/reassign, GET /api/plugins/kanban/config,
    GET /api/plugins/kanban/home-channels,
    POST /api/plugins/kanban/tasks/{task_id}/home-subscribe/{platform},
    DELETE /api/plugins/kanban/tasks/{task_id}/home-subscribe/{platform}, GET /api/plugins/kanban/stats,
    GET /api/plugins/kanban/assignees, GET /api/plugins/kanban/tasks/{task_id}/log,
    POST /api/plugins/kanban/dispatch, GET /api/plugins/kanban/boards, POST /api/plugins/kanban/boards,
    PATCH /api/plugins/kanban/boards/{slug}, DELETE /api/plugins/kanban/boards/{slug},
    POST /api/plugins/kanban/boards/{slug}/switch, GET /api/plugins/kanban/profiles,
    PATCH /api/plugins/kanban/profiles/{profile_name},
    POST /api/plugins/kanban/profiles/{profile_name}/describe-auto,
    POST /api/plugins/kanban/tasks/{task_id}/decompose, GET /api/plugins/kanban/orchestration,
    PUT /api/plugins/kanban/orchestration`,
  },
  {
    since: '0.17.0',
    routes: `
    GET /api/plugins/kanban/tasks/{task_id}/attachments,
    POST /api/plugins/kanban/tasks/{task_id}/attachments,
    GET /api/plugins/kanban/attachments/{attachment_id},
    DELETE /api/plugins/kanban/attachments/{attachment_id},
    POST /api/plugins/kanban/runs/{run_id}/terminate`,
  },
  {
    since: '0.15.2',
    notIn: ['0.16.0', '0.17.0', '0.18.2', '0.19.0'],
    routes: 'GET /api/plugins/example/hello',
  },
];
