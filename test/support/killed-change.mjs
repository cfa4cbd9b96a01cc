// Runs one change with the built program and ends itself with SIGKILL at a given change of the disk.
import { writeFileSync } from 'node:fs';
import { whoami } from '../../dist/host/holder.js';
import { localHost } from '../../dist/host/local.js';
import { loadCatalogue } from '../../dist/patch/catalogue.js';
import { change } from '../../dist/patch/change.js';
import { faultHost } from './fault-host.mjs';

const { scene, options, at, half } = JSON.parse(process.argv[2]);
const here = localHost({ path: process.env.PATH, home: '/tmp', platform: process.platform });
const host = faultHost(here, ({ number, method, args }) => {
  if (number !== at) return;
  // A file that was only half written when the end came.
  if (half && method === 'createFile') writeFileSync(args[0], args[1].subarray(0, args[1].length >> 1));
  process.kill(process.pid, 'SIGKILL');
});
await change(
  {
    host,
    scene,
    catalogue: await loadCatalogue(),
    who: await whoami(here, process.pid),
    signal: null,
    now: () => new Date().toISOString(),
    verify: null,
  },
  { options, saved: null, consent: async () => true },
);
