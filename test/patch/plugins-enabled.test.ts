import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { disablePlugin, enablePlugin } from '../../src/patch/plugins-enabled.ts';
import type { ConfigUndo } from '../../src/patch/schema.ts';

const name = 'hermes-compat';

async function add(text: string): Promise<{ text: string; undo: ConfigUndo }> {
  const edit = await enablePlugin(text, name);
  if (edit.kind !== 'edited') throw new Error(JSON.stringify(edit));
  return edit;
}

async function takeOut(text: string, undo: ConfigUndo | null): Promise<string> {
  const edit = await disablePlugin(text, name, undo);
  if (edit.kind !== 'edited') throw new Error(JSON.stringify(edit));
  return edit.text;
}

/** What was, and what must come out: the smallest change that a person would make. */
const shapes: [string, string, string][] = [
  ['an empty file', '', 'plugins:\n  enabled:\n    - hermes-compat\n'],
  ['comments only', '# mine\n', '# mine\nplugins:\n  enabled:\n    - hermes-compat\n'],
  ['no plugins key', 'model: x # keep\n', 'model: x # keep\nplugins:\n  enabled:\n    - hermes-compat\n'],
  ['no final line break', 'model: x', 'model: x\nplugins:\n  enabled:\n    - hermes-compat'],
  [
    'an odd indentation of everything',
    '   model: x\n   b: 2\n',
    '   model: x\n   b: 2\n   plugins:\n     enabled:\n       - hermes-compat\n',
  ],
  [
    'plugins without enabled',
    'plugins: # ours\n  disabled: [a]\nmodel: x\n',
    'plugins: # ours\n  enabled:\n    - hermes-compat\n  disabled: [a]\nmodel: x\n',
  ],
  [
    'plugins without a value',
    'plugins:\nmodel: x\n',
    'plugins:\n  enabled:\n    - hermes-compat\nmodel: x\n',
  ],
  ['plugins null', 'plugins: ~ # none\n', 'plugins: {enabled: [hermes-compat]} # none\n'],
  ['plugins {}', 'plugins: {}\n', 'plugins: {enabled: [hermes-compat]}\n'],
  ['a flow map', 'plugins: {disabled: []}\n', 'plugins: {enabled: [hermes-compat], disabled: []}\n'],
  ['a flow root', '{model: x}\n', '{plugins: {enabled: [hermes-compat]}, model: x}\n'],
  ['an empty list', 'plugins:\n  enabled: []\n', 'plugins:\n  enabled: [hermes-compat]\n'],
  [
    'a flow list',
    'plugins:\n  enabled: [\'a\', "b"] # c\n',
    'plugins:\n  enabled: [\'a\', "b", hermes-compat] # c\n',
  ],
  [
    'a flow list over lines',
    'plugins:\n  enabled: [\n    a, # one\n    b, # two\n  ]\n',
    'plugins:\n  enabled: [\n    a, # one\n    b, hermes-compat, # two\n  ]\n',
  ],
  [
    'a block list at the column of its key',
    'plugins:\n  enabled:\n  - a # one\n  # end\nmodel: x\n',
    'plugins:\n  enabled:\n  - a # one\n  - hermes-compat\n  # end\nmodel: x\n',
  ],
  [
    'a block list far in',
    'plugins:\n      enabled:\n            -   "a"\n',
    'plugins:\n      enabled:\n            -   "a"\n            - hermes-compat\n',
  ],
  [
    'a list as last line without an end',
    'plugins:\n  enabled:\n    - a',
    'plugins:\n  enabled:\n    - a\n    - hermes-compat',
  ],
  ['enabled without a value', 'plugins:\n  enabled:\n', 'plugins:\n  enabled:\n    - hermes-compat\n'],
  ['enabled null', 'plugins:\n  enabled: null\n', 'plugins:\n  enabled: [hermes-compat]\n'],
  [
    'an anchored list that nobody uses',
    'plugins:\n  enabled: &l [a]\n',
    'plugins:\n  enabled: &l [a, hermes-compat]\n',
  ],
  [
    'a literal block at the end, without a line break',
    'note: |\n  text',
    'plugins:\n  enabled:\n    - hermes-compat\nnote: |\n  text',
  ],
];

