import type { Document, LineCounter, Node } from 'yaml';
import { usageError } from '../errors.ts';
import { parseTarget } from './parse.ts';
import type { TargetsFile } from './targets-schema.ts';
import type { Target } from './types.ts';

/** One line of work for `preflight`: defaults applied, address parsed. Secrets are still only named. */
export interface PlannedTarget {
  name: string;
  /** File, line and column of its name, for what is found wrong later; null where no file of ours names it. */
  place: string | null;
  target: Target;
  client: string;
  mode: 'auto' | 'dashboard' | 'legacy';
  origin: string | null;
  require: string[];
  secrets: {
    tokenEnv?: string;
    tokenFile?: string;
    username?: string;
    passwordEnv?: string;
    passwordFile?: string;
  };
  ca: string | null;
  headerFile: string | null;
  timeoutMs: number | null;
}

export interface TargetsPlan {
  parallel: number | null;
  targets: PlannedTarget[];
}

type Place = (path: readonly PropertyKey[], key?: boolean) => string;

/**
 * Reads a targets file (YAML or JSON). `resolve` makes paths in it absolute, relative to the file. Nothing in it can run a command.
 *
 * @throws CompatError usage, with line and column; values are not repeated, since an address may hold a password
 */
export async function parseTargetsFile(
  text: string,
  label: string,
  resolve: (path: string) => string,
): Promise<TargetsPlan> {
  const [{ parseDocument, LineCounter: Lines }, { targetsFileSchema }] = await Promise.all([
    import('yaml'),
    import('./targets-schema.ts'),
  ]);
  const lines = new Lines();
  const document = parseDocument(text, {
    lineCounter: lines,
    merge: false,
    strict: true,
    prettyErrors: false,
  });
  const [syntax] = document.errors;
  if (syntax !== undefined) throw fileError(label, at(lines, syntax.pos[0]), syntaxText(syntax.message));
  const place = placeIn(document, lines);
  const value = plainValue(document, label);
  const checked = targetsFileSchema.safeParse(value);
  if (!checked.success) {
    // A misspelt key also leaves its right name missing: the misspelling is what helps.
    const issue =
      checked.error.issues.find((each) => each.code === 'unrecognized_keys') ?? checked.error.issues[0];
    const unknownKey = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
    const where =
      unknownKey === undefined ? place(issue?.path ?? []) : place([...(issue?.path ?? []), unknownKey], true);
    const what =
      unknownKey === undefined
        ? `${pathText(issue?.path ?? [])}: ${issue?.message}`
        : `unknown key "${unknownKey.slice(0, 60)}"`;
    throw fileError(label, where, what);
  }
  return plan(checked.data, label, place, resolve);
}

function plan(
  file: TargetsFile,
  label: string,
  place: Place,
  resolve: (path: string) => string,
): TargetsPlan {
  const names = new Set<string>();
  const targets = file.targets.map((entry, index): PlannedTarget => {
    const fail = (key: string, what: string): Error => fileError(label, place(['targets', index, key]), what);
    if (names.has(entry.name)) throw fail('name', `the name "${entry.name.slice(0, 60)}" is used twice`);
    names.add(entry.name);
    const client = entry.client ?? file.defaults?.client;
    if (client === undefined)
      throw fail(
        'name',
        `target "${entry.name.slice(0, 60)}" names no client, and there is none in defaults`,
      );
    let target: Target;
    try {
      target = parseTarget(entry.address, resolve);
    } catch (error) {
      throw fail('address', error instanceof Error ? error.message : 'is no target');
    }
    const { defaults } = file;
    const path = (value: string | undefined): string | null => (value === undefined ? null : resolve(value));
    return {
      name: entry.name,
      place: `${label}:${place(['targets', index, 'name'])}`,
      target: { ...target, name: entry.name },
      client,
      mode: entry.mode ?? defaults?.mode ?? 'auto',
      origin: entry.origin ?? defaults?.origin ?? null,
      require: [...new Set([...(defaults?.require ?? []), ...(entry.require ?? [])])],
      secrets: secretsOf(entry, defaults, resolve, fail),
      ca: path(entry.ca ?? defaults?.ca),
      headerFile: path(entry.headerFile ?? defaults?.headerFile),
      timeoutMs: entry.timeoutMs ?? defaults?.timeoutMs ?? null,
    };
  });
  return { parallel: file.parallel ?? null, targets };
}

type Keys = 'tokenEnv' | 'tokenFile' | 'username' | 'passwordEnv' | 'passwordFile';
type SecretKeys = { [K in Keys]?: string | undefined };

/** A target's own credential replaces that of the defaults as a whole. */
function secretsOf(
  entry: SecretKeys,
  defaults: SecretKeys | undefined,
  resolve: (path: string) => string,
  fail: (key: string, what: string) => Error,
): PlannedTarget['secrets'] {
  const keys: Keys[] = ['tokenEnv', 'tokenFile', 'username', 'passwordEnv', 'passwordFile'];
  const own = keys.some((key) => entry[key] !== undefined);
  const from = own ? entry : (defaults ?? {});
  const secrets: PlannedTarget['secrets'] = {};
  for (const key of keys) {
    const value = from[key];
    if (value !== undefined) secrets[key] = key.endsWith('File') ? resolve(value) : value;
  }
  if (secrets.tokenEnv !== undefined && secrets.tokenFile !== undefined)
    throw fail('tokenFile', 'give tokenEnv or tokenFile, not both');
  if (secrets.username !== undefined && (secrets.tokenEnv ?? secrets.tokenFile) !== undefined) {
    throw fail('username', 'give a token or a user name, not both');
  }
  if ((secrets.username === undefined) !== ((secrets.passwordEnv ?? secrets.passwordFile) === undefined)) {
    throw fail('username', 'username and one of passwordEnv and passwordFile belong together');
  }
  return secrets;
}

const syntaxText = (message: string): string =>
  /call stack/i.test(message) ? 'is nested too deeply' : (message.split('\n')[0] ?? 'is not YAML');

/** One alias for a thousand targets is ordinary; what grows by tens at each level is a bomb. */
const maxAliasCount = 10_000;

function plainValue(document: Document, label: string): unknown {
  try {
    return document.toJS({ maxAliasCount });
  } catch {
    throw fileError(label, '1:1', 'uses an alias too often, or aliases within aliases');
  }
}

const at = (lines: LineCounter, offset: number): string => {
  const { line, col } = lines.linePos(offset);
  return `${line}:${col}`;
};

/** line:column of a value, or of its key; of the nearest parent that is there when it is missing. */
const placeIn =
  (document: Document, lines: LineCounter): Place =>
  (path, key = false) => {
    for (let length = path.length; length >= 0; length -= 1) {
      const parts = path.slice(0, length);
      const offset =
        key && length === path.length ? keyOffset(document, parts) : valueOffset(document, parts);
      if (offset !== null) return at(lines, offset);
    }
    return '1:1';
  };

function valueOffset(document: Document, path: readonly PropertyKey[]): number | null {
  const node = path.length === 0 ? document.contents : document.getIn(path, true);
  return (node as Node | undefined)?.range?.[0] ?? null;
}

function keyOffset(document: Document, path: readonly PropertyKey[]): number | null {
  const parent: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const items = (parent as { items?: { key?: Node & { value?: unknown } }[] } | undefined)?.items ?? [];
  return items.find((item) => item.key?.value === path.at(-1))?.key?.range?.[0] ?? null;
}

const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '') || 'the file';

const fileError = (label: string, where: string, what: string): Error =>
  usageError(`${label}:${where}: ${what}`);
