/**
 * A dashboard that behaves like a chosen engine release, or like a broken one, and a scripted model provider: for tests of clients.
 *
 * ```ts
 * import { startSimulator } from 'hermes-compat/simulate';
 * const engine = await startSimulator({ release: '0.19.0', faults: ['drop-upgrade'] });
 * // engine.url, engine.token
 * await engine.close();
 * ```
 */
export { startSimulator } from './simulator.ts';
export type { Simulator, SimulatorOptions } from './options.ts';
export { releases } from './release/table.ts';
export type { Release } from './release/types.ts';
export { faults } from './faults/list.ts';
export { startProvider } from './provider/server.ts';
export type { Provider, ProviderOptions, ProviderRequest } from './provider/server.ts';
export { scenarios } from './provider/scenarios.ts';
