import type { World } from '../world.ts';

/** First frame of `/api/ws`, pushed without a request. */
export const gatewayReady = (world: World): unknown => {
  const values = { change_events: true, heartbeat: true, replay_epoch: world.epoch };
  const payload = {
    skin: { name: 'default', branding: { agent_name: 'Hermes Agent' } },
    ...Object.fromEntries(world.release.ready.map((name) => [name, values[name]])),
  };
  return { jsonrpc: '2.0', method: 'event', params: { type: 'gateway.ready', payload } };
};

/** First frame of `/api/console`. */
export const consoleReady = (world: World): unknown => {
  const values = { context: 'local', profile: 'current', prompt: 'hermes> ' };
  return {
    type: 'ready',
    ...Object.fromEntries((world.release.console ?? []).map((name) => [name, values[name]])),
  };
};
