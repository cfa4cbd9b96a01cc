import { scenarios } from '../src/live/scenarios.ts';
import type { Cell, Matrix } from './cells.ts';
import { type Find, none, plain, rowsOf, type Table, type Words } from './view-words.ts';

const outcomesOf = new Map(scenarios.map(({ id, outcomes }) => [id, outcomes.join(', ')]));

/** ✓ as it should be; ≈ with differences that have names; ✗ another outcome. */
function settled(id: string, got: string | undefined): Words {
  if (got === undefined) return none;
  const [outcomes = '', ...more] = got.split(' · ');
  if (outcomes !== outcomesOf.get(id)) return { text: '✗', tone: 'bad' };
  return more.length === 0 ? { text: '✓', tone: 'good' } : { text: '≈', tone: 'remedy' };
}

export function turnTable(matrix: Matrix, find: Find): Table {
  const rows = rowsOf(matrix, 'turn').map(([engine, row]): Words[] => [
    plain(`${engine} · ${row}`),
    ...['local', 'http', 'ssh'].map((way) => shortTurns(find('turn', engine, row, way))),
  ]);
  return { caption: 'Short turns', columns: ['Engine and mode', 'local', 'HTTP', 'SSH'], rows };
}

function shortTurns(saw: Cell['saw'] | undefined): Words {
  if (saw === undefined) return none;
  if (saw['error'] !== undefined) return { text: saw['error'], tone: 'unsure' };
  const ids = Object.keys(saw).filter((id) => id !== 'exit');
  const all = ids.map((id) => [id, settled(id, saw[id])] as const);
  const odd = all.filter(([, { text }]) => text !== '✓');
  if (odd.length === 0) return { text: '✓', tone: 'good' };
  const bad = odd.some(([, { tone }]) => tone === 'bad');
  // Another outcome is told in full: it is what a client would show.
  const words = odd.map(([id, { text, tone }]) => `${text} ${id}${tone === 'bad' ? ` (${saw[id]})` : ''}`);
  return { text: words.join(', '), tone: bad ? 'bad' : 'remedy' };
}

export function suiteTables(matrix: Matrix, find: Find): Table[] {
  const lines = rowsOf(matrix, 'suite');
  if (lines.length === 0) return [];
  const rows = scenarios.map(({ id, says }): Words[] => [
    plain(`${id}: ${says}`),
    ...lines.map(([engine, row]) => settled(id, find('suite', engine, row, id)?.['is'])),
  ]);
  const details = lines.flatMap(([engine, row]): Words[][] => {
    const error = find('suite', engine, row, 'error')?.['is'];
    if (error !== undefined) return [[plain(engine), plain('all'), { text: error, tone: 'unsure' }]];
    return scenarios.flatMap(({ id }) => {
      const got = find('suite', engine, row, id)?.['is'];
      const { text, tone } = settled(id, got);
      return text === '✓' || got === undefined ? [] : [[plain(engine), plain(id), { text: got, tone }]];
    });
  });
  return [
    { caption: 'All scenarios', columns: ['Scenario', ...lines.map(([engine]) => engine)], rows },
    { caption: 'Where it is not ✓', columns: ['Engine', 'Scenario', 'What came of it'], rows: details },
  ];
}

export function patchTable(matrix: Matrix, find: Find): Table {
  const engines = [...new Set(rowsOf(matrix, 'patch').map(([engine]) => engine))];
  const rows = engines.map((engine): Words[] => [
    plain(engine),
    ...['overlay', 'source'].flatMap((carrier) =>
      ['local', 'ssh'].map((way) => patched(find('patch', engine, carrier, way))),
    ),
  ]);
  return {
    caption: 'Apply, use, revert',
    columns: ['Engine', 'overlay, local', 'overlay, SSH', 'source, local', 'source, SSH'],
    rows,
  };
}

function patched(saw: Cell['saw'] | undefined): Words {
  if (saw === undefined) return none;
  const { apply = '', again, revert, bytes, state = '', doctor } = saw;
  if (apply.startsWith('exit'))
    return { text: `refused: ${apply.replace(/^exit \d+: /, '')}`, tone: 'unsure' };
  const odd = [
    ...(apply === 'done' ? [] : [`apply: ${apply}`]),
    ...(again === 'nothing-to-do' ? [] : [`again: ${again}`]),
    ...(revert === 'done' ? [] : [`revert: ${revert}`]),
    ...(bytes === 'as before' ? [] : [bytes ?? '']),
    ...(doctor === undefined || doctor === 'compatible' ? [] : [`doctor: ${doctor}`]),
  ];
  if (odd.length > 0) return { text: `✗ ${odd.join('; ')}`, tone: 'bad' };
  const names = state
    .split(', ')
    .filter((each) => each.endsWith(' applied'))
    .map((each) => each.replace(/ applied$/, ''));
  return { text: `✓ ${names.join(', ')}`, tone: 'good' };
}

export function updateTable(matrix: Matrix, find: Find): Table {
  const engines = [...new Set(rowsOf(matrix, 'update').map(([engine]) => engine))];
  const ways = ['overlay local', 'overlay ssh', 'source local', 'source ssh'];
  const rows = engines.map((engine): Words[] => {
    const to = ways.map((way) => find('update', engine, way, 'update')?.['to']).find(Boolean) ?? '';
    return [plain(`${engine} → ${to}`), ...ways.map((way) => updated(find('update', engine, way, 'update')))];
  });
  return {
    caption: 'From each rung to the next',
    columns: ['Update', 'overlay, local', 'overlay, SSH', 'source, local', 'source, SSH'],
    rows,
  };
}

function updated(saw: Cell['saw'] | undefined): Words {
  if (saw === undefined) return none;
  const { error, verdict = '', patches = '', stash, exit, apply } = saw;
  if (error !== undefined) return { text: `exit ${exit}: ${error}`, tone: 'unsure' };
  const good = verdict === 'compatible' && stash === 'empty' && exit === '0';
  const before = apply === 'exit 0' ? '' : ` (apply before it: ${apply})`;
  return {
    text: `${good ? '✓' : '✗'} ${verdict}${patches === '' ? '' : `: ${patches}`}${before}`,
    tone: good ? 'good' : 'bad',
  };
}
