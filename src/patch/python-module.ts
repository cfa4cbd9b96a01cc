import type { SyntaxNode, Tree } from '@lezer/common';

/** A place in the text. Offsets are UTF-16 units of `text`. */
export interface Span {
  from: number;
  to: number;
}

export interface PythonFunction extends Span {
  parameters: { name: string; default: (Span & { text: string }) | null }[];
  assignments(target: string): PythonAssignment[];
}

export interface PythonAssignment extends Span {
  /** Right side as written, without comment. */
  value: Span & { text: string };
}

export interface PythonCall extends Span {
  /** A statement of its own at module level, not inside if, try, with or for. */
  plain: boolean;
  arguments: string;
}

export interface PythonRoute extends Span {
  path: string;
  /** Name of the decorated function. */
  name: string;
}

/** What an edit needs to know of a Python file. Only module level is looked at, never strings or comments. */
export interface PythonModule {
  text: string;
  functions(name: string): PythonFunction[];
  assignments(target: string): PythonAssignment[];
  calls(callee: string): PythonCall[];
  /** Names bound at module level before an offset: imports, definitions, assignments. */
  names(before: number): Set<string>;
  /** Decorators such as `@app.get("/path")`. */
  routes(): PythonRoute[];
}

/** Large files take half a second; a run looks at the same few texts again and again. */
const parsed = new Map<string, Promise<PythonModule>>();

export function parsePython(text: string): Promise<PythonModule> {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const fresh = parse(text);
  parsed.set(text, fresh);
  const [oldest] = parsed.keys();
  if (parsed.size > 8 && oldest !== undefined) parsed.delete(oldest);
  return fresh;
}

async function parse(text: string): Promise<PythonModule> {
  const { parser } = await import('@lezer/python');
  // The parser does not know a byte order mark; a space has the same length.
  return view(text, parser.parse(text.replace(/^\uFEFF/, ' ')));
}

function view(text: string, tree: Tree): PythonModule {
  const statements = [...moduleLevel(tree.topNode)];
  const slice = (node: SyntaxNode): string => text.slice(node.from, node.to);
  return {
    text,
    functions: (name) =>
      statements.flatMap(({ node }) => {
        const definition = definitionOf(node, 'FunctionDefinition');
        return definition !== null && nameOf(definition, slice) === name
          ? [functionOf(definition, slice)]
          : [];
      }),
    assignments: (target) => statements.flatMap(({ node }) => assignmentOf(node, target, slice) ?? []),
    calls: (callee) =>
      statements.flatMap(({ node, plain }) =>
        node.name === 'ExpressionStatement' ? (callOf(node, callee, plain, slice) ?? []) : [],
      ),
    names: (before) =>
      new Set(statements.flatMap(({ node }) => (node.from < before ? boundNames(node, slice) : []))),
    routes: () => statements.flatMap(({ node }) => routesOf(node, slice)),
  };
}

const blocks = new Set([
  'IfStatement',
  'TryStatement',
  'WithStatement',
  'ForStatement',
  'WhileStatement',
  'MatchStatement',
  'MatchBody',
  'MatchClause',
  'Body',
]);

/** Every statement that runs when the module is imported. */
function* moduleLevel(parent: SyntaxNode, plain = true): Generator<{ node: SyntaxNode; plain: boolean }> {
  for (let node = parent.firstChild; node !== null; node = node.nextSibling) {
    if (blocks.has(node.name)) yield* moduleLevel(node, false);
    else yield { node, plain };
  }
}

function definitionOf(node: SyntaxNode, kind: string): SyntaxNode | null {
  if (node.name === kind) return node;
  return node.name === 'DecoratedStatement' ? node.getChild(kind) : null;
}

type Slice = (node: SyntaxNode) => string;

const nameOf = (definition: SyntaxNode, slice: Slice): string => {
  const name = definition.getChild('VariableName');
  return name === null ? '' : slice(name);
};

