/** Names in `/api/status`, in runs that releases share. */

export const oldStatus = [
  'version',
  'release_date',
  'hermes_home',
  'config_path',
  'env_path',
  'config_version',
  'latest_config_version',
  'gateway_running',
  'gateway_pid',
  'gateway_health_url',
  'gateway_state',
  'gateway_platforms',
  'gateway_exit_reason',
  'gateway_updated_at',
  'active_sessions',
];
export const openPaths = ['hermes_home', 'config_path', 'env_path', 'gateway_pid', 'gateway_health_url'];
export const head = [
  'version',
  'release_date',
  'config_version',
  'latest_config_version',
  'can_update_hermes',
  'gateway_running',
  'gateway_state',
  'gateway_platforms',
  'gateway_exit_reason',
  'gateway_updated_at',
];
export const agents = [
  'active_agents',
  'gateway_busy',
  'gateway_drainable',
  'restart_drain_timeout',
  'active_sessions',
  'auth_required',
  'auth_providers',
];

export const measured = ['components', 'overall', 'memory', 'disk'];

export const heartbeat = ['gateway_heartbeat_stale_s', 'gateway_shared_with'];
