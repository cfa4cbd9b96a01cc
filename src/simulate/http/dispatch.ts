import { routesOf } from '../release/routes.ts';
import { sameSecret } from '../world.ts';
import type { World } from '../world.ts';
import { detail, html, json, text } from './answer.ts';
import type { Answer } from './answer.ts';
import { identify, refuse } from './gate.ts';
import { handlers, libraryHandlers } from './handlers.ts';
import { dashboardPage, headlessPage, headlessSentence } from './pages.ts';
import { acceptedHost } from './request.ts';
import type { Request } from './request.ts';

/** From request to answer in the order of the engine: credential, Host, CORS, route. */

const publicPaths = [
  '/api/status',
  '/api/config/defaults',
  '/api/config/schema',
  '/api/model/info',
  '/api/dashboard/themes',
  '/api/dashboard/plugins',
];
const openPages = ['/login', '/favicon.ico', '/api/auth/providers'];

const isPublic = (world: World, { path }: Request): boolean =>
  publicPaths.includes(path) || (path === '/api/health' && world.release.health !== null);

const openInGate = (world: World, request: Request): boolean =>
  isPublic(world, request) ||
  openPages.includes(request.path) ||
  ['/auth/', '/assets/', '/fonts/'].some((start) => request.path.startsWith(start));

/** Whether the session token came with the request, as an own header or as Bearer. */
export const hasToken = (world: World, request: Request): boolean => {
  const own = request.headers['x-hermes-session-token'];
  const bearer = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  return [own, bearer].some((given) => typeof given === 'string' && sameSecret(given, world.token));
};

const devOrigin = /^https?:\/\/(localhost|127\.0\.0\.1)(:\d+)?$/;

const preflight = (origin: string): Answer => {
  const allowed = devOrigin.test(origin);
  const headers: Record<string, string> = {
    vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers, Access-Control-Request-Private-Network',
    'access-control-allow-methods': 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT, QUERY',
    'access-control-max-age': '600',
    ...(allowed && { 'access-control-allow-origin': origin }),
  };
  return { ...text(allowed ? 200 : 400, allowed ? 'OK' : 'Disallowed CORS origin'), headers };
};

/** A crash is answered outside of what adds these headers. */
const withCors = (answer: Answer, origin: string | undefined): Answer =>
  answer.status === 500 ? answer : corsHeaders(answer, origin);

const corsHeaders = (answer: Answer, origin: string | undefined): Answer => ({
  ...answer,
  headers: {
    ...answer.headers,
    vary: 'Origin',
    ...(origin !== undefined && devOrigin.test(origin) && { 'access-control-allow-origin': origin }),
  },
});

const cacheless = { 'cache-control': 'no-store, no-cache, must-revalidate' };
const page = (body: string): Answer => ({ ...html(200, body), headers: cacheless });
const notBuilt = json(404, { error: 'Frontend not built. Run: cd web && npm run build' });

const unknownApi = (world: World, request: Request): Answer => {
  const { release, webBuild } = world;
  if (!webBuild && release.unbuiltHidesApi) return notBuilt;
  if (release.unknownApi === 'page') return page(dashboardPage(world, request.basePath));
  return detail(404, `No such API endpoint: ${request.path}`);
};

const asset = (world: World, path: string): Answer => {
  if (path !== `/assets/${world.release.script}`) return detail(404, 'Not Found');
  return { status: 200, type: 'text/javascript; charset=utf-8', body: '/* simulated */\n' };
};

/** What the catch-all route answers: the page, a file of it, or why there is none. */
const unknownPath = (world: World, request: Request): Answer => {
  const { path, basePath } = request;
  if (world.headless) {
    const root = path === '/' && world.release.headless === 'page' && world.gate === null;
    return root ? page(headlessPage(world)) : json(404, { error: headlessSentence });
  }
  if (path.startsWith('/api/')) return unknownApi(world, request);
  if (!world.webBuild)
    return world.release.unbuiltAssetsFail && path.startsWith('/assets/')
      ? text(500, 'Internal Server Error')
      : notBuilt;
  if (path.startsWith('/assets/')) return asset(world, path);
  if (path === '/favicon.ico') return { status: 200, type: 'image/vnd.microsoft.icon', body: '' };
  return page(dashboardPage(world, basePath));
};