function functionOf(definition: SyntaxNode, slice: Slice): PythonFunction {
  const body = definition.getChild('Body');
  return {
    from: definition.from,
    to: definition.to,
    parameters: parametersOf(definition.getChild('ParamList'), slice),
    assignments: (target) =>
      body === null
        ? []
        : [...moduleLevel(body)].flatMap(({ node }) => assignmentOf(node, target, slice) ?? []),
  };
}

function parametersOf(list: SyntaxNode | null, slice: Slice): PythonFunction['parameters'] {
  const found: PythonFunction['parameters'] = [];
  let awaiting = false;
  for (let node = list?.firstChild ?? null; node !== null; node = node.nextSibling) {
    const last = found.at(-1);
    if (node.name === 'AssignOp') awaiting = true;
    else if (awaiting && last !== undefined) {
      last.default = { from: node.from, to: node.to, text: slice(node) };
      awaiting = false;
    } else if (node.name === 'VariableName') found.push({ name: slice(node), default: null });
  }
  return found;
}

function assignmentOf(node: SyntaxNode, target: string, slice: Slice): PythonAssignment | null {
  if (node.name !== 'AssignStatement') return null;
  const first = node.firstChild;
  if (first?.name !== 'VariableName' || slice(first) !== target) return null;
  const equals = node.getChild('AssignOp');
  if (equals === null) return null;
  const start = equals.nextSibling?.from ?? node.to;
  const text = slice(node).slice(start - node.from);
  return { from: node.from, to: node.to, value: { from: start, to: node.to, text } };
}

function callOf(node: SyntaxNode, callee: string, plain: boolean, slice: Slice): PythonCall | null {
  const call = node.getChild('CallExpression');
  if (call?.firstChild?.name !== 'VariableName' || slice(call.firstChild) !== callee) return null;
  const list = call.getChild('ArgList');
  return {
    from: node.from,
    to: node.to,
    plain,
    arguments: list === null ? '' : slice(list).slice(1, -1).trim(),
  };
}

function boundNames(node: SyntaxNode, slice: Slice): string[] {
  const definition = definitionOf(node, 'FunctionDefinition') ?? definitionOf(node, 'ClassDefinition');
  if (definition !== null) return [nameOf(definition, slice)];
  if (node.name === 'AssignStatement') return variablesBefore(node, 'AssignOp', slice);
  if (node.name === 'ImportStatement') return importedNames(node, slice);
  return [];
}

function variablesBefore(node: SyntaxNode, stop: string, slice: Slice): string[] {
  const names: string[] = [];
  for (let child = node.firstChild; child !== null && child.name !== stop; child = child.nextSibling) {
    if (child.name === 'VariableName') names.push(slice(child));
  }
  return names;
}

/** `import a.b` binds a, `import a as b` and `from x import a as b` bind b. */
function importedNames(node: SyntaxNode, slice: Slice): string[] {
  const text = slice(node)
    .replace(/#[^\n\r]*/g, '')
    .replace(/\\\r?\n/g, ' ');
  const from = /^from\s+\S+\s+import\s+([\s\S]*)$/.exec(text);
  const list = from?.[1] ?? text.replace(/^import\s+/, '');
  return list
    .replace(/[()]/g, ' ')
    .split(',')
    .map((part) => part.trim().split(/\s+as\s+/))
    .flatMap(([name, alias]) =>
      name === undefined || name === '' ? [] : [alias ?? (from ? name : (name.split('.')[0] ?? name))],
    );
}

function routesOf(node: SyntaxNode, slice: Slice): PythonRoute[] {
  if (node.name !== 'DecoratedStatement') return [];
  const definition = node.getChild('FunctionDefinition');
  return node.getChildren('Decorator').flatMap((decorator) => {
    const path = decorator.getChild('ArgList')?.getChild('String');
    if (path === null || path === undefined) return [];
    return [
      {
        from: node.from,
        to: node.to,
        path: slice(path).replace(/^['"]|['"]$/g, ''),
        name: definition === null ? '' : nameOf(definition, slice),
      },
    ];
  });
}
