// One `hook run` of the built program, without the throw-away dashboard that small trees cannot start. Prints its outcome.
import { locate } from '../../dist/engine/locate.js';
import { whoami } from '../../dist/host/holder.js';
import { localHost } from '../../dist/host/local.js';
import { runHook } from '../../dist/lifecycle/hook-run.js';
import { patchSession } from '../../dist/lifecycle/patch-session.js';

const host = localHost({ path: process.env.PATH, home: '/tmp', platform: process.platform });
const who = () => whoami(host, process.pid);
const { outcome, patches } = await runHook({
  host,
  root: process.argv[2],
  who,
  signal: new AbortController().signal,
  patienceMs: 60_000,
  now: () => new Date().toISOString(),
  open: async ({ install, home }) => {
    const ask = { path: install, home, profile: null, env: {}, port: null, timeoutMs: 120_000 };
    const located = await locate(host, ask);
    const target = { kind: 'local', name: 'local', path: null };
    return {
      session: { ...(await patchSession(host, target, located, await who(), null)), verify: null },
      located,
    };
  },
});
console.log(JSON.stringify({ outcome, patches }));
