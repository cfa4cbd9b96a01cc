/**
 * What readers of JUnit XML agree on: elements, their attributes and their children. After the windyroad and Jenkins schemas:
 * https://github.com/windyroad/JUnit-Schema, https://github.com/jenkinsci/xunit-plugin (junit-10.xsd).
 */
interface Element {
  /** Required ones; `?` behind a name makes it optional. */
  attributes: Record<string, 'text' | 'count' | 'seconds'>;
  children: readonly string[];
  /** At most one of these. */
  outcome?: readonly string[];
  text?: true;
}

const outcomes = ['skipped', 'error', 'failure'];
const grammar: Record<string, Element> = {
  testsuites: {
    attributes: { 'name?': 'text', tests: 'count', failures: 'count', errors: 'count', 'time?': 'seconds' },
    children: ['testsuite'],
  },
  testsuite: {
    attributes: {
      name: 'text',
      tests: 'count',
      failures: 'count',
      errors: 'count',
      'skipped?': 'count',
      'time?': 'seconds',
    },
    children: ['testcase', 'system-out'],
  },
  testcase: {
    attributes: { name: 'text', classname: 'text', 'time?': 'seconds' },
    children: [...outcomes, 'system-out'],
    outcome: outcomes,
  },
  skipped: { attributes: { 'message?': 'text' }, children: [], text: true },
  error: { attributes: { message: 'text', type: 'text' }, children: [], text: true },
  failure: { attributes: { message: 'text', type: 'text' }, children: [], text: true },
  'system-out': { attributes: {}, children: [], text: true },
};

const kinds = { text: /^[^<]*$/, count: /^\d+$/, seconds: /^\d+\.\d{3}$/ };

export interface Xml {
  name: string;
  attributes: Record<string, string>;
  children: Xml[];
}

/** Reads the XML and holds it against the grammar; the counts must be those of what is in it. @throws with the first fault */
export function checkedJunit(text: string): Xml {
  const root = parse(text);
  if (root.name !== 'testsuites') throw new Error(`the root is ${root.name}`);
  check(root);
  count(root);
  for (const suite of root.children) count(suite);
  return root;
}

function check({ name, attributes, children }: Xml): void {
  const element = grammar[name];
  if (element === undefined) throw new Error(`unknown element ${name}`);
  const allowed = Object.entries(element.attributes);
  for (const [key, kind] of allowed) {
    const plain = key.replace('?', '');
    const value = attributes[plain];
    if (value === undefined && !key.endsWith('?')) throw new Error(`${name} lacks ${plain}`);
    if (value !== undefined && !kinds[kind].test(value))
      throw new Error(`${name} ${plain}="${value}" is no ${kind}`);
  }
  const names = new Set(allowed.map(([key]) => key.replace('?', '')));
  for (const key of Object.keys(attributes))
    if (!names.has(key)) throw new Error(`${name} may not have ${key}`);
  for (const child of children) {
    if (!element.children.includes(child.name)) throw new Error(`${child.name} in ${name}`);
    check(child);
  }
  if (children.filter((child) => element.outcome?.includes(child.name)).length > 1)
    throw new Error(`${name} has two outcomes`);
}

const casesIn = (node: Xml): Xml[] => (node.name === 'testcase' ? [node] : node.children.flatMap(casesIn));

function count(node: Xml): void {
  const cases = casesIn(node);
  const having = (name: string): number =>
    cases.filter(({ children }) => children.some((child) => child.name === name)).length;
  const real = { tests: cases.length, failures: having('failure'), errors: having('error') };
  for (const [key, number] of Object.entries(real))
    if (node.attributes[key] !== String(number))
      throw new Error(`${node.name} says ${key}="${node.attributes[key]}", there are ${number}`);
}

/** The part of XML that a report uses: elements, attributes, text and the predefined entities. */
function parse(text: string): Xml {
  const body = text.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, '');
  if (body === text) throw new Error('no XML declaration');
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(body))
    throw new Error('a character that XML cannot carry');
  const top: Xml = { name: '', attributes: {}, children: [] };
  const open: Xml[] = [top];
  for (const [, tag, plain] of body.matchAll(/<([^<>]+)>|([^<>]+)/g)) {
    const parent = open.at(-1) as Xml;
    if (tag === undefined) {
      const said = plain ?? '';
      if (said.trim() !== '' && grammar[parent.name]?.text !== true)
        throw new Error(`text in ${parent.name}: ${said.trim()}`);
      if (/&(?!(amp|lt|gt|quot|apos|#\d+);)/.test(said)) throw new Error(`a bare & in ${parent.name}`);
    } else if (tag.startsWith('/')) {
      if (open.length < 2 || parent.name !== tag.slice(1))
        throw new Error(`</${tag.slice(1)}> closes ${parent.name}`);
      open.pop();
    } else {
      const node = elementOf(tag);
      parent.children.push(node);
      if (!tag.endsWith('/')) open.push(node);
    }
  }
  if (open.length > 1) throw new Error(`${open.at(-1)?.name} stays open`);
  const [root] = top.children;
  if (root === undefined || top.children.length > 1) throw new Error('not one root');
  return root;
}

function elementOf(tag: string): Xml {
  const [, name = '', rest = ''] = /^([\w-]+)((?:\s[\s\S]*?)?)\s*\/?$/.exec(tag) ?? [];
  const attributes: Record<string, string> = {};
  const left = rest.replaceAll(/\s+([\w-]+)="([^"<]*)"/g, (_, key: string, value: string) => {
    if (key in attributes) throw new Error(`${name} has ${key} twice`);
    if (/&(?!(amp|lt|gt|quot|apos|#\d+);)/.test(value)) throw new Error(`a bare & in ${key}`);
    attributes[key] = value;
    return '';
  });
  if (left.trim() !== '' || name === '') throw new Error(`<${tag}> is no element`);
  return { name, attributes, children: [] };
}
