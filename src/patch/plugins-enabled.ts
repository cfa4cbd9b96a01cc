import { isDeepStrictEqual } from 'node:util';
import type { Document, ParsedNode } from 'yaml';
import type { ConfigUndo } from './schema.ts';
import { additions, removals, type Yaml } from './plugins-enabled-text.ts';

/**
 * The one edit outside our own files: our name in `plugins.enabled` of config.yaml. A splice of text, checked by
 * parsing before and after: everything else must mean what it meant.
 */
export type ConfigEdit =
  | { kind: 'present' }
  | { kind: 'edited'; text: string; undo: ConfigUndo }
  | { kind: 'refused'; why: string };

interface Parsed {
  document: Document<ParsedNode>;
  data: unknown;
}

type ReadResult = Parsed | { why: string };

function read(yaml: Yaml, text: string): ReadResult {
  const documents = yaml.parseAllDocuments(text, { merge: true, uniqueKeys: true, logLevel: 'silent' });
  if (!Array.isArray(documents)) return { document: new yaml.Document<ParsedNode>(null), data: null };
  const [document, more] = documents;
  if (document === undefined) return { document: new yaml.Document<ParsedNode>(null), data: null };
  if (more !== undefined) return { why: 'it holds more than one document' };
  const [error] = document.errors;
  if (error !== undefined) return { why: `it is not valid: ${error.message.split('\n')[0] ?? ''}` };
  try {
    return { document, data: document.toJS({ maxAliasCount: 1000 }) as unknown };
  } catch (error) {
    return { why: `it is not valid: ${error instanceof Error ? error.message : 'unreadable'}` };
  }
}

const record = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;

const enabledOf = (data: unknown): unknown => record(record(data)?.['plugins'])?.['enabled'];

/** The data with the list replaced; `undefined` takes the key out, and `plugins` too when nothing else is in it. */
function withEnabled(data: unknown, list: unknown[] | undefined, emptyPlugins: unknown): unknown {
  const root = { ...record(data) };
  const plugins = { ...record(root['plugins']) };
  if (list === undefined) delete plugins['enabled'];
  else plugins['enabled'] = list;
  if (Object.keys(plugins).length > 0) root['plugins'] = plugins;
  else if (emptyPlugins === undefined) delete root['plugins'];
  else root['plugins'] = emptyPlugins;
  return root;
}

/** Adds `name` to the list. */
export async function enablePlugin(text: string, name: string): Promise<ConfigEdit> {
  const yaml = await import('yaml');
  const before = read(yaml, text);
  if ('why' in before) return { kind: 'refused', why: before.why };
  if (before.data !== null && record(before.data) === null)
    return { kind: 'refused', why: 'it is not a map' };
  const plugins = record(before.data)?.['plugins'];
  if (plugins !== undefined && plugins !== null && record(plugins) === null)
    return { kind: 'refused', why: '"plugins" in it is not a map' };
  const list = enabledOf(before.data);
  if (Array.isArray(list) && list.includes(name)) return { kind: 'present' };
  if (list !== undefined && list !== null && !Array.isArray(list))
    return { kind: 'refused', why: '"plugins.enabled" in it is not a list' };
  const wanted = withEnabled(before.data, [...((list as unknown[] | null) ?? []), name], undefined);
  for (const candidate of additions(yaml, text, before.document, name)) {
    const after = read(yaml, candidate.text);
    if (!('why' in after) && isDeepStrictEqual(after.data, wanted)) return { kind: 'edited', ...candidate };
  }
  return { kind: 'refused', why: 'the list cannot be extended there without changing something else' };
}

/** Takes `name` out again. With the record of the addition: to the byte, when nobody changed that place since. */
export async function disablePlugin(
  text: string,
  name: string,
  undo: ConfigUndo | null,
): Promise<ConfigEdit> {
  const yaml = await import('yaml');
  const before = read(yaml, text);
  if ('why' in before) return { kind: 'refused', why: before.why };
  const list = enabledOf(before.data);
  if (!Array.isArray(list) || !list.includes(name)) return { kind: 'present' };
  const rest = list.filter((each) => each !== name);
  const owned =
    undo?.kind === 'created-file' ||
    (undo?.kind === 'inserted' && undo.ownsKeys) ||
    undo?.kind === 'replaced';
  const wanted = [withEnabled(before.data, rest, {})];
  if (rest.length === 0 && owned) {
    for (const empty of [undefined, null, {}]) wanted.push(withEnabled(before.data, undefined, empty));
    wanted.push(withEnabled(before.data, null as never, undefined));
    if (Object.keys(record(before.data) ?? {}).length === 1) wanted.push(null);
  }
  for (const candidate of removals(yaml, text, before.document, name, undo)) {
    const after = read(yaml, candidate);
    if (!('why' in after) && wanted.some((each) => isDeepStrictEqual(after.data, each)))
      return { kind: 'edited', text: candidate, undo: { kind: 'created-file' } };
  }
  return { kind: 'refused', why: 'our entry cannot be taken out without changing something else' };
}
