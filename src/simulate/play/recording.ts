import { usageError } from '../../errors.ts';

/** One line of a recording, as `cases/README.md` describes it. */
interface Line {
  t: number;
  dir: 'in' | 'out' | 'note';
  conn: string;
  frame: unknown;
  note: string;
}

/** What the stand-in does next when it plays a recording. */
export type Step =
  /** Sends a frame of the engine; `answers` is the recorded id of the request that it answers. */
  | { kind: 'send'; t: number; conn: string; frame: Record<string, unknown>; answers: unknown }
  /** Waits until the client calls this method; `id` is the recorded one. */
  | { kind: 'call'; t: number; method: string; id: unknown }
  /** Waits until the client answers this request of the engine. */
  | { kind: 'reply'; t: number; id: unknown }
  /** The socket is lost here. */
  | { kind: 'cut'; t: number; conn: string };

export interface Recording {
  steps: Step[];
  /** Recorded answers to questions that change nothing, by method: given whenever the client asks. */
  asides: Map<string, Record<string, unknown>[]>;
  /** Names of the recorded sockets, in the order in which they opened. */
  sockets: string[];
  /** `version` that the engine named, where a frame shows it. */
  version: string | null;
}

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};

/** Calls of the recorded client that only looked; a client that is tested need not make them. */
const onlyLooks = [
  'session.title',
  'session.usage',
  'session.active_list',
  'session.events.since',
  'client.capabilities',
  'config.set',
];

const parseLine = (text: string, at: number): Line => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw usageError(`line ${at + 1} of the recording is not JSON`, { cause });
  }
  const { t, dir, conn, frame, note } = record(value);
  if (dir !== 'in' && dir !== 'out' && dir !== 'note')
    throw usageError(`line ${at + 1} of the recording has no "dir" of in, out or note`);
  return {
    t: typeof t === 'number' ? t : 0,
    dir,
    conn: typeof conn === 'string' ? conn : '',
    frame,
    note: typeof note === 'string' ? note : '',
  };
};

/** Calls that the engine refuses for their form are answered by the stand-in itself. */
export const isCall = (frame: Record<string, unknown>): frame is { id: unknown; method: string } =>
  typeof frame['method'] === 'string' && !Array.isArray(frame['params']);

const isCut = ({ dir, note }: Line): boolean =>
  dir === 'note' && (note.startsWith('client closes the socket') || note.startsWith('backend killed'));

const stepOf = (line: Line, recording: Recording, aside: Map<unknown, string>): Step | null => {
  const { t, conn } = line;
  if (isCut(line)) return { kind: 'cut', t, conn };
  const frame = record(line.frame);
  const { id, method } = frame;
  if (line.dir === 'out') {
    if (method === undefined) return 'id' in frame ? { kind: 'reply', t, id } : null;
    if (!isCall(frame)) return null;
    if (!onlyLooks.includes(frame.method)) return { kind: 'call', t, method: frame.method, id };
    aside.set(id, frame.method);
    return null;
  }
  if (line.dir === 'note') return null;
  const asked = method === undefined ? aside.get(id) : undefined;
  if (asked === undefined)
    return { kind: 'send', t, conn, frame, answers: method === undefined ? id : undefined };
  recording.asides.set(asked, [...(recording.asides.get(asked) ?? []), frame]);
  return null;
};

const versionIn = (frame: unknown): string | null => {
  const { params, result } = record(frame);
  const { version } = { ...record(record(params)['payload']), ...record(record(result)['info']) };
  return typeof version === 'string' ? version : null;
};

/** @throws CompatError usage with the line, when the text is no recording */
export const parseRecording = (text: string): Recording => {
  const lines = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(parseLine);
  const recording: Recording = { steps: [], asides: new Map(), sockets: [], version: null };
  const aside = new Map<unknown, string>();
  for (const line of lines) {
    if (line.dir !== 'note' && !recording.sockets.includes(line.conn)) recording.sockets.push(line.conn);
    recording.version ??= line.dir === 'in' ? versionIn(line.frame) : null;
    const step = stepOf(line, recording, aside);
    if (step !== null) recording.steps.push(step);
  }
  if (!recording.steps.some(({ kind }) => kind === 'send'))
    throw usageError('the recording holds no frame of an engine');
  return recording;
};
