import { spawn } from 'node:child_process';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Report } from '../../src/judge/schema.ts';
import { copyEngine } from '../support/engine-copy.ts';
import { requireEngines } from '../support/engines.ts';
import { advisedLines, ourProgramIn, typeLines } from '../support/follow-advice.ts';
import { controlGroup, type OwnEngine, ownEngine } from '../support/own-engine.ts';
import { canRunSshd, sshRig } from '../support/sshd.ts';
import { isFull } from '../support/full.ts';

// What updates leave at running dashboards, made for real: found by doctor, its commands typed as they are printed, then gone.

const ready = isFull && (await requireEngines('0.14.0', '0.16.0', '0.19.0'));
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function engine(version: string): Promise<OwnEngine> {
  const own = await ownEngine(version);
  cleanups.push(own.remove);
  return own;
}

const codes = ({ findings }: Report): string[] => findings.map(({ code }) => code);

/** @param env what the person's shell has besides PATH */
async function foundThenGone(
  own: OwnEngine,
  code: string,
  more: { path?: string[]; words?: string[] } = {},
): Promise<Report> {
  const first = await own.doctor(...(more.words ?? []));
  expect(codes(first), JSON.stringify(first.findings)).toContain(code);
  const path = [await ourProgramIn(own.folder), ...(more.path ?? []), own.env['PATH']].join(':');
  const typed = await typeLines(advisedLines(first, code), { ...own.env, PATH: path });
  await own.untilAnswers();
  const after = await own.doctor(...(more.words ?? []));
  expect(codes(after), JSON.stringify([typed, after.findings], null, 1)).not.toContain(code);
  return first;
}

const finding = (report: Report, code: string) => report.findings.find((each) => each.code === code);

describe.skipIf(!ready)('a dashboard that is older than its code', { timeout: 900_000 }, () => {
  test('started by hand', async () => {
    const own = await engine('0.14.0');
    await own.startByHand();
    await own.touchCode();
    const report = await foundThenGone(own, 'RESTART_REQUIRED');
    expect(finding(report, 'RESTART_REQUIRED')?.args['ownerKind']).toBe('manual');
  });

  test('started by launch', async () => {
    const own = await engine('0.14.0');
    const path = `${await ourProgramIn(own.folder)}:${own.env['PATH']}`;
    const line = `hermes-compat launch local:${own.venv} --home ${own.home} --port ${own.port}`;
    await typeLines([line], { ...own.env, PATH: path });
    await own.touchCode();
    const report = await foundThenGone(own, 'RESTART_REQUIRED');
    expect(finding(report, 'RESTART_REQUIRED')?.args['ownerKind']).toBe('launch');
  });

  test.skipIf(!canRunSshd)('started in an SSH session', async () => {
    const own = await engine('0.14.0');
    const rig = await sshRig();
    cleanups.push(rig.end);
    const account = await rig.account('dash', { root: true });
    const server = await rig.sshd(['PermitRootLogin yes']);
    const { clientHome } = rig;
    const where = ['-p', String(server.port), '-o', `UserKnownHostsFile=${clientHome}/.ssh/known_hosts`];
    const key = [
      '-i',
      `${clientHome}/.ssh/id_ed25519`,
      '-o',
      'StrictHostKeyChecking=accept-new',
      '-F',
      'none',
    ];
    const client = spawn('ssh', [...where, ...key, `${account.name}@127.0.0.1`, own.start], {
      stdio: 'ignore',
    });
    cleanups.push(async () => void client.kill('SIGKILL'));
    await own.untilAnswers();
    await own.touchCode();
    const report = await foundThenGone(own, 'RESTART_REQUIRED');
    expect(finding(report, 'RESTART_REQUIRED')?.args['ownerKind']).toBe('ssh');
  });

  const box = 'docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope';
  test.each([
    ['systemd', 'hermes-dashboard.service', 'systemctl', 'hermes-dashboard.service'],
    ['container', box, 'docker', box.slice('docker-'.length, -'.scope'.length)],
  ])('kept by %s', async (kind, group, program, name) => {
    const cgroup = await controlGroup(group);
    if (cgroup === null) throw new Error('no control group can be made here');
    cleanups.push(cgroup.remove);
    const own = await engine('0.14.0');
    const unit = join(own.folder, 'unit.sh');
    await writeFile(unit, `#!/bin/sh\necho $$ >"${cgroup.procs}"\nexec "${own.start}"\n`, { mode: 0o755 });
    // Nothing here runs systemd or containers: this does what their restart does, to this one only.
    const fake = join(own.folder, 'manager', program);
    await mkdir(dirname(fake));
    await writeFile(
      fake,
      `#!/bin/sh
[ "$*" = "restart ${name}" ] || { echo "no unit $*" >&2; exit 5; }
for pid in $(cat "${cgroup.procs}"); do
  kill "$pid"
  while [ -d "/proc/$pid" ]; do sleep 0.1; done
done
setsid "${unit}" >>"${own.folder}/log" 2>&1 </dev/null &
sleep 1
`,
      { mode: 0o755 },
    );
    await own.startByHand(unit);
    await own.touchCode();
    const report = await foundThenGone(own, 'RESTART_REQUIRED', { path: [dirname(fake)] });
    expect(finding(report, 'RESTART_REQUIRED')?.args['ownerKind']).toBe(kind);
    expect(advisedLines(report, 'RESTART_REQUIRED')).toEqual([`${program} restart ${name}`]);
  });
});