describe('plugins.enabled', () => {
  for (const [what, before, after] of shapes) {
    for (const [eol, how] of [
      ['\n', 'LF'],
      ['\r\n', 'CRLF'],
    ] as const) {
      test(`${what}, ${how}: added in place, and taken out to the byte`, async () => {
        const text = before.replaceAll('\n', eol);
        const edit = await add(text);
        // An empty file says nothing about line ends.
        expect(edit.text).toBe(before.includes('\n') ? after.replaceAll('\n', eol) : after);
        expect(await enablePlugin(edit.text, name)).toEqual({ kind: 'present' });
        expect(await takeOut(edit.text, edit.undo)).toBe(text);
      });
    }
  }

  test.each([
    ['two documents', 'a: 1\n---\nb: 2\n', /more than one document/],
    ['a list at the root', '- a\n', /not a map/],
    ['plugins as text', 'plugins: yes please\n', /"plugins" in it is not a map/],
    ['enabled as text', 'plugins:\n  enabled: a\n', /not a list/],
    ['bad YAML', 'a: [1\nb: 2\n', /not valid/],
    ['one key twice', 'plugins: {}\nplugins: {}\n', /not valid/],
    [
      'a list that another key shares',
      'x: &l [a]\nplugins:\n  enabled: *l\n',
      /without changing something else/,
    ],
    [
      'an anchor that another key reads',
      'plugins:\n  enabled: &l [a]\nx: *l\n',
      /without changing something else/,
    ],
    [
      'plugins from a merge key',
      'b: &b\n  plugins: {disabled: [z]}\n<<: *b\n',
      /without changing something else/,
    ],
  ])('%s: refused, with the reason', async (_what, text, why) => {
    const edit = await enablePlugin(text, name);
    expect(edit.kind).toBe('refused');
    expect((edit as { why: string }).why).toMatch(why);
  });

  test.each([
    'plugins:\n  enabled:\n    - name: a\n      opt:\n        - 1\n      # tail\n# end\nmodel: x\n',
    'plugins:\n  enabled:\n    - a very\n      long name\nmodel: x\n',
    'plugins:\n  enabled:\n    # - a\n    # - b\n  disabled: []\n',
    'plugins:\n  enabled:\n    - a\n  note: >-\n    long\n    text',
    'plugins:\n  enabled:\n    -\n    - ~\n',
    'plugins: {enabled: [a,],}\n',
    'plugins: !!map {}\n',
    '%YAML 1.1\n---\nmodel: x\n',
    '--- # c\nmodel: x\n... # d\n# e\n',
    '? plugins\n: enabled: [a]\n',
    'model: x\r\nplugins:\n  enabled:\r\n    - a\n',
  ])('an odd form: %j', async (text) => {
    const edit = await add(text);
    expect(await enablePlugin(edit.text, name)).toEqual({ kind: 'present' });
    expect(await takeOut(edit.text, edit.undo)).toBe(text);
  });

  test('a byte order mark stays', async () => {
    const text = '\uFEFFmodel: x\n';
    const edit = await add(text);
    expect(edit.text).toBe('\uFEFFmodel: x\nplugins:\n  enabled:\n    - hermes-compat\n');
    expect(await takeOut(edit.text, edit.undo)).toBe(text);
  });

  test('what others wrote since stays, ours goes', async () => {
    const { text, undo } = await add('model: x\n');
    const changed = `# top\n${text.replace('    - hermes-compat\n', '    - hermes-compat\n    - other\n')}z: 1\n`;
    expect(await takeOut(changed, undo)).toBe('# top\nmodel: x\nplugins:\n  enabled:\n    - other\nz: 1\n');
  });

  test('reformatted by the engine since: only our entry goes', async () => {
    const { undo } = await add('model: x\n');
    const rewritten = 'model: x\nplugins:\n  enabled:\n  - hermes-compat\n  isolation: in-process\n';
    expect(await takeOut(rewritten, undo)).toBe('model: x\nplugins:\n  isolation: in-process\n');
  });

  test('without a record of how it came there: the list stays, empty', async () => {
    expect(await takeOut('plugins:\n  enabled:\n    - hermes-compat # c\n', null)).toBe(
      'plugins:\n  enabled: [] # c\n',
    );
    expect(await takeOut('plugins:\n  enabled: [hermes-compat, a]\n', null)).toBe(
      'plugins:\n  enabled: [a]\n',
    );
    expect(await takeOut('plugins:\n  enabled: [a, hermes-compat]\n', null)).toBe(
      'plugins:\n  enabled: [a]\n',
    );
  });

  test('property: the rest means the same, and taking out is the inverse', async () => {
    await fc.assert(
      fc.asyncProperty(yamlText, async (text) => {
        const edit = await enablePlugin(text, name);
        fc.pre(edit.kind === 'edited');
        if (edit.kind !== 'edited') return;
        const [before, after] = [text, edit.text].map((each) => parse(each, { merge: true }) as Shape | null);
        const rest = ({ plugins, ...others }: Shape) => [others, { ...plugins, enabled: undefined }];
        expect(rest(after ?? {})).toEqual(rest(before ?? {}));
        expect(after?.plugins?.enabled).toEqual([...(before?.plugins?.enabled ?? []), name]);
        expect(await takeOut(edit.text, edit.undo)).toBe(text);
      }),
      { numRuns: 500 },
    );
  });
});

