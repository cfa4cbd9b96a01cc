/** What config.yaml says about plugins. */
export interface ConfigFacts {
  exists: boolean;
  /** Why it cannot be read as a map. */
  problem: string | null;
  enabled: string[] | null;
  disabled: string[];
  isolation: string | null;
  version: number | null;
}

const none: ConfigFacts = {
  exists: false,
  problem: null,
  enabled: null,
  disabled: [],
  isolation: null,
  version: null,
};

/** `text` null: no such file, or no UTF-8 (then `exists` says so). */
export async function configFacts(text: string | null, exists = text !== null): Promise<ConfigFacts> {
  if (text === null) return exists ? { ...none, exists, problem: 'it is no UTF-8 text' } : none;
  const yaml = await import('yaml');
  let data: unknown;
  try {
    data = yaml.parse(text, { merge: true, uniqueKeys: false, logLevel: 'silent' });
  } catch (error) {
    return {
      ...none,
      exists: true,
      problem: error instanceof Error ? (error.message.split('\n')[0] ?? '') : '',
    };
  }
  const root = record(data);
  const plugins = record(root?.['plugins']);
  const version = root?.['_config_version'];
  return {
    exists: true,
    problem: null,
    enabled: words(plugins?.['enabled']),
    disabled: words(plugins?.['disabled']) ?? [],
    isolation: typeof plugins?.['isolation'] === 'string' ? plugins['isolation'] : null,
    version: typeof version === 'number' ? version : null,
  };
}

const record = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;

const words = (value: unknown): string[] | null =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : null;
