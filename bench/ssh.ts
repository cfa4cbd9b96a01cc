import { spawn } from 'node:child_process';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { openSshHost } from '../src/host/ssh/open.ts';
import { requireEngines, startEngine } from '../test/support/engines.ts';
import { proxyTo } from '../test/support/proxy.ts';
import { canRunSshd, sshRig } from '../test/support/sshd.ts';
import { node, program } from './paths.ts';
import type { Section } from './section.ts';

const version = '0.19.0';
const delayMs = 50;
const limit = 8;

/** Doctor over SSH: what a slow line adds, in round trips; those of the login are counted apart. Null without root and sshd. */
export async function ssh(runs = 5): Promise<Section | null> {
  if (!canRunSshd || !(await requireEngines(version))) return null;
  const rig = await sshRig();
  const account = await rig.account('bench', { root: true });
  const server = await rig.sshd(['PermitRootLogin yes']);
  const slow = await proxyTo(server.port, delayMs);
  const engine = await startEngine({ version, home: join(account.home, '.hermes') });
  try {
    await appendFile(
      join(rig.clientHome, '.ssh/known_hosts'),
      server.keys.map((key) => `[127.0.0.1]:${slow.port} ${key}\n`).join(''),
    );
    const config = join(rig.clientHome, '.ssh/config');
    const doctor = async (port: number): Promise<number> => {
      const began = performance.now();
      const target = `ssh://${account.name}@127.0.0.1:${port}`;
      // Not spawnSync: the slow line runs in this process.
      const child = spawn(
        node,
        [program, 'doctor', target, '--port', String(engine.port), '--ssh-config', config],
        { env: { PATH: process.env['PATH'] ?? '', HOME: rig.clientHome }, stdio: 'ignore' },
      );
      const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
      if (status !== 1) throw new Error(`doctor over SSH ended with ${status}, not with 1`);
      return performance.now() - began;
    };
    const login = async (port: number): Promise<number> => {
      const began = performance.now();
      const host = await openSshHost({ ...rig.options(server, account), port });
      const took = performance.now() - began;
      await host.close();
      return took;
    };
    // Least of several: a busy machine only ever adds.
    const least = async (measure: () => Promise<number>): Promise<number> => {
      const times: number[] = [];
      for (let run = 0; run < runs; run += 1) times.push(await measure());
      return Math.min(...times);
    };
    const fast = await least(() => doctor(server.port));
    const delayed = await least(() => doctor(slow.port));
    const entry =
      ((await least(() => login(slow.port))) - (await least(() => login(server.port)))) / (2 * delayMs);
    const all = (delayed - fast) / (2 * delayMs);
    const after = all - entry;
    return {
      title: 'SSH',
      note: `\`doctor ssh://…\` with a running ${version} there, over a real sshd, directly and over a line of 2 × ${delayMs} ms. Dependent round trips are what the line adds, divided by its round trip.`,
      head: ['Measured', 'direct, ms', 'slow, ms', 'round trips', 'of the login', 'after it', 'limit'],
      rows: [
        [
          '`doctor ssh://…`',
          fast.toFixed(0),
          delayed.toFixed(0),
          all.toFixed(1),
          entry.toFixed(1),
          after.toFixed(1),
          `≤ ${limit}`,
        ],
      ],
      missed:
        after > limit + 0.5
          ? [`doctor over SSH: ${after.toFixed(1)} round trips after the login, the limit is ${limit}`]
          : [],
    };
  } finally {
    await engine.stop();
    slow.close();
    await rig.end();
  }
}
