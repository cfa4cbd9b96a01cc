import { field } from './json.ts';
import type { Redactor } from './redact.ts';
import type { StatusFact } from './schema.ts';

/** Fields of GET /api/status that no other product's status has together. Source: hermes_cli/web_server.py 0.9–0.22. */
const marks = [
  'version',
  'release_date',
  'config_version',
  'latest_config_version',
  'hermes_home',
  'config_path',
  'env_path',
  'gateway_running',
  'gateway_state',
  'gateway_platforms',
  'active_sessions',
  'auth_required',
  'auth_providers',
  'can_update_hermes',
];

/** Its other fields are never shown as they came: a release may publish a token there. */
export const isStatus = (json: unknown): boolean =>
  marks.filter((name) => field(json, name) !== undefined).length >= 2;

/** Known fields of a Hermes status, each only when of the right type; null when the answer is not a Hermes dashboard's. */
export function readStatus(status: number | null, json: unknown, redact: Redactor): StatusFact | null {
  if (status !== 200 || !isStatus(json)) return null;
  const wrongTypes: string[] = [];
  const read = <T>(name: string, right: (value: unknown) => value is T): T | null => {
    const value = field(json, name);
    if (value === undefined || value === null) return null;
    if (right(value)) return value;
    wrongTypes.push(name);
    return null;
  };
  const text = (name: string, max: number): string | null => {
    const value = read(name, isString);
    return value === null ? null : redact.text(value, max);
  };
  const list = (name: string): string[] | null =>
    read(name, isStrings)
      ?.slice(0, 20)
      .map((item) => redact.text(item, 60)) ?? null;
  return {
    version: read('version', isShortString) === null ? null : text('version', 100),
    releaseDate: text('release_date', 60),
    authRequired: read('auth_required', isBoolean),
    authProviders: list('auth_providers'),
    authFlows: list('auth_flows'),
    hermesHome: text('hermes_home', 500),
    canUpdate: read('can_update_hermes', isBoolean),
    gatewayRunning: read('gateway_running', isBoolean),
    gatewayPid: read('gateway_pid', isCount),
    activeSessions: read('active_sessions', isCount),
    uiSurface: text('ui_surface', 60),
    wrongTypes,
  };
}

/** No engine's version comes near this; what is longer is not one. */
const isShortString = (value: unknown): value is string => typeof value === 'string' && value.length <= 200;
const isString = (value: unknown): value is string => typeof value === 'string';
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isStrings = (value: unknown): value is string[] => Array.isArray(value) && value.every(isString);

/** `0.14.0`, `v0.16.0.post2+local`: major and minor; null for text that is no version as a whole. */
export function minorOf(version: string | null): { major: number; minor: number } | null {
  const parts =
    /^v?(\d{1,9})\.(\d{1,9})(?:\.\d+)*(?:[-._]?(?:a|b|c|rc|alpha|beta|pre|post|rev|r|dev)[-._]?\d*)*(?:\+[a-z0-9]+(?:[-._][a-z0-9]+)*)?$/i.exec(
      version?.trim() ?? '',
    );
  return parts === null ? null : { major: Number(parts[1]), minor: Number(parts[2]) };
}

/** 0.16.0 is the first that knows a contract, always has chat on and honours a given token. */
export function isBefore016(version: string | null): boolean | null {
  const parts = minorOf(version);
  return parts === null ? null : parts.major === 0 && parts.minor < 16;
}
