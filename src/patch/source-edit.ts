import type { PythonFunction, PythonModule, Span } from './python-module.ts';
import type { AssignmentEdit, IncludeEdit, Other, PatchFile } from './catalogue-schema.ts';
import { lineBreakAt, lineEnd, lineNumber, lineStart, shortHash } from './text.ts';

/** What stands at the place of an edit. Pure: text in, offsets out. */
export type SourceState =
  /** Ours can go to `at`. */
  | { kind: 'absent'; at: number }
  /** Ours is there; `span` becomes `restore` when it is taken out. */
  | {
      kind: 'ours';
      revision: number;
      intact: boolean;
      why: string;
      expression: string;
      span: Span;
      restore: string;
    }
  /** Another's edit; with `span` it can be replaced, with `at` ours can stand beside it. */
  | {
      kind: 'other';
      by: string;
      effective: boolean;
      why: string;
      span: Span | null;
      restore: string;
      at: number | null;
    }
  | { kind: 'unknown'; lookedFor: string; found: string };

const beginLine = (patch: PatchFile, hash: string): string =>
  `# >>> hermes-compat ${patch.id} r${patch.revision}:${hash}`;
const endLine = (patch: PatchFile): string => `# <<< hermes-compat ${patch.id}`;

// --- an assignment inside a function ---

/** The text put after the right side, with the comment that tells it from a hand edit. */
export function appendedText(patch: PatchFile, edit: AssignmentEdit, allowNonLoopback: boolean): string {
  const expression = allowNonLoopback ? edit.appendWhenAllowed : edit.append;
  return `${expression}  # hermes-compat ${patch.id} r${patch.revision}:${shortHash(expression)}`;
}

export function readAssignment(patch: PatchFile, edit: AssignmentEdit, module: PythonModule): SourceState {
  const lookedFor = `"${edit.target} = ${edit.value}" once in "def ${edit.function}" of ${edit.file}`;
  const functions = module.functions(edit.function);
  const [target, ...more] = functions.flatMap((each) => each.assignments(edit.target));
  const [owner] = functions;
  if (owner === undefined || functions.length > 1) {
    const found =
      owner === undefined ? `no function ${edit.function}` : `${functions.length} functions of that name`;
    return { kind: 'unknown', lookedFor, found };
  }
  if (target === undefined || more.length > 0) {
    const found =
      target === undefined ? `no assignment to ${edit.target} in it` : `${more.length + 1} assignments to it`;
    return { kind: 'unknown', lookedFor, found };
  }
  const { text } = module;
  const ours = readAppended(patch, edit, text, target.value);
  if (ours !== null) return ours;
  const missing = missingNames(edit.needs, module, target.from, owner);
  if (missing !== null)
    return { kind: 'unknown', lookedFor: `${missing} in scope there`, found: 'it is not defined' };
  if (target.value.text === edit.value) return { kind: 'absent', at: target.value.to };
  const other = patch.others.find((each) => each.kind === 'assignment' && each.value === target.value.text);
  if (other !== undefined) {
    const why = `line ${lineNumber(text, target.from)} sets it to ${target.value.text}`;
    return {
      kind: 'other',
      by: other.by,
      effective: true,
      why,
      span: target.value,
      restore: edit.value,
      at: null,
    };
  }
  const line = text.slice(target.from, lineEnd(text, target.from)).trim().slice(0, 120);
  return { kind: 'unknown', lookedFor, found: `line ${lineNumber(text, target.from)}: ${line}` };
}

function readAppended(
  patch: PatchFile,
  edit: AssignmentEdit,
  text: string,
  value: Span & { text: string },
): SourceState | null {
  const comment = new RegExp(`^[^\\n]*?# hermes-compat ${patch.id} r(\\d+):([0-9a-f]{8})`).exec(
    text.slice(value.to),
  );
  if (comment === null) return null;
  const end = value.to + comment[0].length;
  const expression = value.text.slice(edit.value.length);
  const intact =
    value.text.startsWith(edit.value) &&
    comment[0].startsWith('  # ') &&
    shortHash(expression) === comment[2];
  return {
    kind: 'ours',
    revision: Number(comment[1]),
    intact,
    why: intact ? '' : `line ${lineNumber(text, value.from)} was changed by hand`,
    expression,
    span: { from: value.from, to: end },
    restore: edit.value,
  };
}

// --- a block before a call at module level ---

/** The lines put before the anchor, LF only. */
export function includeText(patch: PatchFile, template: string, moduleSha256: string): string {
  const body = template.replace('__MODULE_SHA256__', moduleSha256);
  return `${beginLine(patch, shortHash(body))}\n${body}${endLine(patch)}\n`;
}

export function readInclude(patch: PatchFile, edit: IncludeEdit, module: PythonModule): SourceState {
  const { text } = module;
  const place = readAnchor(edit, module);
  const ours = readBlock(patch, text, typeof place === 'number' ? place : null);
  if (ours !== null) return ours;
  const other = readOtherBlock(patch, module);
  if (other !== null) return { ...other, at: typeof place === 'number' ? place : null };
  return typeof place === 'number' ? { kind: 'absent', at: place } : place;
}

