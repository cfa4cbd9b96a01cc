import { type Cell, type Matrix, place } from './cells.ts';
import {
  type Find,
  none,
  plain,
  rowsOf,
  type Section,
  type Table,
  type Tone,
  type Words,
} from './view-words.ts';
import { patchTable, suiteTables, turnTable, updateTable } from './view-tables.ts';

/** The matrix as titled tables of words, the same for Markdown and HTML. Pure. */

const signs: Record<string, [sign: string, tone: Tone]> = {
  compatible: ['✓', 'good'],
  'needs-remedy': ['⚒', 'remedy'],
  incompatible: ['✗', 'bad'],
  unknown: ['?', 'unsure'],
};

const clients = ['minimal', 'hermes-one', 'hermes-desktop'];
const ways = ['local', 'http', 'ssh'];
const modes = ['auto', 'dashboard', 'legacy'];
const wayNames: Record<string, string> = { local: 'local', http: 'HTTP', ssh: 'SSH' };

export function sections(matrix: Matrix): Section[] {
  const cells = new Map(matrix.cells.map((cell) => [place(cell), cell.saw]));
  const find: Find = (part, engine, row, column) => cells.get(place({ part, engine, row, column }));
  return [
    glance(matrix, find),
    doctor(matrix, find),
    {
      id: 'turns',
      title: 'Turns',
      says: [
        'A short answer, tools, and a refusal of the provider that is followed by a good turn, sent with `hermes-compat turn` over every way to each dashboard. ✓ means that each came out as it should.',
        'Then every scenario of `turn --suite full`, once for each engine. ✓: the outcomes are right and the stored rows show the same as the live turn. ≈: the outcomes are right, and the engine’s stored rows differ in a way that is known and named below. ✗: an outcome is another.',
      ],
      tables: [turnTable(matrix, find), ...suiteTables(matrix, find)],
    },
    {
      id: 'patches',
      title: 'Patches',
      says: [
        'Applied, applied again (nothing may change), started the plain way and checked for Hermes One, reverted, and compared byte for byte. Over HTTP nothing can be changed: there the program says what to run on the host.',
      ],
      tables: [patchTable(matrix, find)],
    },
    {
      id: 'updates',
      title: 'Updates',
      says: [
        'With the patches applied, `hermes-compat update` around the engine’s own updater, on a checkout made of the release’s files: what became of each patch, and the verdict for Hermes One afterwards.',
      ],
      tables: [updateTable(matrix, find)],
    },
  ];
}

function glance(matrix: Matrix, find: Find): Section {
  const rows = matrix.engines.map(({ name, generation, contract, note }): Words[] => {
    const shipped = find('doctor', name, 'plain', 'local auto');
    const fixed = find('patch', name, 'overlay', 'local');
    return [
      plain(name),
      plain(generation),
      plain(contract),
      ...clients.map((client) => verdict(shipped?.[client])),
      fixed?.['doctor'] === undefined ? none : verdict(fixed['doctor'].split(' ')[0]),
      plain(note),
    ];
  });
  const columns = ['Engine', 'Generation', 'Contract', ...clients, 'hermes-one, patched', 'Note'];
  return {
    id: 'glance',
    title: 'At a glance',
    says: [
      'The verdict for each client with the engine started the plain way, as it is installed, seen from its own machine.',
    ],
    tables: [{ caption: 'Engines', columns, rows }],
  };
}

const verdict = (word: string | undefined): Words => {
  const [sign, tone] = signs[word ?? ''] ?? ['–', 'none'];
  return { text: word === undefined ? '–' : `${sign} ${word}`, tone };
};

function doctor(matrix: Matrix, find: Find): Section {
  const lines = rowsOf(matrix, 'doctor');
  const columns = ways.flatMap((way) => modes.map((mode) => `${way} ${mode}`));
  const rows = lines.map(([engine, row]): Words[] => {
    const started = find('doctor', engine, row, 'start')?.['answers'] === 'yes';
    const name = `${engine} · ${row}${started ? '' : ' (does not start)'}`;
    return [plain(name), ...columns.map((column) => threeVerdicts(find('doctor', engine, row, column)))];
  });
  const titles = columns.map((column) => column.replace(/^\w+/, (way) => wayNames[way] ?? way));
  return {
    id: 'doctor',
    title: 'Doctor',
    says: [
      'One line for each way to start an engine: `plain`; `chat on` (a setting of 0.12 to 0.15); `gated` (with its login); `headless` (`hermes serve`); `api-server` (the gateway’s API server, for clients in legacy mode). One column for each way to reach it and each mode of the client.',
      'Three signs in each cell: the verdicts for `minimal`, `hermes-one` and `hermes-desktop`. ✓ compatible, ⚒ needs a remedy that we have, ✗ incompatible, ? could not be checked.',
    ],
    tables: [
      { caption: 'Verdicts', columns: ['Engine and mode', ...titles], rows },
      findings(lines, columns, find),
    ],
  };
}

function threeVerdicts(saw: Cell['saw'] | undefined): Words {
  if (saw === undefined) return none;
  const all = clients.map((client) => signs[saw[client] ?? ''] ?? ['–', 'none']);
  const order: Tone[] = ['bad', 'unsure', 'remedy', 'good'];
  const tone = order.find((each) => all.some(([, tone]) => tone === each)) ?? 'none';
  return { text: all.map(([sign]) => sign).join(' '), tone };
}

/** Columns of a line that say the same stand together. */
function findings(
  lines: readonly (readonly [string, string])[],
  columns: readonly string[],
  find: Find,
): Table {
  const rows = lines.flatMap(([engine, row]) => {
    const groups = new Map<string, string[]>();
    for (const column of columns) {
      const saw = find('doctor', engine, row, column);
      if (saw === undefined) continue;
      const key = JSON.stringify([saw['errors'], saw['warnings'], saw['chooses']]);
      groups.set(key, [...(groups.get(key) ?? []), column]);
    }
    return [...groups].map(([key, where]): Words[] => {
      const [errors = '', warnings = '', chooses = ''] = JSON.parse(key) as string[];
      return [
        plain(`${engine} · ${row}`),
        plain(together(where)),
        plain(errors.replaceAll(' ', ', ') || 'none'),
        plain(warnings.replaceAll(' ', ', ') || 'none'),
        plain(chooses),
      ];
    });
  });
  const head = ['Engine and mode', 'Seen from', 'Errors', 'Warnings', 'auto would take'];
  return { caption: 'Findings, for hermes-one', columns: head, rows };
}

/** `local and SSH: auto, dashboard`. */
function together(where: readonly string[]): string {
  const groups = new Map<string, string[]>();
  for (const way of ways) {
    const of = modes.filter((mode) => where.includes(`${way} ${mode}`)).join(', ');
    if (of !== '') groups.set(of, [...(groups.get(of) ?? []), wayNames[way] ?? way]);
  }
  return [...groups]
    .map(
      ([of, names]) =>
        `${names.length === ways.length ? 'everywhere' : names.join(', ')}: ${of === modes.join(', ') ? 'all modes' : of}`,
    )
    .join('; ');
}
