import type { Access } from './access.ts';
import { field } from './json.ts';
import { get, type Got, type HttpProbe, skip } from './http.ts';
import { originOf, pathOf, type Run } from './run.ts';
import type { HttpFact } from './exchange-schema.ts';
import { type ListedRow, listedRows } from './session-list.ts';
import type { ProbeNeeds } from './types.ts';

/** A protected read. An id that cannot exist proves the route of the messages on an empty home too: its answer is JSON 404. */
interface Read extends HttpProbe {
  needed: (needs: ProbeNeeds) => boolean;
}

const sessions: Read = {
  id: 'sessions',
  path: '/api/sessions?limit=20',
  list: 'sessions',
  needed: () => true,
};

export const protectedReads: readonly Read[] = [
  sessions,
  {
    id: 'session-messages',
    path: '/api/sessions/hermes-compat-no-such-session/messages',
    list: 'messages',
    needed: (needs) => needs.sessionMessages,
  },
  {
    id: 'model-options',
    path: '/api/model/options',
    list: 'providers',
    needed: (needs) => needs.modelOptions,
  },
  { id: 'model-library', path: '/api/model/library', list: 'models', needed: (needs) => needs.modelLibrary },
];

/** The reads of a client, with its credential. `sessions` is what proves the credential. */
export function readProtected(
  run: Run,
  access: Access,
): { sessions: Promise<HttpFact | null>; rows: Promise<ListedRow[] | null>; all: Promise<unknown> } {
  const asked = protectedReads.map((read) => readOne(run, access, read));
  const first = asked[0] as Promise<Got | null>;
  return {
    sessions: first.then((got) => got?.fact ?? null),
    rows: first.then((got) => listedRows(got?.json)),
    all: Promise.all(asked),
  };
}

async function readOne(run: Run, access: Access, read: Read): Promise<Got | null> {
  const why = !read.needed(run.input.needs) ? 'not-needed' : access.kind === 'none' ? 'no credential' : null;
  if (why !== null) {
    skip(run, read, why);
    return null;
  }
  return get(run, { ...read, credential: access.kind, headers: access.headers() });
}

/** Paths in openapi.json that a capability is about. */
const routes = [
  '/api/sessions',
  '/api/sessions/{session_id}/messages',
  '/api/model/options',
  '/api/model/set',
  '/api/model/library',
];

/** openapi.json lists the routes without a write, and on an ungated dashboard without a credential; its making costs the engine half a second, once. */
export async function readRoutes(run: Run, access: Access, gated: boolean): Promise<void> {
  const probe: HttpProbe = { id: 'openapi', path: '/openapi.json', list: 'paths' };
  const { modelSet, modelLibrary } = run.input.needs;
  const wanted = modelSet || (access.kind === 'none' && modelLibrary);
  if (!wanted) return skip(run, probe, 'not-needed');
  if (gated && access.kind === 'none') return skip(run, probe, 'no credential');
  const got = await get(
    run,
    gated ? { ...probe, credential: access.kind, headers: access.headers() } : probe,
  );
  const paths = field(got.json, 'paths');
  if (got.fact.body === null || typeof paths !== 'object' || paths === null) return;
  got.fact.body.count = Object.keys(paths).length;
  got.fact.body.keys = routes.filter((route) => Object.hasOwn(paths, route));
}

/** The page's own script, from where the page says it is: only its head and its type count. */
export async function readAsset(run: Run, page: Got): Promise<void> {
  const probe: HttpProbe = { id: 'asset', path: '/', public: true, enough: 1 };
  if (!run.input.needs.asset) return skip(run, probe, 'not-needed');
  const script = page.fact.body?.page?.script ?? null;
  if (script === null) return skip(run, probe, 'the page names no script');
  const url = URL.canParse(script, `${originOf(run)}${pathOf(run, '/')}`)
    ? new URL(script, `${originOf(run)}${pathOf(run, '/')}`)
    : null;
  if (url === null || url.origin !== originOf(run))
    return skip(run, probe, 'the script is on another origin');
  await get(run, { ...probe, path: `${url.pathname}${url.search}`, absolute: true });
}