export function readAnchor(
  edit: Pick<IncludeEdit, 'file' | 'anchor' | 'needs'>,
  module: PythonModule,
): number | Extract<SourceState, { kind: 'unknown' }> {
  const lookedFor = `"${edit.anchor.call}()" once at module level of ${edit.file}, before "${edit.anchor.before}(…)"`;
  const calls = module.calls(edit.anchor.call);
  const [call] = calls;
  const unknown = (found: string) => ({ kind: 'unknown' as const, lookedFor, found });
  if (call === undefined) return unknown('no such call');
  if (calls.length > 1) {
    const lines = calls.map((each) => lineNumber(module.text, each.from)).join(', ');
    return unknown(`${calls.length} calls (lines ${lines})`);
  }
  const line = lineNumber(module.text, call.from);
  if (!call.plain) return unknown(`line ${line}, inside another statement`);
  if (call.arguments !== '') return unknown(`line ${line}, with arguments (${call.arguments.slice(0, 60)})`);
  const after = module.calls(edit.anchor.before);
  if (after.length !== 1 || (after[0]?.from ?? 0) < call.from) {
    return unknown(
      `line ${line}, but ${after.length === 0 ? 'no' : after.length === 1 ? 'an earlier' : 'more than one'} ${edit.anchor.before}(…)`,
    );
  }
  const missing = missingNames(edit.needs, module, call.from, null);
  if (missing !== null)
    return { kind: 'unknown', lookedFor: `${missing} defined before line ${line}`, found: 'it is not' };
  return lineStart(module.text, call.from);
}

function readBlock(patch: PatchFile, text: string, anchor: number | null): SourceState | null {
  const begins = [
    ...text.matchAll(new RegExp(`^# >>> hermes-compat ${patch.id} r(\\d+):([0-9a-f]{8})\\r?$`, 'gm')),
  ];
  const ends = [...text.matchAll(new RegExp(`^${endLine(patch)}\\r?$`, 'gm'))];
  const [begin] = begins;
  const [end] = ends;
  if (begin === undefined && end === undefined) return null;
  const base = { kind: 'ours' as const, revision: Number(begin?.[1] ?? 0), expression: '', restore: '' };
  if (
    begin === undefined ||
    end === undefined ||
    begins.length + ends.length > 2 ||
    end.index < begin.index
  ) {
    const at = begin?.index ?? end?.index ?? 0;
    return {
      ...base,
      intact: false,
      why: `the lines around our block at line ${lineNumber(text, at)} are not a pair`,
      span: { from: at, to: at },
    };
  }
  const span = { from: begin.index, to: lineEnd(text, end.index) };
  const body = text.slice(lineEnd(text, begin.index), end.index).replace(/\r\n/g, '\n');
  const same = shortHash(body) === begin[2];
  const placed = anchor !== null && span.to <= anchor;
  const why = same
    ? placed
      ? ''
      : 'our block stands where it has no effect'
    : `our block at line ${lineNumber(text, span.from)} was changed by hand`;
  return { ...base, intact: same && placed, why, span };
}

/** The hash of the module that our block names, whatever its revision. */
export const namedModule = (text: string, span: Span): string | null =>
  /\(sha256 ([0-9a-f]{64})\)/.exec(text.slice(span.from, span.to))?.[1] ?? null;

function readOtherBlock(
  patch: PatchFile,
  module: PythonModule,
): Omit<Extract<SourceState, { kind: 'other' }>, 'at'> | null {
  const known = patch.others.find((each): each is Extract<Other, { kind: 'block' }> => each.kind === 'block');
  if (known === undefined) return null;
  const { text } = module;
  const from = text.indexOf(`\n${known.start}`) + 1;
  const end = from > 0 ? text.indexOf(`\n${known.end}`, from) + 1 : 0;
  if (from === 0 || end === 0) return null;
  const span = { from, to: lineEnd(text, end) };
  const after = module.calls(known.before)[0];
  const block = text.slice(span.from, span.to);
  const bound = module.names(text.length);
  const missing = known.uses.filter((name) => new RegExp(`\\b${name}\\b`).test(block) && !bound.has(name));
  const why =
    missing.length > 0
      ? `it uses ${missing.join(', ')}, which this engine's module does not have`
      : after !== undefined && after.from < from
        ? `it stands after ${known.before}(…), which answers first`
        : '';
  const shown = `lines ${lineNumber(text, from)}-${lineNumber(text, end)}`;
  return {
    kind: 'other',
    by: known.by,
    effective: why === '',
    why: why === '' ? shown : `${shown}: ${why}`,
    span,
    restore: '',
  };
}

// --- both ---

function missingNames(
  needs: { parameters: string[]; module: string[] },
  module: PythonModule,
  before: number,
  owner: PythonFunction | null,
): string | null {
  const bound = module.names(before);
  const parameters = new Set(owner?.parameters.map((each) => each.name));
  const missing = [
    ...needs.module.filter((name) => !bound.has(name)),
    ...needs.parameters.filter((name) => !parameters.has(name)),
  ];
  return missing.length === 0 ? null : missing.map((name) => `"${name}"`).join(' and ');
}

export function insertAssignment(
  text: string,
  at: number,
  patch: PatchFile,
  edit: AssignmentEdit,
  allowNonLoopback: boolean,
): string {
  return text.slice(0, at) + appendedText(patch, edit, allowNonLoopback) + text.slice(at);
}

/** Whole lines, ended as the line of the anchor is. */
export function insertInclude(text: string, at: number, block: string): string {
  return text.slice(0, at) + block.replace(/\n/g, lineBreakAt(text, at)) + text.slice(at);
}

export const takeOut = (text: string, span: Span, restore: string): string =>
  text.slice(0, span.from) + restore + text.slice(span.to);
