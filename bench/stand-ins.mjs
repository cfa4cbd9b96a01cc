// Stand-in dashboards of several kinds in a process of their own. Prints their ports as JSON, ends with its stdin.
import { startSimulator } from '../dist/simulate/index.js';

const token = 'token-of-the-bench-0123456789';
const kinds = {
  good: { release: '0.19.0', token },
  newest: { release: '0.22.2', token },
  'chat-off': { release: '0.14.0', token },
  'foreign-host': { release: '0.19.0', token, faults: ['foreign-host'] },
  'no-upgrade': { release: '0.19.0', token, faults: ['drop-upgrade'] },
  'other-token': { release: '0.18.2', token: `${token}-another` },
  gated: { release: '0.21.4', gated: true },
  'login-page': { release: '0.19.0', token, faults: ['login-page'] },
  'bad-gateway': { release: '0.19.0', token, faults: ['bad-gateway'] },
  silent: { release: '0.19.0', token, faults: ['silent'] },
};
const ports = {};
for (const [kind, options] of Object.entries(kinds)) ports[kind] = (await startSimulator(options)).port;
process.stdout.write(`${JSON.stringify(ports)}\n`);
process.stdin.resume().on('end', () => process.exit(0));
