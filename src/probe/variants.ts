import type { Access } from './access.ts';
import { upgradeAsk } from './gateway.ts';
import { get, skip } from './http.ts';
import type { Run } from './run.ts';
import type { HttpFact, WsFact } from './exchange-schema.ts';
import { skipUpgrade, upgrade } from './upgrade.ts';

/** The path of the upgrade as a plain request: a proxy's rule for it shows in the answer, be it another Host or another path. */
const plain = { id: 'ws-plain', path: '/api/ws' } as const;

/** One way to differ from the refused upgrade, and why it would prove nothing here. */
interface Variant {
  id: string;
  path?: string;
  origin?: null;
  host?: string;
  useless: (run: Run, access: Access) => string | null;
}

/** The names that an engine bound to loopback accepts; to it the rest of 127/8 is foreign. */
const engineLoopback = /^(?:localhost|127\.0\.0\.1|\[?::1\]?)$/i;

const variants: readonly Variant[] = [
  {
    id: 'new-ticket',
    useless: (_, access) => (access.ticket === null ? 'no ticket is used here' : null),
  },
  {
    id: 'no-origin',
    origin: null,
    useless: (run) => (run.input.origin === null ? 'no Origin was sent' : null),
  },
  {
    id: 'loopback-host',
    host: '127.0.0.1',
    useless: (run) => {
      if (engineLoopback.test(run.route.host)) return 'the Host is loopback already';
      return run.input.proxied === 'no' ? 'nothing in between that could treat hosts differently' : null;
    },
  },
  { id: 'events', path: '/api/events?channel=hermes-compat', useless: () => null },
  {
    id: 'console',
    path: '/api/console',
    useless: (run) => (run.input.needs.console ? null : 'not-needed'),
  },
];

/**
 * After a bare 403 with a credential that REST accepts: one thing changed at a time, all at once, a new ticket for each.
 * Source: the measured decision table of refused upgrades, rows 17–26.
 */
export async function differ(
  run: Run,
  access: Access,
  main: WsFact,
  seen: { sessions: HttpFact | null; chat: boolean | null },
): Promise<void> {
  if (!main.bareRefusal) return;
  const reason = whyNot(access, seen);
  const proxied = run.input.proxied === 'no' ? 'nothing in between that could map paths' : null;
  const notPlain = reason ?? proxied;
  await Promise.all([
    notPlain === null
      ? get(run, { ...plain, credential: access.kind, headers: access.headers() })
      : skip(run, plain, notPlain),
    ...variants.map(async (variant) => {
      const { id, path = '/api/ws', host } = variant;
      const origin = variant.origin === null ? null : run.input.origin;
      const why = reason ?? variant.useless(run, access);
      if (why !== null)
        return skipUpgrade(run, { id, path, credential: 'none', headers: {}, origin, host }, why);
      const ask = await upgradeAsk(access, path);
      const { fact, socket } = await upgrade(run, { ...ask, id, origin, host });
      socket?.on('error', () => undefined).terminate();
      return fact;
    }),
  ]);
}

function whyNot(access: Access, seen: { sessions: HttpFact | null; chat: boolean | null }): string | null {
  if (access.kind === 'none') return 'no credential';
  if (seen.chat === false) return 'the page says that chat is off';
  return seen.sessions?.status === 200 ? null : 'the credential is not proved';
}
