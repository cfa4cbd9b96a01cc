import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { ansibleBin } from '../test/support/ansible.ts';
import { here, node, program } from './paths.ts';
import { children, helper, preflight } from './preflight.ts';
import type { Section } from './section.ts';

const parallel = 64;
const forks = 8;
const hosts = 24;

/** Many targets in one preflight, and the same few by preflight and by the Ansible role. Stand-ins share the processor. */
export async function fleet(sizes: readonly number[] = [1000, 10_000]): Promise<Section[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-fleet-'));
  try {
    const { good, newest, 'chat-off': off } = (await helper('stand-ins.mjs')) as Record<string, number>;
    const ports = [good, newest, off];
    const targets = (count: number): { name: string; address: string }[] =>
      Array.from({ length: count }, (_, at) => ({
        name: `host-${at}`,
        address: `http://127.0.0.1:${ports[at % ports.length]}`,
      }));
    const run = async (count: number, lanes: number): ReturnType<typeof preflight> => {
      const file = join(folder, 'targets.json');
      const defaults = { client: 'minimal', tokenEnv: 'BENCH_TOKEN' };
      await writeFile(file, JSON.stringify({ defaults, targets: targets(count) }));
      return preflight(file, join(folder, 'report.json'), lanes);
    };
    const rows: string[][] = [];
    for (const size of sizes) {
      const { wallMs, peakMb } = await run(size, parallel);
      rows.push([
        size.toLocaleString('en-US'),
        (wallMs / 1000).toFixed(1),
        (wallMs / size).toFixed(1),
        peakMb.toFixed(0),
      ]);
    }
    const sections: Section[] = [
      {
        title: 'Fleets in one preflight',
        note: `\`preflight --parallel ${parallel}\` on stand-ins on loopback, which share the processor with it: what one controller can do at most. Seconds per 1,000 targets are the milliseconds per target.`,
        head: ['Targets', 'seconds', 'ms a target', 'peak memory, MiB'],
        rows,
        missed: [],
      },
    ];
    const bin = await ansibleBin();
    if (bin !== null) {
      const one = await run(hosts, forks);
      const role = await playbook(bin, folder, targets(hosts));
      sections.push({
        title: 'Fleets with Ansible',
        note: `The same ${hosts} stand-ins by one preflight with ${forks} at once, and by the role with ${forks} forks, which starts its program anew for each host and runs seven tasks there.`,
        head: ['Way', 'seconds', 'ms a host', 'ratio'],
        rows: [
          ['`preflight`', (one.wallMs / 1000).toFixed(1), (one.wallMs / hosts).toFixed(0), '1.0'],
          ['Ansible', (role / 1000).toFixed(1), (role / hosts).toFixed(0), (role / one.wallMs).toFixed(1)],
        ],
        missed: [],
      });
    }
    return sections;
  } finally {
    for (const child of children.splice(0)) child.kill();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Wall time of the example playbook on these targets. */
async function playbook(
  bin: string,
  folder: string,
  targets: readonly { name: string; address: string }[],
): Promise<number> {
  const inventory = join(folder, 'inventory.json');
  const vars = {
    hermes_compat_command: [node, program],
    hermes_compat_client: 'minimal',
    hermes_compat_token_env: 'BENCH_TOKEN',
    hermes_compat_report_dir: join(folder, 'reports'),
    hermes_compat_fail_on: [],
  };
  const hosts = Object.fromEntries(
    targets.map(({ name, address }) => [name, { hermes_compat_address: address }]),
  );
  await writeFile(inventory, JSON.stringify({ all: { vars, hosts } }));
  const began = performance.now();
  await new Promise<void>((resolve, reject) => {
    execFile(
      join(bin, 'ansible-playbook'),
      ['-i', inventory, '--forks', String(forks), here('../integrations/ansible/playbook.yml')],
      {
        env: {
          PATH: `${bin}:${process.env['PATH'] ?? ''}`,
          HOME: folder,
          LANG: 'C.UTF-8',
          BENCH_TOKEN: 'token-of-the-bench-0123456789',
        },
        maxBuffer: 64 << 20,
      },
      (error, stdout) =>
        error === null ? resolve() : reject(new Error(stdout.slice(-3000), { cause: error })),
    );
  });
  return performance.now() - began;
}
