import { parsePython, type PythonModule, type Span } from './python-module.ts';
import type { Other, PatchFile, Retirement } from './catalogue-schema.ts';
import { readAssignment, readInclude, type SourceState } from './source-edit.ts';
import { conflictMarker, lineNumber } from './text.ts';

/** The part of an installed tree that patches look at. Paths are below the folder of hermes_cli. */
export interface Tree {
  /** Decoded text of the Python files that were read; null for a file that is no UTF-8. */
  files: ReadonlyMap<string, string | null>;
  /** Files that were looked for and are there. */
  present: ReadonlySet<string>;
  /** Differs from what the release shipped; null when nobody can tell. */
  edited(path: string): boolean | null;
  modules: Map<string, PythonModule>;
}

/** Another's edit that has no effect by itself. */
export interface Ineffective {
  by: string;
  why: string;
  span: Span;
  restore: string;
}

export interface SourceReading {
  state: SourceState | { kind: 'retired'; why: string };
  ineffective: Ineffective[];
}

export async function moduleOf(tree: Tree, path: string): Promise<PythonModule | null> {
  const known = tree.modules.get(path);
  if (known !== undefined) return known;
  const text = tree.files.get(path);
  if (text === undefined || text === null) return null;
  const parsed = await parsePython(text);
  tree.modules.set(path, parsed);
  return parsed;
}

/** What the tree says about one patch. */
export async function readSource(patch: PatchFile, tree: Tree): Promise<SourceReading> {
  const { file } = patch.source;
  const module = await moduleOf(tree, file);
  const nothing = (found: string): SourceReading => ({
    state: { kind: 'unknown', lookedFor: `hermes_cli/${file}`, found },
    ineffective: [],
  });
  if (module === null) return nothing(tree.present.has(file) ? 'it is no UTF-8 text' : 'no such file');
  const conflict = conflictMarker(module.text);
  if (conflict !== null) return nothing(`conflict markers, line ${conflict}`);
  for (const rule of patch.retires.structure) {
    const why = await retired(rule, tree);
    if (why !== null) return { state: { kind: 'retired', why }, ineffective: [] };
  }
  const elsewhere = await routeElsewhere(patch, tree);
  const here =
    patch.source.kind === 'assignment'
      ? readAssignment(patch, patch.source, module)
      : readInclude(patch, patch.source, module);
  const state = here.kind === 'absent' && elsewhere !== null ? { ...elsewhere, at: here.at } : here;
  return { state, ineffective: patch.others.flatMap((other) => ineffective(other, module)) };
}

async function retired(rule: Retirement, tree: Tree): Promise<string | null> {
  switch (rule.kind) {
    case 'file':
      return tree.present.has(rule.path) ? `this engine has hermes_cli/${rule.path}` : null;
    case 'constant': {
      const module = await moduleOf(tree, rule.file);
      const set = module?.assignments(rule.target).some((each) => each.value.text === rule.value) ?? false;
      const functions = module?.functions(rule.function) ?? [];
      const taken = functions.some((each) => each.parameters.some(({ name }) => name === rule.parameter));
      return set && functions.length > 0 && !taken
        ? `${rule.target} is always ${rule.value} in this engine`
        : null;
    }
    case 'route':
      for (const path of tree.files.keys()) {
        const own = (await routesIn(tree, path, rule.path)).find(
          (route) => !/hermes_one|hermes_compat/i.test(`${path} ${route.name}`),
        );
        if (own !== undefined && tree.edited(path) === false) {
          return `this engine serves ${rule.path} itself (hermes_cli/${path})`;
        }
      }
      return null;
    default:
      return rule satisfies never;
  }
}

const routesIn = async (tree: Tree, path: string, route: string) =>
  ((await moduleOf(tree, path))?.routes() ?? []).filter((each) => each.path === route);

/** The same API from a module of its own, or written into the file without the known marks. */
async function routeElsewhere(
  patch: PatchFile,
  tree: Tree,
): Promise<Omit<Extract<SourceState, { kind: 'other' }>, 'at'> | null> {
  const rule = patch.retires.structure.find((each) => each.kind === 'route');
  const known = patch.others.find((each) => each.kind === 'block');
  if (rule?.kind !== 'route' || patch.source.kind !== 'include') return null;
  const main = tree.files.get(patch.source.file) ?? '';
  const base = { kind: 'other' as const, span: null, restore: '' };
  for (const [path, text] of tree.files) {
    if (path === patch.source.installAs || text === null) continue;
    if (path === patch.source.file) {
      const route = (await routesIn(tree, path, rule.path))[0];
      if (route === undefined) continue;
      const why = `line ${lineNumber(text, route.from)} of hermes_cli/${path} serves ${rule.path}`;
      return { ...base, by: 'a hand edit', effective: true, why };
    }
    if (!text.includes(`"${rule.path}"`) && !text.includes(`'${rule.path}'`)) continue;
    const name = (path.split('/').at(-1) ?? '').replace(/\.py$/, '');
    const used = new RegExp(`\\b${name}\\b`).test(main);
    const by = /hermes_one/i.test(text) ? (known?.by ?? 'a fork') : 'a hand edit';
    const why = `hermes_cli/${path} serves it${used ? '' : `, but hermes_cli/${patch.source.file} does not use it`}`;
    return { ...base, by, effective: used, why };
  }
  return null;
}

function ineffective(other: Other, module: PythonModule): Ineffective[] {
  switch (other.kind) {
    case 'parameter-default': {
      const parameters = module.functions(other.function).flatMap((each) => each.parameters);
      const span = parameters.find(({ name }) => name === other.parameter)?.default;
      return span?.text === other.value ? [found(other, module, span)] : [];
    }
    case 'constant': {
      const span = module.assignments(other.target).find((each) => each.value.text === other.value)?.value;
      return span === undefined ? [] : [found(other, module, span)];
    }
    case 'assignment':
    case 'block':
      return [];
    default:
      return other satisfies never;
  }
}

const found = (
  other: Extract<Other, { kind: 'parameter-default' | 'constant' }>,
  module: PythonModule,
  span: Span,
): Ineffective => ({
  by: other.by,
  why: `line ${lineNumber(module.text, span.from)} was changed to ${other.value}, which has no effect: ${other.why}`,
  span,
  restore: other.original,
});
