import type { Row } from './rows.ts';
import type { StoredTurn } from './stored.ts';
import type { Part, Turn } from './types.ts';

/** A live turn as rows for a flat transcript. `turnId` makes the ids; the text that is still written is `pending`. */
export function rowsOfTurn(turn: Turn, turnId: string): Row[] {
  const user: Row[] =
    turn.origin === 'user'
      ? [{ id: `${turnId}-user`, role: 'user', content: turn.prompt ?? '', turnId }]
      : [];
  const rows = turn.parts
    .flatMap((part, i) => rowsOfPart(part, `${turnId}-${i}`))
    .map((row) => ({ ...row, turnId }));
  const last = rows.at(-1);
  if (turn.outcome === null && last !== undefined && last.kind === undefined)
    rows[rows.length - 1] = { ...last, pending: true };
  return [...user, ...rows];
}

/** A stored turn as rows; ids are those of the stored rows, with what was taken out of a row behind it. */
export function rowsOfStoredTurn(turn: StoredTurn): Row[] {
  const user: Row[] =
    turn.origin === 'user' ? [{ id: turn.rowId ?? '', role: 'user', content: turn.shown }] : [];
  return [
    ...user,
    ...turn.parts.flatMap((part, i) => {
      const row = turn.partRows[i] ?? '';
      return rowsOfPart(part, part.type === 'text' || part.type === 'error' ? row : `${row}:${i}`);
    }),
  ];
}

function rowsOfPart(part: Part, id: string): Row[] {
  switch (part.type) {
    case 'reasoning':
      return [{ id, role: 'agent', kind: 'reasoning', content: part.text }];
    case 'text':
      return [{ id, role: 'agent', content: part.text }];
    case 'error':
      return [{ id, role: 'agent', content: '', error: part.error, localOnly: true }];
    case 'tool': {
      const call: Row = {
        id,
        role: 'agent',
        kind: 'tool_call',
        content: `${part.name} ${part.context ?? textOf(part.args)}`.trim(),
      };
      if (part.status === 'running' && part.result === null) return [call];
      return [
        call,
        {
          id: `${id}-result`,
          role: 'agent',
          kind: 'tool_result',
          content: textOf(part.result) || part.status,
        },
      ];
    }
    default:
      return part satisfies never;
  }
}

/** The output of a command, else the value as JSON. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (
    typeof value === 'object' &&
    'output' in value &&
    typeof value.output === 'string' &&
    value.output !== ''
  )
    return value.output;
  return JSON.stringify(value) ?? '';
}
