import * as fc from 'fast-check';
import type { z } from 'zod';

/** What a zod schema looks like inside, as far as we use it. */
interface Def {
  type: string;
  shape?: Record<string, z.ZodType>;
  element?: z.ZodType;
  entries?: Record<string, string>;
  innerType?: z.ZodType;
  values?: unknown[];
  options?: z.ZodType[];
  valueType?: z.ZodType;
}

/** Texts that have hurt somebody: versions, hosts, markup, escapes, prototype keys. */
const nasty = [
  '',
  'v0.19.0',
  '0.14.0',
  '0.22.2.post1+local',
  'garbage',
  '99999999999999999999',
  '__proto__',
  'constructor',
  '\u001b[31mred\u001b]0;title\u0007',
  '</script><script>alert(1)</script>',
  '::error::x\n::set-output name=a::b',
  '%0A::warning::x',
  'a\u202eb\u0000c\ud800',
  'http://[::1]:9119/hermes/',
  'not a url',
  '{"detail":"Unauthorized"}',
  'Invalid Host header',
  'No such API endpoint: /api/ws',
  'peer_not_loopback peer=10.0.0.1',
  'stash@{1}: On main: hermes-update-autostash-1',
  '{"compatible":true}',
  "it's `$(touch /tmp/x)`; rm -rf /",
];

const text = fc.oneof(
  fc.constantFrom(...nasty),
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
const number = fc.oneof(
  fc.constantFrom(0, 1, 3, 8, 12, 22, 101, 200, 302, 400, 401, 403, 404, 426, 429, 500, 502, 4711, 9119),
  fc.integer({ min: 0, max: 1e9 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

/** Any value that a schema takes. */
export function arbitraryOf(schema: z.ZodType): fc.Arbitrary<unknown> {
  const def = (schema as unknown as { def: Def }).def;
  switch (def.type) {
    case 'object':
      return fc.record(
        Object.fromEntries(Object.entries(def.shape ?? {}).map(([key, each]) => [key, arbitraryOf(each)])),
      );
    case 'array':
      return fc.array(arbitraryOf(def.element as z.ZodType), { maxLength: 3 });
    case 'enum':
      return fc.constantFrom(...Object.values(def.entries ?? {}));
    case 'nullable':
      return fc.option(arbitraryOf(def.innerType as z.ZodType), { nil: null });
    case 'optional':
      return fc.option(arbitraryOf(def.innerType as z.ZodType), { nil: undefined });
    case 'literal':
      return fc.constantFrom(...(def.values ?? []));
    case 'union':
      return fc.oneof(...(def.options ?? []).map(arbitraryOf));
    case 'record':
      return fc.dictionary(text, arbitraryOf(def.valueType as z.ZodType), { maxKeys: 3 });
    case 'string':
      return text;
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'number':
      return number.map((value) =>
        schema.safeParse(value).success ? value : Math.abs(Math.trunc(value) % 1e9),
      );
    default:
      throw new Error(`no arbitrary for ${def.type}`);
  }
}

/** The schema under a path of keys, arrays and options looked through. */
function partsOf(schema: z.ZodType, path: string[] = []): { path: string[]; schema: z.ZodType }[] {
  const def = (schema as unknown as { def: Def }).def;
  if (def.type === 'nullable' || def.type === 'optional') return partsOf(def.innerType as z.ZodType, path);
  if (def.type !== 'object') return [];
  return Object.entries(def.shape ?? {}).flatMap(([key, each]) => [
    { path: [...path, key], schema: each },
    ...partsOf(each, [...path, key]),
  ]);
}

const replaced = (value: unknown, path: readonly string[], other: unknown): unknown => {
  const [key, ...rest] = path;
  if (key === undefined) return other;
  if (typeof value !== 'object' || value === null) return value;
  const held = (value as Record<string, unknown>)[key];
  return { ...value, [key]: rest.length === 0 ? other : replaced(held, rest, other) };
};

/** A good document in which a few parts, chosen at random, have other valid values. */
export function mutated<T>(good: T, schema: z.ZodType): fc.Arbitrary<T> {
  const parts = partsOf(schema).filter(({ path }) => path[0] !== 'schemaVersion' && path[0] !== 'kind');
  const change = fc
    .constantFrom(...parts)
    .chain(({ path, schema: part }) => arbitraryOf(part).map((value) => ({ path, value })));
  return fc
    .array(change, { minLength: 1, maxLength: 4 })
    .map(
      (changes) =>
        changes.reduce((facts: unknown, { path, value }) => replaced(facts, path, value), good) as T,
    );
}

/** One probe of a list, replaced by any probe with the same id. */
export function anyOfList<T extends { id: string }>(
  good: readonly T[],
  schema: z.ZodType,
): fc.Arbitrary<T[]> {
  return fc
    .array(
      fc.tuple(
        fc.constantFrom(
          ...good.map((each) => each.id),
          'no-origin',
          'loopback-host',
          'events',
          'console',
          'openapi',
          'login',
          'asset',
        ),
        arbitraryOf(schema),
      ),
      { maxLength: 3 },
    )
    .map((others) => {
      const made = others.map(([id, probe]) => ({ ...(probe as T), id }));
      return [...good.filter((each) => !made.some((other) => other.id === each.id)), ...made];
    });
}
