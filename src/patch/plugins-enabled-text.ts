import type { Document, Node, Pair, ParsedNode, YAMLMap, YAMLSeq } from 'yaml';
import type { ConfigUndo } from './schema.ts';
import { lineBreakAt, lineEnd, lineStart } from './text.ts';

export type Yaml = typeof import('yaml');

// --- adding ---

/** A text that may be right; the caller parses it and decides. */
interface Candidate {
  text: string;
  undo: ConfigUndo;
}

export function* additions(
  yaml: Yaml,
  text: string,
  document: Document<ParsedNode>,
  name: string,
): Generator<Candidate> {
  // A line break after a block scalar that ends the file would become part of its value.
  const closed = endsInBlockScalar(yaml, text, document);
  for (const candidate of places(yaml, text, document, name)) {
    if (!(closed && candidate.text.startsWith(text))) yield candidate;
  }
}

function* places(
  yaml: Yaml,
  text: string,
  document: Document<ParsedNode>,
  name: string,
): Generator<Candidate> {
  const root = document.contents as Node | null;
  if (root === null || isEmptyScalar(yaml, root)) {
    yield* appended(text, name, '');
    return;
  }
  if (!yaml.isMap(root)) return;
  const plugins = pairOf(yaml, root, 'plugins');
  if (plugins === null) {
    if (root.flow === true) yield* intoFlow(text, root, `plugins: {enabled: [${name}]}`);
    else {
      const indent = columnOf(text, firstKey(root));
      yield* appended(text, name, indent);
      yield* insertedAt(text, lineStart(text, startOf(firstKey(root))), blockOf(name, indent), true);
    }
    return;
  }
  if (yaml.isMap(plugins.value)) yield* intoPlugins(yaml, text, plugins, plugins.value, name);
  else
    yield* asValue(yaml, text, plugins, `{enabled: [${name}]}`, (indent) => [
      `${indent}  enabled:`,
      `${indent}    - ${name}`,
    ]);
}

function* intoPlugins(
  yaml: Yaml,
  text: string,
  plugins: Pair,
  map: YAMLMap,
  name: string,
): Generator<Candidate> {
  const enabled = pairOf(yaml, map, 'enabled');
  if (enabled === null) {
    if (map.flow === true) yield* intoFlow(text, map, `enabled: [${name}]`);
    else {
      const indent = columnOf(text, firstKey(map));
      const at = lineEnd(text, startOf(plugins.key as Node));
      yield* insertedAt(text, at, [`${indent}enabled:`, `${indent}  - ${name}`], true);
    }
    return;
  }
  if (yaml.isSeq(enabled.value)) yield* intoList(text, enabled.value, name);
  else yield* asValue(yaml, text, enabled, `[${name}]`, (indent) => [`${indent}  - ${name}`]);
}

function* intoList(text: string, list: YAMLSeq, name: string): Generator<Candidate> {
  const last = list.items.at(-1) as Node | undefined;
  if (list.flow === true) {
    yield last === undefined
      ? inserted(text, startOf(list) + 1, name, false)
      : inserted(text, valueEnd(last), `, ${name}`, false);
    return;
  }
  if (last === undefined) return;
  const first = list.items[0] as Node;
  const dash = text.lastIndexOf('-', startOf(first));
  const indent = text.slice(lineStart(text, dash), dash);
  const end = valueEnd(last);
  // The value of a block scalar ends after its own line break.
  const at = end > 0 && text[end - 1] === '\n' ? end : lineEnd(text, end);
  yield* insertedAt(text, at, [`${indent}- ${name}`], false);
}

/** `key:` without a value gets lines below it; `key: null` gets the flow form in its place. */
function* asValue(
  yaml: Yaml,
  text: string,
  pair: Pair,
  flow: string,
  lines: (indent: string) => string[],
): Generator<Candidate> {
  const value = pair.value as Node | null;
  if (value !== null && !(yaml.isScalar(value) && value.value === null)) return;
  const source = value === null ? '' : (value.source ?? '');
  if (source !== '' && value !== null) {
    const from = startOf(value);
    yield {
      text: text.slice(0, from) + flow + text.slice(from + source.length),
      undo: { kind: 'replaced', was: source, now: flow },
    };
    return;
  }
  const key = pair.key as Node;
  yield* insertedAt(text, lineEnd(text, startOf(key)), lines(columnOf(text, key)), true);
}

const blockOf = (name: string, indent: string): string[] => [
  `${indent}plugins:`,
  `${indent}  enabled:`,
  `${indent}    - ${name}`,
];

function* appended(text: string, name: string, indent: string): Generator<Candidate> {
  yield* insertedAt(text, text.length, blockOf(name, indent), true);
}

