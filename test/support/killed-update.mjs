// Runs one update with the built program and ends itself with SIGKILL at a given place.
import { locate } from '../../dist/engine/locate.js';
import { whoami } from '../../dist/host/holder.js';
import { localHost } from '../../dist/host/local.js';
import { patchSession } from '../../dist/lifecycle/patch-session.js';
import { update } from '../../dist/lifecycle/update/update.js';
import { faultHost } from './fault-host.mjs';

const { root, home, at } = JSON.parse(process.argv[2]);
const here = localHost({ path: process.env.PATH, home: '/tmp', platform: process.platform });
const die = () => process.kill(process.pid, 'SIGKILL');
let changes = 0;
const host = faultHost(here, ({ number }) => {
  changes = number + 1;
  if (at.change === number) die();
});
await update({
  host,
  signal: new AbortController().signal,
  now: () => new Date().toISOString(),
  open: async (place) => {
    const ask = place ?? { install: root, home };
    const located = await locate(host, {
      path: ask.install,
      home: ask.home,
      profile: null,
      env: {},
      port: null,
      timeoutMs: 60_000,
    });
    const target = { kind: 'local', name: 'local', path: null };
    const session = await patchSession(host, target, located, await whoami(here, process.pid), null);
    return { session: { ...session, verify: null }, located };
  },
  engineArgs: [],
  again: ['hermes-compat', 'update'],
  env: {},
  say: () => {},
  output: (bytes) => {
    if (at.said !== undefined && bytes.toString().includes(at.said)) die();
  },
  consent: async () => true,
  examine: null,
  reached: async (step) => {
    if (step === at.step) die();
  },
});
console.log(changes);
