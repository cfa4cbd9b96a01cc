import { fileBarrier } from './barriers.ts';
import type { ConfigFacts } from './config-facts.ts';
import { type Draft, textOf } from './draft.ts';
import type { EngineNeeds } from './engine-needs.ts';
import { pluginName } from './overlay-files.ts';
import { enablePlugin } from './plugins-enabled.ts';
import type { ConfigUndo } from './schema.ts';
import type { World } from './world.ts';

/** What is to be done about `plugins.enabled`. `left`: not written, and this engine does not need it. */
export type ConfigPlan =
  | { kind: 'none' }
  | { kind: 'left'; why: string }
  | { kind: 'edit'; text: string; undo: ConfigUndo }
  | { kind: 'refused'; code: string; why: string; alternative: string };

/** The last version of the configuration that the engine fills with the plugins that it finds (its migration 20 to 21). */
const grandfathered = 20;

const lines = `add "${pluginName}" to plugins.enabled in config.yaml yourself`;

export async function planConfig(
  world: World,
  draft: Draft,
  needs: EngineNeeds,
  facts: ConfigFacts,
): Promise<ConfigPlan> {
  if (facts.enabled?.includes(pluginName) === true) return { kind: 'none' };
  const against = await reasonAgainst(world, draft, facts);
  if ('edit' in against) return { kind: 'edit', ...against.edit };
  const { code, why, alternative } = against;
  return needs.enabling
    ? {
        kind: 'refused',
        code,
        why: `${why}, and this engine loads only plugins that are listed`,
        alternative,
      }
    : {
        kind: 'left',
        why: `plugins.enabled was left as it is (${why}); this engine does not need it, newer ones do`,
      };
}

type Against =
  | { code: string; why: string; alternative: string }
  | { edit: { text: string; undo: ConfigUndo } };

async function reasonAgainst(world: World, draft: Draft, facts: ConfigFacts): Promise<Against> {
  const { config, home } = world;
  const no = (why: string, code = 'OVERLAY_NOT_LOADED', alternative = lines): Against => ({
    code,
    why,
    alternative,
  });
  if (home.managed) return no('the configuration is managed by another program');
  if (facts.problem !== null) return no(`config.yaml cannot be edited: ${facts.problem}`);
  const barrier = fileBarrier(world, config);
  if (barrier !== null) return no(barrier.reason, barrier.code);
  if (facts.enabled === null && world.otherPlugins.length > 0 && (facts.version ?? 0) <= grandfathered) {
    return no(
      `there is no list yet, and making one would keep the engine from enabling ${world.otherPlugins.join(', ')} by itself`,
      'OVERLAY_NOT_LOADED',
      `${lines}, together with those that you use`,
    );
  }
  if (!facts.exists) {
    const text = `plugins:\n  enabled:\n    - ${pluginName}\n`;
    return { edit: { text, undo: { kind: 'created-file' } } };
  }
  const edit = await enablePlugin(textOf(draft, config) ?? '', pluginName);
  if (edit.kind === 'edited') return { edit: { text: edit.text, undo: edit.undo } };
  return no(
    `config.yaml cannot be edited: ${edit.kind === 'refused' ? edit.why : 'our entry is there already'}`,
  );
}
