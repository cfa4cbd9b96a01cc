// hermes-compat has no page of its own; registering keeps the dashboard from reporting a plugin that failed to load.
window.__HERMES_PLUGINS__?.register('hermes-compat', () => null);
