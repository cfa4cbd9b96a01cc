import { filledText, listOf, objectOf, textOf, type Json } from './json.ts';
import { toolOf, type TurnState } from './state.ts';
import type { Question } from './types.ts';

const kinds = new Set(['approval', 'clarify', 'sudo', 'secret']);

/** `approval.request` → `approval`; null when the event or method asks no person. */
export function questionKind(name: string): string | null {
  const kind = name.endsWith('.request') ? name.slice(0, -'.request'.length) : name;
  return kinds.has(kind) ? kind : null;
}

export function questionOf(kind: string, id: string | null, params: Json): Question {
  const first = objectOf(listOf(params['questions'])[0]);
  const text =
    textOf(params['command']) ??
    textOf(params['question']) ??
    textOf(first['question']) ??
    textOf(params['prompt']) ??
    '';
  return { kind, id: id ?? filledText(params['request_id']), text, callId: null };
}

/** The turn waits for a person. The question belongs to the running tool that it quotes, else to the one started last. */
export function askQuestion(state: TurnState, question: Question): void {
  const running = [...state.openTools];
  const callId = running.findLast((id) => quotes(state, id, question.text)) ?? running.at(-1) ?? null;
  state.questions.push({ ...question, callId });
  state.version += 1;
}

function quotes(state: TurnState, callId: string, text: string): boolean {
  const tool = toolOf(state, callId);
  return text !== '' && (tool?.context === text || objectOf(tool?.args)['command'] === text);
}

/** `what` is the kind of question when the answer names no id (engines before server requests). */
export function answerQuestion(state: TurnState, id: string | null, what: string, denied: boolean): void {
  const named = state.questions.find((other) => id !== null && other.id === id);
  const question =
    named ?? state.questions.find((other) => other.kind === what && (id === null || other.id === null));
  if (question === undefined) return;
  if (denied && question.callId !== null) state.refused.add(question.callId);
  state.questions = state.questions.filter((other) => other !== question);
  state.version += 1;
}