describe.skipIf(!ready)('other states of a running dashboard', { timeout: 900_000 }, () => {
  test('another install is on PATH than the one that serves', async () => {
    const own = await engine('0.14.0');
    const second = join(own.folder, 'second');
    await copyEngine('0.16.0', second);
    const bin = join(own.folder, 'bin');
    await mkdir(bin);
    await symlink(join(second, 'bin/hermes'), join(bin, 'hermes'));
    await own.startByHand();
    own.env['PATH'] = `${bin}:${own.env['PATH']}`;
    const report = await foundThenGone(own, 'MULTI_INSTALL');
    expect(finding(report, 'MULTI_INSTALL')?.args['onPath']).toContain('/second/');
  });

  test('an overlay that the configuration does not name', async () => {
    const own = await engine('0.19.0');
    const path = `${await ourProgramIn(own.folder)}:${own.env['PATH']}`;
    const apply = `hermes-compat patch apply --target local:${own.venv} --home ${own.home} --yes`;
    await typeLines([apply], { ...own.env, PATH: path });
    const config = join(own.home, 'config.yaml');
    expect(await readFile(config, 'utf8')).toContain('hermes-compat');
    await writeFile(config, '');
    await own.startByHand();
    const report = await foundThenGone(own, 'OVERLAY_NOT_LOADED');
    expect(finding(report, 'OVERLAY_NOT_LOADED')?.args['why']).toBe('not-enabled');
    expect((await own.doctor()).verdict).toBe('compatible');
  });

  test('an overlay that was named after the start', async () => {
    const own = await engine('0.19.0');
    const path = `${await ourProgramIn(own.folder)}:${own.env['PATH']}`;
    const apply = `hermes-compat patch apply --target local:${own.venv} --home ${own.home} --yes`;
    await typeLines([apply], { ...own.env, PATH: path });
    const config = join(own.home, 'config.yaml');
    const named = await readFile(config, 'utf8');
    await writeFile(config, '');
    await own.startByHand();
    await writeFile(config, named);
    const report = await foundThenGone(own, 'OVERLAY_NOT_LOADED');
    expect(finding(report, 'OVERLAY_NOT_LOADED')?.args['why']).toBe('not-restarted');
    expect((await own.doctor()).verdict).toBe('compatible');
  });

  test.each(['overlay', 'source'])('our marker names an edit (%s) that is gone', async (carrier) => {
    const own = await engine('0.16.0');
    const path = `${await ourProgramIn(own.folder)}:${own.env['PATH']}`;
    const server = join(own.site, 'hermes_cli/web_server.py');
    const plain = await readFile(server);
    const at = `--target local:${own.venv} --home ${own.home} --yes`;
    await typeLines([`hermes-compat patch apply --carrier ${carrier} ${at}`], { ...own.env, PATH: path });
    if (carrier === 'overlay') await rm(join(own.home, 'plugins'), { recursive: true });
    else await writeFile(server, plain);
    await own.startByHand();
    await foundThenGone(own, 'PATCH_LOST');
    expect((await own.doctor()).verdict).toBe('compatible');
  });

  test("Hermes One's marker says what the dashboard does not do", async () => {
    const own = await engine('0.14.0');
    await mkdir(join(own.home, 'desktop-compat'), { mode: 0o700 });
    const marker = { version: '2026-09-07.v3', target: 'local', compatible: true, applied: true };
    const file = join(own.home, 'desktop-compat/dashboard-embedded-chat.json');
    await writeFile(file, JSON.stringify({ ...marker, path: own.site, checkedAt: '2026-09-07T00:00:00Z' }));
    const before = await readFile(file);
    await own.startByHand();
    await foundThenGone(own, 'MARKER_MISMATCH');
    expect(await readFile(file)).toEqual(before);
  });
});
