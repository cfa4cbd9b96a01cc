import { usageError } from '../errors.ts';
import { parseTarget } from './parse.ts';
import type { PlannedTarget } from './targets-file.ts';
import type { Target } from './types.ts';

/** What `ansible-inventory --list` prints, as far as we need it. */
interface Inventory {
  _meta?: { hostvars?: Record<string, Record<string, unknown>> };
}

/**
 * Targets of an Ansible inventory, in the order of their names. A host is `ssh://ansible_user@ansible_host:ansible_port` unless
 * `hermes_compat_address` says otherwise; `hermes_compat_client` names its client, `hermes_compat_token_env` its token's variable.
 *
 * @throws CompatError usage
 */
export function targetsOfInventory(json: string, client: string | null): PlannedTarget[] {
  let inventory: unknown;
  try {
    inventory = JSON.parse(json);
  } catch (error) {
    throw usageError('ansible-inventory did not print JSON', { cause: error });
  }
  const hostvars = (inventory as Inventory | null)?._meta?.hostvars ?? {};
  const hosts = new Set([...Object.keys(hostvars), ...groupHosts(inventory)]);
  if (hosts.size === 0) throw usageError('the Ansible inventory holds no hosts');
  return [...hosts].sort().map((host) => plannedHost(host, hostvars[host] ?? {}, client));
}

/** Hosts without any variable are named in groups only. */
const groupHosts = (inventory: unknown): string[] =>
  Object.values((inventory ?? {}) as Record<string, unknown>).flatMap((group) => {
    const hosts = (group as { hosts?: unknown } | null)?.hosts;
    return Array.isArray(hosts) ? hosts.filter((host): host is string => typeof host === 'string') : [];
  });

function plannedHost(host: string, vars: Record<string, unknown>, fallback: string | null): PlannedTarget {
  const text = (key: string): string | null => {
    const value = vars[key];
    return typeof value === 'string' && value !== ''
      ? value
      : typeof value === 'number'
        ? String(value)
        : null;
  };
  const client = text('hermes_compat_client') ?? fallback;
  if (client === null)
    throw usageError(`host ${host.slice(0, 80)}: no client; set hermes_compat_client or give --client`);
  const tokenEnv = text('hermes_compat_token_env');
  const address = text('hermes_compat_address') ?? sshAddress(host, text);
  return {
    name: host,
    place: null,
    target: { ...targetOf(host, address), name: host },
    client,
    mode: 'auto',
    origin: null,
    require: [],
    secrets: tokenEnv === null ? {} : { tokenEnv },
    ca: null,
    headerFile: null,
    timeoutMs: null,
  };
}

function targetOf(host: string, address: string): Target {
  if (address.includes('{{'))
    throw usageError(
      `host ${host.slice(0, 80)}: its address is a template, which ansible-inventory does not fill in; set hermes_compat_address`,
    );
  try {
    return parseTarget(address, (path) => path);
  } catch (error) {
    throw usageError(`host ${host.slice(0, 80)}: ${error instanceof Error ? error.message : 'no target'}`, {
      cause: error,
    });
  }
}

function sshAddress(host: string, text: (key: string) => string | null): string {
  if (text('ansible_connection') === 'local') return 'local';
  const address = text('ansible_host') ?? host;
  const user = text('ansible_user');
  const port = text('ansible_port');
  const bracketed = address.includes(':') ? `[${address}]` : address;
  return `ssh://${user === null ? '' : `${user}@`}${bracketed}${port === null ? '' : `:${port}`}`;
}
