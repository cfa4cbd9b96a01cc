/** What the scripted model says to one request, before it is put into JSON or a stream. */

export interface ToolCall {
  name: string;
  /** Text is sent as it stands, so that arguments can be broken on purpose. */
  arguments: Record<string, unknown> | string;
}

/** How the answer ends, or that it never becomes one. `after` counts the pieces of reasoning and text that were sent. */
export type Ending =
  | { kind: 'whole' }
  | { kind: 'reset'; after: number }
  | { kind: 'reset-in-arguments' }
  | { kind: 'clean-end'; after: number }
  | { kind: 'stall'; after: number; ms: number }
  | { kind: 'http'; status: number; message: string; code: string };

export interface Answer {
  reasoning: string[];
  text: string[];
  calls: ToolCall[];
  /** `finish_reason`; by default what the content asks for. */
  finish: string | null;
  /** Pause before each piece. */
  delayMs: number;
  ending: Ending;
}

export const answer = (parts: Partial<Answer>): Answer => ({
  reasoning: [],
  text: [],
  calls: [],
  finish: null,
  delayMs: 0,
  ending: { kind: 'whole' },
  ...parts,
});