/** Whole lines at the start of a line, or after a last line that has no end. */
function* insertedAt(text: string, at: number, lines: string[], ownsKeys: boolean): Generator<Candidate> {
  const eol = lineBreakAt(text, Math.max(0, at - 1));
  const open = at > 0 && text[at - 1] !== '\n' && text.replace(/^\uFEFF/, '') !== '';
  yield inserted(
    text,
    at,
    open ? lines.map((line) => eol + line).join('') : lines.map((line) => line + eol).join(''),
    ownsKeys,
  );
}

function* intoFlow(text: string, map: YAMLMap, entry: string): Generator<Candidate> {
  yield inserted(text, startOf(map) + 1, map.items.length === 0 ? entry : `${entry}, `, true);
}

const inserted = (text: string, at: number, added: string, ownsKeys: boolean): Candidate => ({
  text: text.slice(0, at) + added + text.slice(at),
  undo: { kind: 'inserted', text: added, ownsKeys },
});

// --- taking out ---

export function* removals(
  yaml: Yaml,
  text: string,
  document: Document<ParsedNode>,
  name: string,
  undo: ConfigUndo | null,
): Generator<string> {
  const root = document.contents as Node | null;
  const plugins = root !== null && yaml.isMap(root) ? pairOf(yaml, root, 'plugins') : null;
  const enabled =
    plugins !== null && yaml.isMap(plugins.value) ? pairOf(yaml, plugins.value, 'enabled') : null;
  const list = enabled?.value;
  if (plugins === null || enabled === null || !yaml.isSeq(list)) return;
  const index = list.items.findIndex((item) => yaml.isScalar(item) && item.value === name);
  const item = list.items[index] as Node | undefined;
  if (item === undefined) return;
  const cut = (from: number, to: number, put = ''): string => text.slice(0, from) + put + text.slice(to);

  if (undo?.kind === 'inserted') {
    const from = startOf(item) - undo.text.indexOf(name);
    if (text.slice(from, from + undo.text.length) === undo.text) yield cut(from, from + undo.text.length);
  }
  if (undo?.kind === 'replaced') {
    const from = startOf(item) - undo.now.indexOf(name);
    if (text.slice(from, from + undo.now.length) === undo.now)
      yield cut(from, from + undo.now.length, undo.was);
  }
  const alone = list.items.length === 1;
  const keyLine = lineStart(text, startOf(enabled.key as Node));
  const lastLine = lineEnd(text, valueEnd(item));
  if (alone && undo !== null && list.flow !== true) {
    yield cut(lineStart(text, startOf(plugins.key as Node)), lastLine);
    yield cut(keyLine, lastLine);
  }
  if (list.flow === true) {
    yield* outOfFlow(list, index, cut);
    return;
  }
  if (!alone) yield cut(lineStart(text, startOf(item)), lastLine);
  const key = enabled.key as Node;
  const colon = text.indexOf(':', valueEnd(key)) + 1;
  if (alone) yield cut(colon, valueEnd(item), ' []');
}

function* outOfFlow(
  list: YAMLSeq,
  index: number,
  cut: (from: number, to: number) => string,
): Generator<string> {
  const item = list.items[index] as Node;
  const before = list.items[index - 1] as Node | undefined;
  const after = list.items[index + 1] as Node | undefined;
  if (before !== undefined) yield cut(valueEnd(before), valueEnd(item));
  else if (after !== undefined) yield cut(startOf(item), startOf(after));
  else yield cut(startOf(item), valueEnd(item));
}

// --- nodes ---

const startOf = (node: Node): number => node.range?.[0] ?? 0;
const valueEnd = (node: Node): number => node.range?.[1] ?? 0;
const firstKey = (map: YAMLMap): Node => map.items[0]?.key as Node;
const columnOf = (text: string, node: Node): string =>
  text.slice(lineStart(text, startOf(node)), startOf(node)).replace(/^\uFEFF/, '');

function pairOf(yaml: Yaml, map: YAMLMap, key: string): Pair | null {
  return map.items.find((pair) => yaml.isScalar(pair.key) && pair.key.value === key) ?? null;
}

const isEmptyScalar = (yaml: Yaml, node: Node): boolean =>
  yaml.isScalar(node) && node.value === null && (node.source ?? '') === '';

function endsInBlockScalar(yaml: Yaml, text: string, document: Document<ParsedNode>): boolean {
  if (text.endsWith('\n')) return false;
  let found = false;
  yaml.visit(document, {
    Scalar(_key, node) {
      if ((node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED') && valueEnd(node) >= text.length)
        found = true;
    },
  });
  return found;
}
