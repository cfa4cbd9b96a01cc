import type { ProxyKind } from './web-proxies.ts';

/** Does with a proxy's configuration what a report prints, word for word, as a person would with an editor. */

/** The blocks of lines that a report for people prints for this proxy. */
export function advised(report: string, kind: ProxyKind): string[][] {
  const lines = report.split('\n');
  const starts = lines.flatMap((line, index) =>
    new RegExp(`^  (?:Or: )?in ${kind} on its own machine:$`, 'i').test(line) ? [index] : [],
  );
  return starts.map((start) => {
    const rest = lines.slice(start + 1);
    const end = rest.findIndex((line) => !line.startsWith('      '));
    return rest.slice(0, end).map((line) => line.slice(6));
  });
}

export const applyAll = (kind: ProxyKind, config: string, blocks: readonly string[][]): string =>
  blocks.reduce((text, block) => apply(kind, text, block), config);

type Edit = (config: string[], lines: readonly string[], kind: ProxyKind) => string[];

/** The place that the first line names. */
const edits: readonly [RegExp, Edit][] = [
  [
    /^# in the (location|reverse_proxy|backend) of the dashboard; it replaces lines that set the same$/,
    (config, lines, kind) => inRegion(config, dashboard(config), lines, kind),
  ],
  [
    /^# in the (location|reverse_proxy|backend) of \/api\/ws; it replaces lines that set the same$/,
    (config, lines, kind) => inRegion(config, socketBlock(config, kind), lines, kind),
  ],
  [
    /^# instead of the (location|reverse_proxy) of the dashboard/,
    (config, lines) => replaced(config, dashboard(config), lines),
  ],
  [
    /^# beside the location of the dashboard/,
    (config, lines) => [
      ...config.slice(0, dashboard(config)[0]),
      ...lines,
      ...config.slice(dashboard(config)[0]),
    ],
  ],
  [
    /^# instead of the location that refuses \/api\/ws:$/,
    (config, lines, kind) => {
      const [from, to] = socketBlock(config, kind);
      return [...config.slice(0, from - 1), ...lines, ...config.slice(to + 1)];
    },
  ],
  [
    /^# delete every line that begins so:$/,
    (config, lines) => config.filter((line) => !lines.some((start) => line.trim().startsWith(start))),
  ],
  [
    /^# in the frontend, before the rule/,
    (config, lines) => {
      const at = config.findIndex((line) => line.trim().startsWith('bind '));
      return [...config.slice(0, at + 1), ...lines, ...config.slice(at + 1)];
    },
  ],
  [
    /^# in the site; then write @login behind/,
    (config, lines) => {
      const at = dashboard(config)[0];
      return [...config.slice(0, at), ...lines, ...config.slice(at)].flatMap((line) => {
        if (line.trim().startsWith('@login ') && !lines.includes(line)) return [];
        return /^\s*basicauth \{/.test(line) ? ['basicauth @login {'] : [line];
      });
    },
  ],
  [
    /^# the (address in the reverse_proxy|server in the backend) of the dashboard:$/,
    (config, lines, kind) => inRegion(config, dashboard(config), lines, kind),
  ],
];

function apply(kind: ProxyKind, config: string, block: readonly string[]): string {
  const [place = '', ...lines] = block;
  const edit = edits.find(([pattern]) => pattern.test(place))?.[1];
  if (edit === undefined)
    throw new Error(`the report does not say where these lines go: ${block.join('\n')}`);
  return edit(config.split('\n'), lines, kind).join('\n');
}

/** Lines between these two, without them. */
type Region = [from: number, to: number];

const dashboard = (config: readonly string[]): Region => [
  config.findIndex((line) => line.trim() === '# dashboard') + 1,
  config.findIndex((line) => line.trim() === '# end of dashboard'),
];

function socketBlock(config: readonly string[], kind: ProxyKind): Region {
  const head = { nginx: 'location = /api/ws {', caddy: 'handle /api/ws {', haproxy: 'backend socket' }[kind];
  const from = config.findIndex((line) => line.trim() === head) + 1;
  const end = { nginx: '}', caddy: '}', haproxy: 'backend hermes' }[kind];
  return [from, config.findIndex((line, index) => index >= from && line.trim() === end)];
}

const replaced = (config: readonly string[], [from, to]: Region, lines: readonly string[]): string[] => [
  ...config.slice(0, from),
  ...lines,
  ...config.slice(to),
];

/** What a line sets: a header whatever is done with it, else its first words. */
function setting(line: string, kind: ProxyKind): string {
  const words = line.trim().split(/\s+/);
  const header = {
    nginx: /^proxy_set_header (\S+)/,
    caddy: /^header_up [-+]?(\S+)/,
    haproxy: /^http-request \w+-header (\S+)/,
  }[kind];
  const name = header.exec(line.trim())?.[1];
  return name === undefined
    ? words.slice(0, kind === 'haproxy' ? 2 : 1).join(' ')
    : `header ${name.toLowerCase()}`;
}

function inRegion(
  config: readonly string[],
  region: Region,
  lines: readonly string[],
  kind: ProxyKind,
): string[] {
  const set = new Set(lines.map((line) => setting(line, kind)));
  const block = config.slice(...region).filter((line) => !set.has(setting(line, kind)));
  return replaced(config, region, inside(block, lines, kind));
}

/** Into the innermost block of the dashboard; Caddy's may have no braces yet. */
function inside(block: readonly string[], lines: readonly string[], kind: ProxyKind): string[] {
  if (kind === 'haproxy') return [...block, ...lines];
  if (kind === 'nginx') {
    const end = block.findLastIndex((line) => line.trim() === '}');
    return end < 0 ? [...block, ...lines] : [...block.slice(0, end), ...lines, ...block.slice(end)];
  }
  if (lines.some((line) => line.startsWith('reverse_proxy ')))
    return [...lines.map((line) => `${line} {`), ...block];
  const at = block.findIndex((line) => line.trim().startsWith('reverse_proxy '));
  const head = (block[at] ?? '').trimEnd();
  return head.endsWith('{')
    ? [...block.slice(0, at + 1), ...lines, ...block.slice(at + 1)]
    : [...block.slice(0, at), `${head} {`, ...lines, '}', ...block.slice(at + 1)];
}