const decoded = (word: string): string => {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
};

const match = (pattern: string, path: string): string[] | null => {
  const source = pattern
    .replace(/[.$]/g, '\\$&')
    .replace(/\{(\*?)\w+\}/g, (_, rest) => (rest === '*' ? '(.+)' : '([^/]+)'));
  const found = new RegExp(`^${source}$`).exec(path);
  return found === null ? null : found.slice(1).map(decoded);
};

/** Documentation pages that the engine's framework adds. */
const documentation = (world: World, path: string): Answer | null => {
  if (path === '/docs')
    return html(200, '<!DOCTYPE html><html><head><title>Hermes Agent - Swagger UI</title></head></html>');
  if (path !== '/openapi.json') return null;
  const paths: Record<string, Record<string, unknown>> = { '/{full_path}': { get: {} } };
  if (!world.headless && (world.webBuild || !world.release.unbuiltHidesApi))
    paths['/assets/{filename}.css'] = { get: {} };
  const all = [...routesOf(world.release.version), ...(world.library === null ? [] : libraryHandlers)];
  for (const route of all) (paths[route.path.replace('{*', '{')] ??= {})[route.method.toLowerCase()] = {};
  return json(200, {
    openapi: '3.1.0',
    info: { title: 'Hermes Agent', version: world.release.version },
    paths,
  });
};

const route = (world: World, request: Request): Answer => {
  const { method, path } = request;
  const known = method === 'GET' ? documentation(world, path) : null;
  if (known !== null) return known;
  const routes = routesOf(world.release.version).filter((candidate) => match(candidate.path, path) !== null);
  const modelled = [
    ...handlers.filter((h) => routes.some((r) => r.path === h.path && r.method === h.method)),
    ...(world.library === null ? [] : libraryHandlers),
  ];
  for (const handler of modelled) {
    const words = handler.method === method ? match(handler.path, path) : null;
    if (words !== null) return handler.answer(world, request, words);
  }
  if (routes.some((candidate) => candidate.method === method))
    return detail(
      501,
      `The stand-in does not model ${method} ${path}; the real ${world.release.version} has it.`,
    );
  if (method === 'GET') return unknownPath(world, request);
  const allow = [...new Set(routes.map((candidate) => candidate.method))].join(', ') || 'GET';
  return json(405, { detail: 'Method Not Allowed' }, { allow });
};

const inner = (world: World, request: Request): Answer => {
  const { origin } = request.headers;
  if (
    request.method === 'OPTIONS' &&
    origin !== undefined &&
    request.headers['access-control-request-method']
  )
    return preflight(origin);
  return withCors(route(world, request), origin);
};

const guarded = (world: World, request: Request): Answer => {
  if (!acceptedHost(world, request.headers.host)) return detail(400, world.release.hostSentence);
  if (world.release.pluginGuard && /^\/api\/plugins\/[^/]+\//.test(request.path))
    return detail(404, 'Plugin not found');
  return inner(world, request);
};

const withGate = (world: World, request: Request): Answer => {
  const { gate } = world;
  if (gate === null || openInGate(world, request)) return guarded(world, request);
  const who = identify(world, gate, request);
  if (!who.in) return refuse(world, request, who);
  const answer = guarded(world, request);
  if (who.setCookies.length === 0) return answer;
  return { ...answer, headers: { ...answer.headers, 'set-cookie': who.setCookies } };
};

/** The engine's answer to a request. */
export const dispatch = (world: World, request: Request): Answer => {
  const free = world.gate !== null || !request.path.startsWith('/api/') || isPublic(world, request);
  const answer = free || hasToken(world, request) ? withGate(world, request) : detail(401, 'Unauthorized');
  return world.release.corsOutermost && answer.headers?.['vary'] === undefined
    ? withCors(answer, request.headers.origin)
    : answer;
};
