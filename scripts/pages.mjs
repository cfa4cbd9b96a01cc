// The pages of docs/ that are made from the code: what a verdict means, and every finding code.
import { readClients } from '../dist/judge/client.js';
import { capabilityIds } from '../dist/judge/capability-ids.js';
import { checks } from '../dist/judge/checks/index.js';
import { codes } from '../dist/judge/codes.js';
import { exitCodeHelp } from '../dist/cli/exit-codes.js';
import { explanation } from '../dist/report/explain.js';
import { credentialMessages } from '../dist/report/messages-credential.js';
import { edgeMessages } from '../dist/report/messages-edge.js';
import { installMessages } from '../dist/report/messages-install.js';
import { launchMessages } from '../dist/report/messages-launch.js';
import { patchMessages } from '../dist/report/messages-patch.js';
import { reachMessages } from '../dist/report/messages-reach.js';
import { sshMessages } from '../dist/report/messages-ssh.js';
import { turnMessages } from '../dist/report/messages-turn.js';
import { websocketMessages } from '../dist/report/messages-websocket.js';

const groups = [
  ['No answer, or a broken one', reachMessages],
  ['Something stands in between', edgeMessages],
  ['Credentials and logins', credentialMessages],
  ['The WebSocket, and what a client needs', websocketMessages],
  ['Installs, homes and processes', installMessages],
  ['Starting a dashboard', launchMessages],
  ['Patches, markers, updates', patchMessages],
  ['SSH', sshMessages],
  ['Turns', turnMessages],
];

const made = '<!-- Made by `npm run generate` from the code: do not edit. -->';

/** A `|` would end the cell. */
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
const table = (head, rows) => [
  `| ${head.join(' | ')} |`,
  `|${head.map(() => '---').join('|')}|`,
  ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`),
];

export function codesPage() {
  const named = groups.flatMap(([, messages]) => Object.keys(messages));
  const lost = [...codes.keys()].filter((code) => !named.includes(code));
  if (lost.length > 0) throw new Error(`codes of no group: ${lost.join(', ')}`);
  const sections = groups.flatMap(([title, messages]) => [
    `## ${title}`,
    '',
    ...Object.keys(messages)
      .toSorted()
      .flatMap((code) => {
        const found = explanation(code);
        if (found === null) throw new Error(`${code} is not explained`);
        const leads = found.verdict === null ? 'no verdict' : `verdict \`${found.verdict}\``;
        return [
          `### ${code}`,
          '',
          `${found.severity} · ${leads}${found.retryable ? ' · trying again can help' : ''}`,
          '',
          `${cell(found.means)}`,
          '',
          `- **Found by**: ${cell(found.seen)}`,
          `- **What to do**: ${cell(found.todo)}`,
          '',
        ];
      }),
  ]);
  return [
    '# Finding codes',
    '',
    made,
    '',
    'Codes are permanent: a newer version adds some and renames none. On a terminal `hermes-compat explain CODE` says the same, and',
    '`hermes-compat explain --json` gives all of them to a program. What verdicts and exit codes mean: [verdicts](verdicts.md).',
    'Coming from a symptom: [troubleshooting](troubleshooting.md).',
    '',
    ...groups.map(([title, messages]) => {
      const anchor = title
        .toLowerCase()
        .replaceAll(/[^a-z0-9 -]/g, '')
        .replaceAll(' ', '-');
      return `- [${title}](#${anchor}): ${Object.keys(messages).length}`;
    }),
    '',
    ...sections,
  ].join('\n');
}

const link = (code) => `[${code}](codes.md#${code.toLowerCase()})`;

export async function verdictsPage() {
  const of = (weight) =>
    [...codes]
      .filter(([, meaning]) => meaning.weight === weight)
      .map(([code]) => link(code))
      .toSorted()
      .join(', ');
  const clients = await readClients();
  const exits = exitCodeHelp
    .split('\n')
    .flatMap((line) => [...line.matchAll(/(\d+) {1,2}(\S.*?)(?= {3,}|$)/g)])
    .map(([, code, says]) => [code, says]);
  return [
    '# Verdicts and exit codes',
    '',
    made,
    '',
    'A check ends with one word for the client that was asked about, `--client NAME`; the words for the other clients stand beside it.',
    '',
    ...table(
      ['Verdict', 'Means', 'Exit'],
      [
        [
          '`compatible`',
          'everything that the client requires is there; warnings are possible',
          '0, with `--fail-on warn` 1 when there are any',
        ],
        [
          '`needs-remedy`',
          'something is missing for which there is a remedy of ours, even where it cannot be delivered from here',
          '1',
        ],
        [
          '`incompatible`',
          'something is missing, and only a change by somebody else helps: the report says whose',
          '1',
        ],
        ['`unknown`', 'it could not be checked. Never a success, and never a refusal', '3'],
      ],
    ),
    '',
    'The verdict is the strongest of `incompatible`, `needs-remedy`, `unknown` over the errors that touch what the client requires. With none of',
    'them, a required capability that is not a clear yes still gives `unknown`, also when a check was left out by `--only` or `--skip`.',
    'A remedy never changes a verdict: the check after it does. The verdict is for the dashboard; with `--mode legacy` for the API server.',
    '',
    'How sure a finding is: `certain` (seen), `likely` (follows from what was seen, or was read from disk), `possible` (one of several causes;',
    'the others are listed too).',
    '',
    '## Exit codes',
    '',
    ...table(['Exit', 'Means'], exits),
    '',
    'Of several targets the first of 70, 130, 6, 5, 4, 1, 3, 2, 10, 0 that occurred.',
    '',
    '## Which error leads to which verdict',
    '',
    ...table(
      ['Verdict', 'Codes'],
      [
        ['`incompatible`', of('I')],
        ['`needs-remedy`', of('N')],
        ['`unknown`', of('U')],
      ],
    ),
    '',
    'A contract below what a client refuses to work without is `incompatible` too; none of the known clients refuses.',
    'All [codes](codes.md).',
    '',
    '## Clients',
    '',
    ...table(
      ['Client', 'Requires', 'Contract', 'Read from'],
      clients.map(({ name, requires, contract, source, date }) => [
        `\`${name}\``,
        requires.map((id) => `\`${id}\``).join(' '),
        contract === null
          ? 'none'
          : `${contract.wanted} or higher, else ${contract.required ? 'it refuses' : 'a warning'}; knows up to ${contract.known}`,
        `${source} (${date})`,
      ]),
    ),
    '',
    'What a contract is: [contract](contract.md).',
    '',
    '## Capabilities',
    '',
    `Each is \`yes\`, \`no\`, \`unknown\` or \`not-applicable\`: ${capabilityIds.map((id) => `\`${id}\``).join(', ')}.`,
    '',
    '## Checks',
    '',
    'For `--only` and `--skip`. A check that could not look says `error`, which is not `pass`.',
    '',
    ...table(
      ['Check', 'Holds when'],
      checks.map(({ id, summary }) => [`\`${id}\``, summary]),
    ),
    '',
  ].join('\n');
}
