import { setTimeout as pause } from 'node:timers/promises';
import type { Connection } from '../socket/hub.ts';
import type { Recording, Step } from './recording.ts';
import { isCall } from './recording.ts';

/**
 * Plays a recording to a client: frames of the engine go out in their order, and what the recorded client did is waited for. Ids of sessions
 * are the recorded ones. A client that leaves a call out gets the frames that came after it as soon as it makes the next one.
 */
export interface Player {
  /** Takes a socket as the next of the recorded ones. */
  connect: (connection: Connection) => void;
  disconnect: (connection: Connection) => void;
  /** Takes a frame of the client; false when the recording has nothing to say to it. */
  receive: (connection: Connection, frame: Record<string, unknown>) => boolean;
  stop: () => void;
}

interface Waiting {
  connection: Connection;
  id: unknown;
  method: string;
}

interface State {
  recording: Recording;
  pace: number;
  at: number;
  /** Recorded name of each socket. */
  names: Map<Connection, string>;
  opened: number;
  calls: Waiting[];
  replies: Set<unknown>;
  /** Recorded id of a request to who asked it, and with which id. */
  asked: Map<unknown, Waiting>;
  wake: () => void;
  stop: AbortController;
}

const step = ({ recording, at }: State): Step | undefined => recording.steps[at];

const socketNamed = (state: State, name: string): Connection | undefined =>
  [...state.names].findLast(([, given]) => given === name)?.[0];

const isReady = ({ params }: Record<string, unknown>): boolean =>
  (params as Record<string, unknown> | undefined)?.['type'] === 'gateway.ready';

/** The first call in the queue that this step or a later one is about; later ones are reached by leaving steps out. */
const nextCall = (state: State): { call: Waiting; at: number } | null => {
  for (const call of state.calls) {
    const at = state.recording.steps.findIndex(
      (candidate, i) => i >= state.at && candidate.kind === 'call' && candidate.method === call.method,
    );
    if (at >= 0) return { call, at };
  }
  return null;
};

const send = (state: State, { conn, frame, answers }: Extract<Step, { kind: 'send' }>): void => {
  if (answers === undefined) {
    socketNamed(state, conn)?.send(frame);
    return;
  }
  const who = state.asked.get(answers);
  who?.connection.send({ ...frame, id: who.id });
};

/** True when the step is done and the next one can come. */
const perform = (state: State, current: Step): boolean => {
  switch (current.kind) {
    case 'send':
      // Sent when its socket opened, which is waited for here; a socket that is gone loses its frames.
      if (isReady(current.frame)) return state.opened > state.recording.sockets.indexOf(current.conn);
      send(state, current);
      return true;
    case 'cut':
      socketNamed(state, current.conn)?.cut();
      return true;
    case 'reply':
      return state.replies.has(current.id) || nextCall(state) !== null;
    case 'call': {
      const next = nextCall(state);
      if (next === null) return false;
      if (next.at === state.at) {
        state.calls.splice(state.calls.indexOf(next.call), 1);
        state.asked.set(current.id, next.call);
      }
      return true;
    }
    default:
      return current satisfies never;
  }
};

const run = async (state: State): Promise<void> => {
  let last = 0;
  for (let current = step(state); current !== undefined; current = step(state)) {
    const gap = current.kind === 'send' ? Math.max(0, current.t - last) * state.pace : 0;
    // Frames of one moment leave together; the pause lets others in.
    await pause(gap, undefined, { signal: state.stop.signal });
    if (perform(state, current)) {
      state.at += 1;
      last = current.t;
    } else
      await new Promise<void>((resolve) => {
        state.wake = resolve;
      });
  }
};

const connect = (state: State, connection: Connection): void => {
  const { sockets, steps } = state.recording;
  const name = sockets[Math.min(state.opened, sockets.length - 1)] ?? '';
  state.opened += 1;
  state.names.set(connection, name);
  const ready = steps.find((s) => s.kind === 'send' && s.conn === name && isReady(s.frame));
  if (ready?.kind === 'send') connection.send(ready.frame);
  state.wake();
};

const receive = (state: State, connection: Connection, frame: Record<string, unknown>): boolean => {
  const { id, method } = frame;
  if (method === undefined) {
    state.replies.add(id);
    state.wake();
    return true;
  }
  if (!isCall(frame)) return false;
  const { method: called } = frame;
  const aside = state.recording.asides.get(called)?.shift();
  if (aside !== undefined) {
    connection.send({ ...aside, id });
    return true;
  }
  const ahead = state.recording.steps.some(
    (candidate, i) => i >= state.at && candidate.kind === 'call' && candidate.method === called,
  );
  if (!ahead) return false;
  state.calls.push({ connection, id, method: called });
  state.wake();
  return true;
};

/** @param pace factor on the recorded pauses; 0 plays as fast as the client takes it */
export const createPlayer = (recording: Recording, pace: number): Player => {
  const state: State = {
    recording,
    pace,
    at: 0,
    names: new Map(),
    opened: 0,
    calls: [],
    replies: new Set(),
    asked: new Map(),
    wake: () => {},
    stop: new AbortController(),
  };
  // Ends with the abort of `stop`, and with nothing else.
  run(state).catch(() => {});
  return {
    connect: (connection) => connect(state, connection),
    disconnect: (connection) => void state.names.delete(connection),
    receive: (connection, frame) => receive(state, connection, frame),
    stop: () => {
      state.stop.abort();
      state.wake();
    },
  };
};
