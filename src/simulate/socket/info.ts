import { since } from '../release/since.ts';
import type { Row, Session, World } from '../world.ts';

type Json = Record<string, unknown>;

const modelOf = (world: World, session?: Session): string =>
  session?.model ?? (world.model.model || world.release.defaultModel);

/** `info` of `session.create`; the only place that names the contract before a turn ran. */
export const lazyInfo = (world: World): Json => {
  const values = {
    model: modelOf(world),
    tools: {},
    skills: {},
    cwd: '/home/simulated',
    branch: '',
    project: null,
    lazy: true,
    desktop_contract: world.release.contract,
    profile_name: 'default',
  };
  return Object.fromEntries(world.release.info.map((name) => [name, values[name]]));
};

/** Payload of `session.info` once an agent is there. */
export const fullInfo = (world: World, running: boolean): Json => ({
  model: modelOf(world),
  ...(since(world.release, '0.17.0') && { provider: world.model.provider || 'simulated' }),
  reasoning_effort: '',
  service_tier: '',
  fast: false,
  tools: {},
  skills: {},
  cwd: '/home/simulated',
  version: world.release.version,
  release_date: world.release.releaseDate,
  ...(since(world.release, '0.16.0') && { running }),
  ...(world.release.contract !== null && { desktop_contract: world.release.contract }),
});

/** Messages as `session.resume` and `session.history` project them: tool rows without id and result. */
export const shownMessages = (world: World, rows: readonly Row[]): Json[] =>
  rows.flatMap((row): Json[] => {
    const place = since(world.release, '0.21.0') ? { timestamp: row.at / 1000, row_id: row.id } : {};
    if (row.role === 'tool') return [{ role: 'tool', name: row.tool ?? '', context: '', ...place }];
    if (row.content === '') return [];
    return [{ role: row.role, text: row.content, ...place }];
  });

export const emptyUsage: Json = { calls: 0, input: 0, output: 0, total: 0 };

/** Usage as the engine counts it: all turns of the runtime session together. */
export const usageOf = (world: World, session: Session): Json => {
  const calls = session.rows.filter((row) => row.role === 'assistant').length;
  if (calls === 0) return emptyUsage;
  const length = (role: Row['role']): number =>
    session.rows.filter((row) => row.role === role).reduce((sum, row) => sum + row.content.length, 0);
  const input = 700 * calls + Math.ceil(length('user') / 4);
  const output = Math.ceil(length('assistant') / 4) + 1;
  const counted = { reasoning: 0, prompt: input, completion: output, total: input + output, calls };
  const context = {
    context_used: input,
    context_max: 64_000,
    context_percent: 1,
    compressions: session.compressions,
  };
  return { model: modelOf(world, session), input, output, ...counted, ...context };
};