interface Shape {
  plugins?: { enabled?: string[] | null } | null;
  [key: string]: unknown;
}

/** Files as people write them: comments, quotes, flow and block, anchors, any indentation, any line end. */
const comment = fc.constantFrom('', ' # c', '  # hermes-compat', ' # "quoted: x"');
const gap = fc.constantFrom('', '\n', '# a comment\n', '  # indented comment\n', '\n\n');
const scalar = fc.constantFrom(
  'x',
  "'it''s'",
  '"a: b"',
  '1',
  'true',
  '~',
  '[1, {a: b}]',
  '&q w',
  '!!str 5',
  '|\n      literal\n      text',
);
const listItem = fc.constantFrom('a', "'b c'", '"d"', 'org/e');

const enabled = fc.oneof(
  fc.constant(null),
  fc.record({
    items: fc.uniqueArray(listItem, { maxLength: 3 }),
    form: fc.constantFrom('block', 'same', 'flow', 'null', 'empty'),
  }),
);

const yamlText = fc
  .record({
    head: gap,
    before: fc.array(fc.tuple(fc.constantFrom('model', 'agent', 'x.y', '"k"'), scalar, comment, gap), {
      maxLength: 3,
    }),
    plugins: fc.constantFrom('none', 'block', 'null', 'flow'),
    enabled,
    extra: fc.boolean(),
    after: fc.array(fc.tuple(fc.constantFrom('last', 'zz'), scalar, comment, gap), { maxLength: 2 }),
    step: fc.integer({ min: 1, max: 5 }),
    eol: fc.constantFrom('\n', '\r\n'),
    final: fc.boolean(),
    bom: fc.boolean(),
    note: comment,
  })
  .map((shape) => {
    const line = ([key, value, c, g]: readonly [string, string, string, string]): string =>
      `${key}: ${value}${value.startsWith('|') ? '' : c}\n${g}`;
    const unique = new Map([...shape.before, ...shape.after].map((entry) => [entry[0], entry]));
    const lines = [...unique.values()].map(line);
    const text =
      shape.head +
      lines.slice(0, shape.before.length).join('') +
      pluginsText(shape) +
      lines.slice(shape.before.length).join('');
    const ended = shape.final ? text : text.replace(/\n+$/, '');
    return (shape.bom ? '\uFEFF' : '') + ended.replaceAll('\n', shape.eol);
  });

function pluginsText(shape: {
  plugins: string;
  step: number;
  extra: boolean;
  note: string;
  enabled: { items: string[]; form: string } | null;
}): string {
  const { plugins, note } = shape;
  if (plugins === 'none') return '';
  if (plugins === 'null') return `plugins:${note}\n`;
  const list = shape.enabled;
  if (plugins === 'flow')
    return `plugins: {${list === null ? '' : `enabled: [${list.items.join(', ')}]`}}${note}\n`;
  const pad = ' '.repeat(shape.step);
  const extra = shape.extra ? `${pad}disabled: [q]${note}\n` : '';
  if (list === null) return extra === '' ? `plugins:${note}\n` : `plugins:${note}\n${extra}`;
  return `plugins:${note}\n${pad}enabled:${listText(list, pad, note)}${extra}`;
}

function listText({ items, form }: { items: string[]; form: string }, pad: string, note: string): string {
  if (form === 'null') return ` null${note}\n`;
  if (form === 'empty') return `${note}\n`;
  if (form === 'flow' || items.length === 0) return ` [${items.join(', ')}]${note}\n`;
  const deep = form === 'same' ? pad : `${pad}   `;
  return `${note}\n${items.map((item) => `${deep}- ${item}${note}\n`).join('')}`;
}
