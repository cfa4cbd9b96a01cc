import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readClients } from '../../src/judge/client.ts';
import { judge } from '../../src/judge/judge.ts';
import { factsSchema } from '../../src/probe/schema.ts';

// Facts that `detect --json` took of real engines, names and numbers of the machine replaced. The acceptance table once more, from files.

const clients = await readClients();

const library = 'MODEL_LIBRARY_MISSING error';
const noBuild = 'WEB_BUILD_MISSING info';
const rows: [file: string, client: string, verdict: string, findings: string[]][] = [
  ['0.14.0', 'minimal', 'needs-remedy', ['CHAT_DISABLED error']],
  ['0.14.0', 'hermes-one', 'needs-remedy', ['CHAT_DISABLED error', library]],
  ['0.14.0', 'hermes-desktop', 'needs-remedy', ['CHAT_DISABLED error', 'CONTRACT_NONE warn']],
  ['0.14.0-tui', 'minimal', 'compatible', []],
  ['0.14.0-tui', 'hermes-one', 'needs-remedy', [library]],
  ['0.14.0-tui', 'hermes-desktop', 'compatible', ['CONTRACT_NONE warn']],
  ['0.16.0', 'minimal', 'compatible', []],
  ['0.16.0', 'hermes-one', 'needs-remedy', [library]],
  ['0.16.0', 'hermes-desktop', 'compatible', ['CONTRACT_TOO_OLD warn']],
  ['0.19.0', 'hermes-one', 'needs-remedy', [library]],
  ['0.19.0', 'hermes-desktop', 'compatible', ['CONTRACT_TOO_OLD warn']],
  ['0.21.4', 'hermes-one', 'needs-remedy', [library, noBuild]],
  ['0.21.4', 'hermes-desktop', 'compatible', ['CONTRACT_TOO_OLD warn', noBuild]],
  ['0.22.2', 'hermes-one', 'needs-remedy', [library, noBuild, 'INSTALL_EDITED warn']],
  ['0.22.2', 'hermes-desktop', 'compatible', [noBuild, 'INSTALL_EDITED warn']],
  ['0.20.0-no-token', 'minimal', 'unknown', ['TOKEN_UNREADABLE error', noBuild]],
  ['0.20.0-no-token', 'hermes-one', 'needs-remedy', ['TOKEN_UNREADABLE error', library, noBuild]],
  ['0.13.0-no-token', 'minimal', 'needs-remedy', ['TOKEN_UNREADABLE error', 'CHAT_DISABLED error', noBuild]],
  [
    '0.13.0-no-token',
    'hermes-one',
    'needs-remedy',
    ['TOKEN_UNREADABLE error', 'CHAT_DISABLED error', library, noBuild],
  ],
];

test.each(rows)('%s for %s', (file, client, verdict, findings) => {
  const text = readFileSync(new URL(`../../fixtures/facts/${file}.json`, import.meta.url), 'utf8');
  const report = judge(factsSchema.parse(JSON.parse(text)), { client, clients });
  expect([report.verdict, report.findings.map((each) => `${each.code} ${each.severity}`)]).toEqual([
    verdict,
    findings,
  ]);
});
