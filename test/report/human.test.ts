import { describe, expect, test } from 'vitest';
import { readClients } from '../../src/judge/client.ts';
import { judge } from '../../src/judge/judge.ts';
import type { Report, Reports } from '../../src/judge/schema.ts';
import type { Facts } from '../../src/probe/schema.ts';
import { human } from '../../src/report/human.ts';
import { humanReports } from '../../src/report/human-reports.ts';
import { coloured } from '../../src/report/style.ts';
import {
  answered,
  e403,
  error,
  healthy,
  http,
  page,
  release,
  remote,
  withHttp,
  withWs,
} from '../judge/facts.ts';

const clients = await readClients();
const report = (facts: Facts, client = 'hermes-one'): Report => ({
  ...judge(facts, { client, clients }),
  durationMs: 7,
});

const chatOff = withWs(
  withHttp(
    {
      ...release(healthy(), '0.14.0', { generation: 'G0', chatAssignment: 'from-parameter' }),
      contract: { value: null, from: 'source', state: 'none', raw: null, why: null },
    },
    http('page', 200, page(false)),
    http('model-library', 200, page(false)),
  ),
  e403(),
);

test('the verdict, what was checked, then each finding with cause, evidence and commands', () => {
  expect(human(report(chatOff)))
    .toBe(`NEEDS-REMEDY  hermes-one does not work with http://127.0.0.1:9119 yet. There is
a remedy.

  Engine    Hermes Agent 0.14.0, generation G0, no contract, in /home/ann/venv
  Clients   needs-remedy: hermes-desktop, hermes-one, minimal
  Checked   ✗ websocket, model-library
            ✓ reach, stability, credential, sessions, session-messages,
              model-options, model-set, page, exposure, dashboard, install,
              installs, engine-package, processes, home, served-home, restart,
              patches, source-edits, compat-folder, residue, writable,
              host-notes

✗ CHAT_DISABLED  certain
  The engine’s embedded chat is off, so /api/ws refuses every client.
  · the page says __HERMES_DASHBOARD_EMBEDDED_CHAT__=false
  · upgrade of /api/ws with the token answered 403 with an empty body
  · GET /api/sessions?limit=1 with the token answered 200 with JSON
  Fix it (reversible):
    $ hermes-compat doctor --url http://127.0.0.1:9119 --fix --client hermes-one
    $ kill 4711
    $ hermes-compat launch --home /home/ann/.hermes --port 9119
  Other ways (-v shows them): start it with \`hermes-compat launch\`, a setting,
  update the engine.

✗ MODEL_LIBRARY_MISSING  certain
  The engine has no /api/model/library, which this client needs.
  · GET /api/model/library with the token answered 200 with a Hermes page
  The same commands fix it.
`);
});

test('a green report is short', () => {
  const text = human(report(healthy(), 'minimal'));
  expect(text.split('\n')[0]).toBe('COMPATIBLE  minimal works with http://127.0.0.1:9119.');
  expect(text).toContain('compatible: hermes-desktop, minimal · needs-remedy: hermes-one');
  expect(text.trimEnd().split('\n').length).toBeLessThan(12);
});

test('verbose shows every check, every way out and the transport decision', () => {
  const text = human(report(chatOff), { verbose: true });
  expect(text).toContain('– rpc: the WebSocket is not open');
  expect(text).toContain('HERMES_DASHBOARD_TUI=1');
  expect(text).toContain('  Or: update the engine:\n');
  expect(text).toMatch(/Transport auto takes nothing/);
});

test('lines of a proxy are printed for each that it may be', () => {
  const text = human(
    report(remote(withWs(healthy(), answered(404, error('No such API endpoint: /api/ws')))), 'minimal'),
  );
  expect(text).toContain('  In haproxy on its own machine:\n');
  expect(text).toContain('  Or: in nginx on its own machine:\n');
  expect(text).toContain('      proxy_set_header Upgrade $http_upgrade;\n');
  expect(text).toContain('    $ nginx -s reload\n');
  expect(text).toContain('  Or: in caddy on its own machine:\n');
});

describe('looks', () => {
  test('80 columns, commands and paths aside', () => {
    for (const line of human(report(chatOff), { verbose: true }).split('\n'))
      if (!line.startsWith('    $') && !/\/\S{40}/.test(line))
        expect(line.length, line).toBeLessThanOrEqual(80);
  });
  test('no colour unless a style is given', () => {
    expect(human(report(chatOff))).not.toContain('\u001b');
    expect(human(report(chatOff), { style: coloured })).toContain('\u001b[31mNEEDS-REMEDY\u001b[39m');
  });
  test('what a server says cannot steer the terminal', () => {
    const evil = '\u001b[2J\u001b]0;owned\u0007\u202eevil\r\nCOMPATIBLE  all is well.';
    const facts = {
      ...healthy(),
      target: { ...healthy().target, name: evil },
      status: { ...(healthy().status ?? ({} as never)), version: evil },
    };
    const text = human(report(withHttp(facts, http('model-library', 404, error(evil))), 'hermes-one'), {
      verbose: true,
    });
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(text).not.toMatch(/^COMPATIBLE/m);
  });
});

test('several targets: a line each, the count, then what is not compatible', () => {
  const reports = [report(healthy(), 'minimal'), report(chatOff)];
  const document: Reports = {
    schemaVersion: '1.0',
    kind: 'reports',
    tool: { name: 'hermes-compat', version: '0.1.0' },
    reports,
    summary: {
      total: 2,
      compatible: 1,
      'needs-remedy': 1,
      incompatible: 0,
      unknown: 0,
      exitCode: 1,
      durationMs: 9,
    },
  };
  const text = humanReports(document);
  expect(text.split('\n').slice(0, 4)).toEqual([
    'compatible    local  minimal',
    'needs-remedy  local  hermes-one  CHAT_DISABLED, MODEL_LIBRARY_MISSING',
    '',
    '2 targets: 1 compatible, 1 needs-remedy',
  ]);
  expect(text).toContain('── local\nNEEDS-REMEDY');
  expect(text).not.toContain('COMPATIBLE  minimal');
});
