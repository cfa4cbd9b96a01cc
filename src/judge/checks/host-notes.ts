import { codes } from '../codes.ts';
import { draft } from '../draft.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

/** The host got in the way and the check went on: told, never an error by itself. */
export const hostNotes: CheckDefinition = {
  id: 'host-notes',
  summary: 'nothing on the host got in the way of looking',
  legacy: true,
  run({ reading }) {
    const { host } = reading.facts;
    if (host === null) return skip('the host was not looked at');
    const known = host.notes.filter((note) => codes.has(note.code));
    const others = host.notes.filter((note) => !codes.has(note.code)).map((note) => note.text);
    return done(
      known.map((note) =>
        draft(note.code, {
          severity: 'info',
          args: { host: host.name, line: note.text },
          evidence: [note.text],
        }),
      ),
      [...(host.partial ? ['not everything could be seen'] : []), ...others].join('; '),
    );
  },
};
