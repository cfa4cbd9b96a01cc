import type { Provider } from '../simulate/index.ts';
import { isGatewayFailure, type GatewayFile, type GatewaySession, type Submitted } from '../turn/index.ts';
import type { Chat } from './chat.ts';

/** What a scenario works with: one chat of its own, and the scripted model when it is ours. */
export interface Stage {
  chat: Chat;
  /** null when the engine's model is scripted by another process. */
  provider: Provider | null;
  /** A picture and a text file as the engine can read them; null when its disk is not ours. */
  files: { image: string; text: string } | null;
  /** Stored ids of the sessions that were made. */
  sessions: string[];
  /** What the engine did that a client has to live with; names are permanent. */
  faults: Set<string>;
  signal: AbortSignal;
  /** A prompt that occurs nowhere else, so that it can be counted at the provider. */
  prompt(script: string): string;
}

export async function begin(stage: Stage): Promise<GatewaySession> {
  const session = await stage.chat.begin();
  if (session.storedId !== null) stage.sessions.push(session.storedId);
  return session;
}

/** Sends a prompt and waits for the end of its turn. */
export async function runTurn(stage: Stage, session: GatewaySession, prompt: string): Promise<Submitted> {
  const before = stage.chat.turns().length;
  const submitted = await stage.chat.gateway.submit(session, prompt);
  await stage.chat.settled(session, before + 1);
  // Engines from 0.16 on take the next prompt only after their last frame, a few milliseconds later.
  await pause(200);
  return submitted;
}

/** Waits for the first words of the answer that is being written. */
export const firstWords = (stage: Stage, session: GatewaySession): Promise<void> =>
  stage.chat.until('the first words', () =>
    stage.chat
      .turns()
      .some(
        (turn) =>
          turn.outcome === null &&
          turn.session === session.runtimeId &&
          turn.parts.some((part) => part.type === 'text'),
      ),
  );

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A prompt must reach the model once, whatever happened on the way. */
export function countRuns(stage: Stage, prompt: string): void {
  const runs = stage.provider?.promptCount(prompt) ?? 1;
  if (runs !== 1) stage.faults.add(runs === 0 ? 'prompt-never-ran' : 'prompt-ran-twice');
}

/** Attaches; an engine without the method is a fault with a name, not an end. */
export async function attachOrNote(
  stage: Stage,
  session: GatewaySession,
  file: GatewayFile,
  fault: string,
): Promise<string | null> {
  try {
    const { reference } = await stage.chat.gateway.attach(session, file);
    return reference;
  } catch (error) {
    if (!isGatewayFailure(error) || error.kind !== 'refused') throw error;
    stage.faults.add(fault);
    return null;
  }
}
