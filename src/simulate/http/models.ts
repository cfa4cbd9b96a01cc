import type { World } from '../world.ts';

type Json = Record<string, unknown>;

const provider = (world: World, slug: string): Json => {
  const own = slug === 'simulated';
  const mixture = slug === 'moa';
  const models = own ? ['simulated-1', 'simulated-2'] : mixture ? ['default'] : [];
  return {
    slug,
    name: mixture ? 'Mixture of Agents' : own ? 'Simulated' : slug,
    is_current: own && world.model.provider === 'simulated',
    is_user_defined: own,
    models,
    total_models: models.length,
    source: mixture ? 'virtual' : own ? 'model-config' : 'canonical',
    authenticated: own || mixture,
    auth_type: mixture ? 'virtual' : 'api_key',
    ...(models.length === 0 && { key_env: '', warning: 'run `hermes model` to configure (api_key)' }),
  };
};

/** `model.options` over RPC, and `/api/model/options`: what an engine without configuration offers. */
export const modelOptions = (world: World, slugs: readonly string[], byDefault: string): Json => {
  const { model, provider: current } = world.model;
  const chosen = current === '' ? slugs : [...slugs, current];
  return {
    providers: chosen.map((slug) => provider(world, slug)),
    model: model === '' ? byDefault : model,
    provider: current,
  };
};

export const modelInfo = (world: World): Json => ({
  model: world.model.model,
  provider: world.model.provider,
  auto_context_length: 0,
  config_context_length: 0,
  effective_context_length: 0,
  capabilities: {},
});
