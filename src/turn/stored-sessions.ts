import { isObject, objectOf, textOf, type Json } from './json.ts';

/** What the engine stored: for each stored id that was asked, the last answer of `GET /api/sessions/<asked>/messages`. */
export interface StoredSessions {
  sessions: { asked: string; answer: { session_id: string | null; messages: unknown[] } }[];
}

/**
 * Reads stored sessions from outside: our own shape, or one answer of the engine itself, `{session_id, messages}` of a dashboard or
 * `{session_id, data}` of an API server, which counts as asked by the id that it names. Sessions of our shape that do not fit are left out.
 *
 * @throws TypeError when it is neither, so that nothing is ever called the same as nothing
 */
export function storedSessionsOf(value: unknown): StoredSessions {
  const sessions = objectOf(value)['sessions'];
  if (Array.isArray(sessions)) {
    const read = sessions.flatMap((one) => sessionOf(one) ?? []);
    if (read.length > 0 || sessions.length === 0) return { sessions: read };
  }
  const answer = answerOf(value);
  const asked = answer?.session_id ?? idOfRows(answer?.messages ?? []);
  if (answer === null || asked === null)
    throw new TypeError(
      'no stored sessions: neither {"sessions": [{"asked", "answer"}]} nor an answer of GET /api/sessions/<id>/messages',
    );
  return { sessions: [{ asked, answer }] };
}

type Session = StoredSessions['sessions'][number];

function sessionOf(one: unknown): Session | null {
  const { asked, answer } = objectOf(one);
  const read = answerOf(answer);
  return typeof asked === 'string' && read !== null ? { asked, answer: read } : null;
}

function answerOf(value: unknown): Session['answer'] | null {
  if (!isObject(value)) return null;
  const rows = rowsOf(value);
  return rows === null ? null : { session_id: textOf(value['session_id']), messages: [...rows] };
}

function rowsOf({ messages, data }: Json): readonly unknown[] | null {
  if (Array.isArray(messages)) return messages;
  return Array.isArray(data) ? data : null;
}

/** Each row of the engine names its session. */
function idOfRows(rows: readonly unknown[]): string | null {
  for (const row of rows) {
    const id = textOf(objectOf(row)['session_id']);
    if (id !== null) return id;
  }
  return null;
}
