import { fileURLToPath } from 'node:url';
import { requireEngines, startEngine } from '../test/support/engines.ts';
import { compare, table } from './ratio.ts';

// The third ratio of the design: doctor on a running loopback engine against the same requests done bare.
const bin = fileURLToPath(new URL('../bin/hermes-compat.js', import.meta.url));
const bare = fileURLToPath(new URL('bare-requests.mjs', import.meta.url));
const version = '0.19.0';
if (!(await requireEngines(version))) throw new Error(`engine ${version} could not be installed`);
const engine = await startEngine({ version });
try {
  const env = { HERMES_COMPAT_TOKEN: engine.token ?? '', BARE_TOKEN: engine.token ?? '' };
  const node = process.execPath;
  const rows = [
    compare(
      '`doctor URL`, running 0.19.0 / the same requests bare',
      [node, bin, 'doctor', engine.url],
      [node, bare, engine.url],
      {
        runs: 15,
        limit: 2,
        env,
      },
    ),
    compare(
      '`doctor --url URL`, disk facts too / the same requests bare',
      [node, bin, 'doctor', '--url', engine.url],
      [node, bare, engine.url],
      {
        runs: 15,
        limit: 2,
        env,
      },
    ),
  ];
  console.log(table(rows));
} finally {
  await engine.stop();
}
