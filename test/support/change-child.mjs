// Runs one change with the built program, in a process of its own that can be killed.
//   at, half: ends itself with SIGKILL before this change of the disk, or in the middle of the file that is written there
//   go: waits until this file exists, with the plan made and no lock taken; slow: milliseconds before each change of the disk
// Prints {"changed"} or {"kind", "finding"}.
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { whoami } from '../../dist/host/holder.js';
import { localHost } from '../../dist/host/local.js';
import { loadCatalogue } from '../../dist/patch/catalogue.js';
import { change } from '../../dist/patch/change.js';
import { faultHost } from './fault-host.mjs';

const { scene, options, at = -1, half = false, go = null, slow = 0 } = JSON.parse(process.argv[2]);
const here = localHost({ path: process.env.PATH, home: '/tmp', platform: process.platform });
const host = faultHost(here, async ({ number, method, args }) => {
  if (slow > 0) await sleep(slow);
  if (number !== at) return;
  if (half && method === 'createFile') writeFileSync(args[0], args[1].subarray(0, args[1].length >> 1));
  process.kill(process.pid, 'SIGKILL');
});
const consent = async () => {
  if (go === null) return true;
  console.log('ready');
  while (!existsSync(go)) await sleep(2);
  return true;
};
const session = {
  host,
  scene,
  catalogue: await loadCatalogue(),
  who: await whoami(here, process.pid),
  signal: null,
  now: () => new Date().toISOString(),
  verify: null,
};
try {
  const { changed } = await change(session, { options, saved: null, consent });
  console.log(JSON.stringify({ changed }));
} catch (error) {
  console.log(
    JSON.stringify({ kind: error.kind ?? error.name, finding: error.details?.finding ?? error.message }),
  );
}
