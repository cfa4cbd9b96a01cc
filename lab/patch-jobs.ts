import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Report } from '../src/judge/schema.ts';
import type { ChangeDocument, StatusDocument } from '../src/patch/schema.ts';
import { type CliResult, document } from '../test/support/cli.ts';
import { startEngine } from '../test/support/engines.ts';
import { snapshot } from '../test/support/patch-scene.ts';
import type { Cell } from './cells.ts';
import { editableVenv, type LabEngine, nextPage, token } from './engine-modes.ts';
import { compat, inFolder, type Job, type Lab, type Over } from './job.ts';

/** Apply, apply again, look, use, revert: each patch by each carrier, on this machine and over SSH. What HTTP says to it too. */

const carriers = ['overlay', 'source'] as const;
const config = '# Mine\nmodel:\n  provider: openrouter # the usual one\n  default: "acme/large"\n';

export const patchJobs = (engines: readonly LabEngine[]): Job[] =>
  engines.flatMap((engine) =>
    carriers.map((carrier) => ({
      parts: ['patch'],
      engine: engine.name,
      row: carrier,
      run: async (lab) => {
        const cells: Cell[] = [];
        for (const way of ['local', 'ssh'] as const)
          cells.push(await inFolder((folder) => measure(engine, carrier, way, lab, folder)));
        return cells;
      },
    })),
  );

async function measure(
  engine: LabEngine,
  carrier: string,
  over: Exclude<Over, 'http'>,
  lab: Lab,
  folder: string,
): Promise<Cell> {
  const venv = await editableVenv(engine, join(folder, 'venv'));
  const home = join(folder, 'home');
  await mkdir(home);
  await writeFile(join(home, 'config.yaml'), config, { mode: 0o640 });
  await chmod(home, 0o700);
  const web: Record<string, string> =
    engine.version === '0.13.0' ? { HERMES_WEB_DIST: await nextPage() } : {};
  if (over === 'ssh' && lab.ssh === null)
    throw new Error('the cells over SSH need openssh-server (/usr/sbin/sshd)');
  const target = over === 'ssh' ? `ssh://lab${venv}` : `local:${venv}`;
  const ssh = over === 'ssh' ? ['--ssh-config', lab.ssh ?? ''] : [];
  const ours = (words: string[]): Promise<CliResult> =>
    compat([...words, '--home', home, '--json', ...ssh], folder, web);
  const patch = (action: string, ...more: string[]): Promise<CliResult> =>
    ours(['patch', action, ...more, '--target', target]);

  const before = await bytes(venv, home);
  const apply = await patch('apply', '--carrier', carrier, '--yes');
  const saw: Cell['saw'] = { apply: outcome(apply) };
  const again = await patch('apply', '--carrier', carrier, '--yes');
  saw['again'] = outcome(again);
  saw['state'] = states(await patch('status'));
  if (apply.code === 0)
    Object.assign(saw, await use(engine, { venv, home, folder, web, target: [target, ...ssh] }));
  saw['revert'] = outcome(await patch('revert', '--purge', '--yes'));
  saw['bytes'] = differing(before, await bytes(venv, home));
  return { part: 'patch', engine: engine.name, row: carrier, column: over, saw };
}

/** What a change did, or the codes with which it was refused. */
function outcome({ code, stdout }: CliResult): string {
  const said = JSON.parse(stdout) as
    | ChangeDocument
    | { kind: 'error'; error: { finding: string | null; kind: string; message: string } };
  if (said.kind !== 'change') {
    const { finding, kind, message } = said.error;
    return `exit ${code}: ${finding ?? `${kind}, ${message}`}`;
  }
  const refused = said.plan.refusals.map((each) => `${each.patch} ${each.code}`);
  const failed = said.verified.filter(({ ok }) => !ok).map(({ step }) => `${step} failed`);
  return [said.outcome, ...(code === 0 ? [] : [`exit ${code}`]), ...refused, ...failed].join(', ');
}

const states = ({ stdout }: CliResult): string =>
  (JSON.parse(stdout) as StatusDocument).patches.map(({ id, state }) => `${id} ${state}`).join(', ');

/** Started the plain way and checked by the client that needs the most. */
async function use(
  { version }: LabEngine,
  at: { venv: string; home: string; folder: string; web: Record<string, string>; target: string[] },
): Promise<Cell['saw']> {
  const engine = await startEngine({ version, venv: at.venv, home: at.home, env: at.web, token });
  try {
    const args = ['doctor', ...at.target, '--home', at.home, '--url', engine.url, '--json'];
    const env = { ...at.web, ...(engine.token === null ? {} : { HERMES_COMPAT_TOKEN: engine.token }) };
    const report = document<Report>(await compat([...args, '--patience', 'cold'], at.folder, env));
    const codes = report.findings.filter(({ severity }) => severity === 'error').map(({ code }) => code);
    return { doctor: [report.verdict, ...codes].join(' ') };
  } finally {
    await engine.stop();
  }
}

/** The engine's own modules, and what in the home is the user's. */
const bytes = async (venv: string, home: string): Promise<Record<string, string>> => {
  const lib = (await snapshotOf(join(venv, 'lib'))) ?? {};
  const own = Object.entries(lib).filter(([path]) => /site-packages\/(hermes_cli|tui_gateway)\//.test(path));
  return { ...Object.fromEntries(own), config: await readFile(join(home, 'config.yaml'), 'utf8') };
};

const snapshotOf = (folder: string): Promise<Record<string, string>> => snapshot(folder, ['__pycache__']);

function differing(before: Record<string, string>, after: Record<string, string>): string {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].filter((name) => before[name] !== after[name]);
  return changed.length === 0
    ? 'as before'
    : `changed: ${changed.map((path) => path.split('/').at(-1)).join(' ')}`;
}
