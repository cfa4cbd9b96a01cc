/** The few keys of `config.yaml` that decide what a dashboard loads. */
export interface ConfigFacts {
  /** null: there is no such list, or it is written in a way that this reader does not know. */
  pluginsEnabled: string[] | null;
  pluginsIsolation: string | null;
  publicUrl: boolean;
  configVersion: number | null;
}

/** Reads the lines that `host-scripts/gather/` picked (`plugins.enabled`, `plugins.isolation`, `dashboard.public_url`, `_config_version`). */
export function readConfigExcerpt(lines: string[]): ConfigFacts {
  const facts: ConfigFacts = {
    pluginsEnabled: null,
    pluginsIsolation: null,
    publicUrl: false,
    configVersion: null,
  };
  let list: string[] | null = null;
  for (const line of lines) {
    const item = /^\s+-(?:\s+(.*))?$/.exec(line);
    if (item && list) {
      const value = scalar(item[1] ?? '');
      if (value !== '') list.push(value);
      continue;
    }
    const entry = /^\s*["']?(\w+)["']?\s*:(.*)$/.exec(line);
    if (!entry) continue;
    const [, key, rest = ''] = entry;
    list = null;
    if (key === 'enabled') {
      list = enabledList(rest);
      facts.pluginsEnabled = list;
    }
    if (key === 'isolation') facts.pluginsIsolation = scalar(rest) || null;
    if (key === 'public_url') facts.publicUrl = true;
    if (key === '_config_version') facts.configVersion = wholeNumber(scalar(rest));
  }
  return facts;
}

/** A flow list, or the start of a block list; null for anything else. */
function enabledList(rest: string): string[] | null {
  const value = rest.replace(/\s#.*$/, '').trim();
  if (value === '') return [];
  const flow = /^\[(.*)\]$/.exec(value);
  if (!flow) return null;
  return (flow[1] as string)
    .split(',')
    .map(scalar)
    .filter((name) => name !== '');
}

function scalar(text: string): string {
  const value = text.trim();
  const quoted = /^(["'])(.*?)\1/.exec(value);
  return quoted ? (quoted[2] as string) : value.replace(/(^|\s)#.*$/, '').trim();
}

const wholeNumber = (text: string): number | null => (/^\d{1,6}$/.test(text) ? Number(text) : null);
