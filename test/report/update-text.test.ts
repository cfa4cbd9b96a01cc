import { describe, expect, test } from 'vitest';
import type { UpdateDocument } from '../../src/lifecycle/update/schema.ts';
import { updateText } from '../../src/report/update-text.ts';
import { documentHead } from '../../src/tool.ts';

const at = (version: string, head: string): UpdateDocument['before'] => ({
  version,
  generation: 'G1',
  head: head.repeat(40),
});

const document = (over: Partial<UpdateDocument> = {}): UpdateDocument => ({
  ...documentHead('update'),
  target: { kind: 'local', name: 'local', url: null },
  action: 'update',
  outcome: 'updated',
  continuedFrom: null,
  install: '/opt/hermes-agent',
  home: '/home/u/.hermes',
  before: at('0.14.0', 'a'),
  after: at('0.16.0', 'b'),
  processes: [],
  toTakeOut: [],
  edits: [],
  branchChange: null,
  updater: null,
  parked: [],
  patches: [],
  dashboards: [],
  restart: [],
  verdict: 'compatible',
  findings: [],
  report: null,
  exitCode: 0,
  ...over,
});

describe('how an update ended, for people', () => {
  test('what it came to and the verdict stand first', () => {
    const settled = { carrier: 'source' as const, code: null };
    const text = updateText(
      document({
        patches: [
          { ...settled, patch: 'embedded-chat', outcome: 'retired', reason: 'the engine has it of its own' },
          { ...settled, patch: 'model-library', outcome: 'reapplied', reason: 'it was gone' },
        ],
        updater: { command: [], exitCode: 0, receipt: { outcome: 'ok', localChanges: 'restored' }, log: '' },
      }),
    );
    expect(text).toBe(`Updated: 0.14.0 at aaaaaaaaaa → 0.16.0 at bbbbbbbbbb
Verdict: compatible
Its receipt says: ok, local changes restored
embedded-chat (source): retired, the engine has it of its own
model-library (source): reapplied, it was gone
`);
  });

  test('a failure, parked edits and processes: sentences keep to 80 columns, commands stay one line', () => {
    const command = 'python -m hermes_cli.main dashboard --port 9119';
    const long = 'x'.repeat(500);
    const startAgain = ['env', 'HERMES_HOME=/home/u/my home', '/opt/h/venv/bin/python', 'dashboard', long];
    const process = {
      pid: 41,
      user: 'u',
      command,
      install: null,
      owner: 'manual',
      launched: false,
      ended: true,
      restart: [],
      startAgain,
    };
    const text = updateText(
      document({
        outcome: 'update-failed',
        after: at('0.14.0', 'a'),
        updater: { command: [], exitCode: 1, receipt: null, log: 'fatal: unable to access the remote' },
        edits: [
          { path: 'hermes_cli/a.py', outcome: 'kept', why: null },
          { path: 'hermes_cli/b.py', outcome: 'parked', why: 'the new version changed the same lines' },
        ],
        parked: ['hermes-update-autostash-20261201'],
        dashboards: [{ port: 9119, outcome: 'failed', pid: null, url: null, why: 'it ended with 1' }],
        processes: [
          process,
          { ...process, pid: 42, restart: [['systemctl', 'restart', 'hermes dash']] },
          { ...process, pid: 44, startAgain: null },
        ],
        restart: [{ pid: 43, owner: 'the unit x', commands: [['kill', '43']] }] as never,
        verdict: null,
      }),
    );
    expect(text).toBe(`The engine's own update failed (exit 1); the engine is 0.14.0 at aaaaaaaaaa. Its
  words: fatal: unable to access the remote
Your edit of hermes_cli/b.py: parked, the new version changed the same lines
Parked in a stash: hermes-update-autostash-20261201
The dashboard on port 9119 did not start: it ended with 1
The updater ended process 41. To start it again:
  env 'HERMES_HOME=/home/u/my home' /opt/h/venv/bin/python dashboard ${long}
The updater ended process 42. To start it again:
  systemctl restart 'hermes dash'
The updater ended process 44: ${command}
Process 43 (the unit x) still runs the old code. To restart it:
  kill 43
`);
  });

  test('what would happen: the branch that the updater leaves is said', () => {
    const branchChange = { from: 'feature', to: 'main' };
    expect(updateText(document({ outcome: 'dry-run', branchChange })))
      .toBe(`Update of /opt/hermes-agent with /home/u/.hermes
No running process would be ended.
The checkout is on the branch feature: the engine's updater changes to main and
  updates that
`);
  });
});
