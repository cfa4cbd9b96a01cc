import { storedSessions, messagesBody, sessionRow } from './session-rows.ts';
import { since } from '../release/since.ts';
import type { Session, World } from '../world.ts';
import { detail, json } from './answer.ts';
import type { Answer } from './answer.ts';
import { loginForm, logout, me, mintTicket, passwordLogin, providerLogin, providers } from './gate.ts';
import { addModel, changeModel, listModels, removeModel } from './model-library.ts';
import { modelInfo, modelOptions } from './models.ts';
import type { Request } from './request.ts';
import { healthBody, statusBody } from './status.ts';

/** An endpoint that the stand-in models. It answers only where the release has the route; the library where it was asked for. */
interface Handler {
  method: string;
  path: string;
  answer: (world: World, request: Request, words: string[]) => Answer;
}

const bodyOf = (request: Request): unknown => {
  try {
    return JSON.parse(request.body.toString('utf8'));
  } catch {
    return null;
  }
};

const listed = (world: World, request: Request): Record<string, unknown> => {
  const number = (name: string, fallback: number): number => {
    const value = Number(request.query.get(name) ?? fallback);
    return Number.isInteger(value) && value >= 0 ? value : fallback;
  };
  const limit = number('limit', 20);
  const offset = number('offset', 0);
  const all = storedSessions(world);
  return { sessions: all.slice(offset, offset + limit).map(sessionRow), total: all.length, limit, offset };
};

const extra = (world: World): Record<string, unknown> =>
  Object.fromEntries(world.release.sessionsExtra.map((name) => [name, {}]));

const withSession =
  (answer: (world: World, session: Session) => Answer) =>
  (world: World, _request: Request, [id]: string[]): Answer => {
    const found = storedSessions(world).find((session) => session.stored === id);
    return found === undefined ? detail(404, 'Session not found') : answer(world, found);
  };

const messages = (world: World, request: Request, words: string[]): Answer => {
  const recorded = world.stored.get(words[0] ?? '');
  if (recorded !== undefined) return json(200, recorded);
  return withSession((_, session) => json(200, messagesBody(world, session)))(world, request, words);
};

const setModel = (world: World, request: Request): Answer => {
  const body = bodyOf(request);
  const fields = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const absent = ['scope', 'provider', 'model']
    .filter((name) => fields[name] === undefined)
    .map((name) => ({ type: 'missing', loc: ['body', name], msg: 'Field required', input: fields }));
  if (absent.length > 0) return detail(422, absent);
  world.model = { provider: String(fields['provider']), model: String(fields['model']) };
  return json(200, { ok: true, scope: fields['scope'], ...world.model });
};

const removeSession = (world: World, _request: Request, [id]: string[]): Answer => {
  const at = world.sessions.findIndex((session) => session.stored === id);
  if (at < 0)
    return since(world.release, '0.18.2')
      ? json(200, { ok: true, already_absent: true })
      : detail(404, 'Session not found');
  world.sessions.splice(at, 1);
  return json(200, { ok: true });
};

const profile = (world: World): Record<string, unknown> => ({
  name: 'default',
  path: world.home,
  is_default: true,
  model: null,
  provider: null,
  has_env: false,
  skill_count: 0,
});

export const handlers: readonly Handler[] = [
  { method: 'GET', path: '/api/status', answer: (world) => json(200, statusBody(world)) },
  { method: 'GET', path: '/api/health', answer: (world) => json(200, healthBody(world)) },
  {
    method: 'GET',
    path: '/api/sessions',
    answer: (world, request) => json(200, { ...listed(world, request), ...extra(world) }),
  },
  {
    method: 'GET',
    path: '/api/sessions/{session_id}',
    answer: withSession((_, session) => json(200, sessionRow(session))),
  },
  {
    method: 'GET',
    path: '/api/sessions/{session_id}/messages',
    answer: messages,
  },
  {
    method: 'GET',
    path: '/api/sessions/{session_id}/latest-descendant',
    answer: withSession((_, { stored }) =>
      json(200, { requested_session_id: stored, session_id: stored, path: [stored], changed: false }),
    ),
  },
  { method: 'DELETE', path: '/api/sessions/{session_id}', answer: removeSession },
  {
    method: 'GET',
    path: '/api/model/options',
    answer: (world) => json(200, modelOptions(world, world.release.restProviders, '')),
  },
  { method: 'GET', path: '/api/model/info', answer: (world) => json(200, modelInfo(world)) },
  { method: 'POST', path: '/api/model/set', answer: setModel },
  { method: 'GET', path: '/api/skills', answer: () => json(200, []) },
  { method: 'GET', path: '/api/profiles', answer: (world) => json(200, { profiles: [profile(world)] }) },
  {
    method: 'GET',
    path: '/api/profiles/active',
    answer: () => json(200, { active: 'default', current: 'default' }),
  },
  {
    method: 'GET',
    path: '/api/profiles/sessions',
    answer: (world, request) => {
      const { sessions, total, ...page } = listed(world, request);
      const totals = { sessions, total, profile_totals: { default: total } };
      return json(200, { ...totals, ...page, errors: [], ...extra(world) });
    },
  },
  { method: 'GET', path: '/login', answer: loginForm },
  { method: 'GET', path: '/api/auth/providers', answer: providers },
  { method: 'GET', path: '/api/auth/me', answer: me },
  { method: 'GET', path: '/auth/login', answer: providerLogin },
  { method: 'POST', path: '/auth/password-login', answer: passwordLogin },
  { method: 'POST', path: '/auth/logout', answer: logout },
  {
    method: 'POST',
    path: '/api/auth/ws-ticket',
    answer: ({ gate }) => (gate === null ? detail(401, 'Unauthorized') : mintTicket(gate)),
  },
];

/** Routes of the model library, which no release has by itself. */
export const libraryHandlers: readonly Handler[] = [
  { method: 'GET', path: '/api/model/library', answer: (world) => listModels(world.library ?? [], world) },
  {
    method: 'POST',
    path: '/api/model/library',
    answer: (world, request) => addModel(world.library ?? [], bodyOf(request)),
  },
  {
    method: 'PATCH',
    path: '/api/model/library/{*id}',
    answer: (world, request, [id = '']) => changeModel(world.library ?? [], id, bodyOf(request)),
  },
  {
    method: 'DELETE',
    path: '/api/model/library/{*id}',
    answer: (world, _request, [id = '']) => removeModel(world.library ?? [], id),
  },
];
