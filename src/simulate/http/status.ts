import type { World } from '../world.ts';

type Json = Record<string, unknown>;

const gatewayStopped = { status: 'degraded', state: 'stopped' };

/** Every value that some release puts into `/api/status`, for an engine whose gateway does not run. */
const statusValues = (world: World): Json => ({
  version: world.release.version,
  release_date: world.release.releaseDate,
  hermes_home: world.home,
  config_path: `${world.home}/config.yaml`,
  env_path: `${world.home}/.env`,
  config_version: world.release.configVersion,
  latest_config_version: world.release.configVersion,
  can_update_hermes: false,
  gateway_running: false,
  gateway_pid: null,
  gateway_health_url: null,
  gateway_state: null,
  gateway_platforms: {},
  gateway_exit_reason: null,
  gateway_updated_at: null,
  gateway_heartbeat_stale_s: null,
  gateway_shared_with: null,
  active_agents: 0,
  gateway_busy: false,
  gateway_drainable: false,
  restart_drain_timeout: 0,
  active_sessions: 0,
  auth_required: world.gate !== null,
  auth_providers: world.gate === null ? [] : ['basic'],
  auth_flows: world.gate === null ? [] : ['cookie', 'native_pkce'],
  nous_session_valid: 'unknown',
  install_id: world.installId,
  shared_profile_warning: false,
  components: {
    gateway: gatewayStopped,
    dashboard: { status: 'ok', recent_unhandled_errors: 0, last_error_at: null, selftest: 'unknown' },
    storage: { status: 'ok' },
    platforms: { status: 'ok', configured: 0, connected: 0 },
  },
  overall: 'degraded',
  memory: {
    pressure: 'unknown',
    gateway_rss_mb: null,
    system_total_mb: null,
    system_available_mb: null,
    swap_used_mb: null,
    sampled_at: null,
    last_boot_unclean: false,
    last_boot_suspected_oom: false,
    boot_id: null,
  },
  disk: { pressure: 'ok', total_mb: 100_000, free_mb: 60_000, used_percent: 40 },
  profiles: ['default'],
  parked_profiles: [],
  gateway_mode: 'none',
  multiplex_standalone_reason: null,
  gateways: [],
});

/** Body of `GET /api/status`. */
export const statusBody = (world: World): Json => {
  const values = statusValues(world);
  const names = [...world.release.status, ...(world.gate === null ? world.release.openOnly : [])];
  return Object.fromEntries(names.map((name) => [name, values[name]]));
};

/** Body of `GET /api/health`, of releases that have it. */
export const healthBody = (world: World): Json => {
  const { version } = world.release;
  const values: Json = {
    ok: true,
    version,
    displayVersion: version,
    commit: null,
    auth_required: world.gate !== null,
  };
  return Object.fromEntries((world.release.health ?? []).map((name) => [name, values[name]]));
};
