import { overlayFolder } from '../engine/compat-places.ts';
import { documentHead } from '../tool.ts';
import type { Catalogue } from './catalogue.ts';
import { emptyMarker } from './marker.ts';
import type { Plan } from './plan.ts';
import type { Marker, MarkerEntry } from './schema.ts';
import { sha256 } from './text.ts';
import { dirname, type World } from './world.ts';

/** The marker as it will be when a plan has been carried out. */
export function nextMarker(
  world: World,
  catalogue: Catalogue,
  plan: Plan,
  folders: string[],
  at: string,
): Marker {
  const before = world.markers.ours ?? emptyMarker();
  const made = entriesOf(world, catalogue, plan, before, at);
  const entries = [
    ...before.entries.filter((entry) => !replacedBy(entry, made) && !isDropped(world, plan, entry)),
    ...made,
  ];
  return {
    ...documentHead('marker'),
    at,
    entries: entries.toSorted((a, b) => `${a.patch} ${a.carrier}`.localeCompare(`${b.patch} ${b.carrier}`)),
    config: configOf(world, plan, before),
    folders: [...new Set([...before.folders, ...folders])].filter((folder) => stillOurs(folder, entries)),
  };
}

function entriesOf(
  world: World,
  catalogue: Catalogue,
  plan: Plan,
  before: Marker,
  at: string,
): MarkerEntry[] {
  if (plan.document.options.do !== 'apply') return [];
  const keys = new Set(plan.document.steps.map(({ patch, carrier }) => `${patch} ${carrier}`));
  return [...keys].flatMap((key): MarkerEntry[] => {
    const [id = '', carrier = ''] = key.split(' ');
    const patch = catalogue.patches.find((each) => each.id === id);
    if (patch === undefined || (carrier !== 'overlay' && carrier !== 'source')) return [];
    const home = carrier === 'overlay' ? world.overlayHome : world.home.path;
    const install = world.install?.id ?? null;
    const old = before.entries.find(
      (each) =>
        each.patch === id && each.carrier === carrier && each.home === home && each.install === install,
    );
    const paths = new Set(
      plan.document.steps
        .filter((step) => step.patch === id && step.carrier === carrier)
        .map(({ path }) => path),
    );
    const files = plan.changes
      .filter(({ state }) => paths.has(state.path))
      .map(({ state, before: bytes, after }) => ({
        path: state.path,
        beforeSha256:
          old?.files.find(({ path }) => path === state.path)?.beforeSha256 ??
          (bytes === null ? null : sha256(bytes)),
        afterSha256: after === null ? null : sha256(after),
      }));
    const kept = (old?.files ?? []).filter(({ path }) => !paths.has(path));
    const allowNonLoopback = plan.document.options.allowNonLoopback || (old?.allowNonLoopback ?? false);
    return [
      {
        patch: id,
        revision: patch.revision,
        carrier,
        install,
        home,
        allowNonLoopback,
        at,
        files: [...kept, ...files],
      },
    ];
  });
}

const replacedBy = (entry: MarkerEntry, made: MarkerEntry[]): boolean =>
  made.some(
    (each) =>
      each.patch === entry.patch &&
      each.carrier === entry.carrier &&
      each.home === entry.home &&
      each.install === entry.install,
  );

/** A revert found that nothing of ours is there for this entry, or takes it out. */
export function isDropped(world: World, plan: Plan, entry: MarkerEntry): boolean {
  if (!plan.draft.dropped.has(`${entry.patch} ${entry.carrier}`)) return false;
  return entry.carrier === 'overlay'
    ? entry.home === world.overlayHome
    : entry.install === (world.install?.id ?? null);
}

function configOf(world: World, plan: Plan, before: Marker): Marker['config'] {
  const { draft, changes } = plan;
  const others = before.config.filter(({ path }) => path !== world.config.path);
  if (draft.config === 'undone') return others;
  if (draft.config === null) return before.config;
  const change = changes.find(({ state }) => state.path === world.config.path);
  if (change === undefined || change.after === null) return before.config;
  const { undo } = draft.config;
  const beforeSha256 = change.before === null ? null : sha256(change.before);
  return [...others, { path: world.config.path, undo, beforeSha256, afterSha256: sha256(change.after) }];
}

/** A folder that we made is ours as long as an overlay of that home is recorded. */
const stillOurs = (folder: string, entries: MarkerEntry[]): boolean =>
  entries.some(
    ({ carrier, home }) =>
      carrier === 'overlay' &&
      (folder === home || `${dirname(overlayFolder(home))}/dashboard`.startsWith(folder)),
  );
