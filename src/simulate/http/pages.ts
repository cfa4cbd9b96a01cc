import type { World } from '../world.ts';

/** The HTML that a dashboard sends, as far as a client reads it. */

export const headlessSentence =
  'Headless backend (hermes serve): web UI disabled — use `hermes dashboard` for the browser UI.';

const globalsOf = (world: World, basePath: string): string => {
  const gated = world.gate !== null;
  const values = {
    token: gated ? null : `__HERMES_SESSION_TOKEN__=${JSON.stringify(world.token)}`,
    chat: `__HERMES_DASHBOARD_EMBEDDED_CHAT__=${world.chat}`,
    basePath: `__HERMES_BASE_PATH__=${JSON.stringify(basePath)}`,
    authRequired: `__HERMES_AUTH_REQUIRED__=${gated}`,
    initialProfile: '__HERMES_INITIAL_PROFILE__=""',
    profile: '__HERMES_DASHBOARD_PROFILE__="default"',
  };
  return world.release.globals
    .map((name) => values[name])
    .filter((value) => value !== null)
    .map((value) => `window.${value};`)
    .join('');
};

/** `GET /` and every page of the built dashboard. */
export const dashboardPage = (world: World, basePath: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="UTF-8" />
    <link rel="icon" type="image/svg+xml" href="${basePath}/favicon.ico" />
    <title>Hermes Agent - Dashboard</title>
    <script type="module" crossorigin src="${basePath}/assets/${world.release.script}"></script>
  <script>${globalsOf(world, basePath)}</script></head>
  <body>
    <div id="root"></div>
  </body>
</html>
`;

/** `GET /` of a headless server, in releases that give the token there. */
export const headlessPage = (world: World): string => {
  const token = `window.__HERMES_SESSION_TOKEN__=${JSON.stringify(world.token)};`;
  const globals = `${token}window.__HERMES_AUTH_REQUIRED__=false;`;
  return `<!doctype html><html><head><script>${globals}</script></head><body>${headlessSentence}</body></html>`;
};

export const loginPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Sign in — Hermes Agent</title>
</head>
<body>
<main>
<h1>Sign in</h1>
<form class="provider-form" data-provider="basic">
<input type="text" name="username" required>
<input type="password" name="password" required>
<button type="submit">Sign in</button>
</form>
</main>
</body>
</html>
`;

export const noLoginPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Sign-in unavailable — Hermes Agent</title>
</head>
<body>
<main>
<h1>Sign-in unavailable</h1>
</main>
</body>
</html>
`;
