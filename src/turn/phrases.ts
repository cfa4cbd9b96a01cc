/**
 * Sentences that engines put where a reply or a prompt would stand. Structure (status, error codes, kinds) is asked first; these are for
 * engines that send nothing better. Versions 0.14.0 to 0.19.0 and the 0.22 fork.
 */

/** `tui_gateway` sends it when the tool-call budget of the turn is used up; the reply that follows is only a summary. */
export function isBudgetExhausted(text: string): boolean {
  return /^⚠\uFE0F? Iteration budget exhausted \(/.test(text);
}

/** Texts that stand for "the model said nothing" (`agent/conversation_loop.py`; the last is a raw locale key of a fork). */
export function isNoReply(text: string): boolean {
  const t = text.trim();
  return (
    t === '' ||
    t === '(empty)' ||
    /^⚠\uFE0F? No reply\b/.test(t) ||
    /^⚠\uFE0F? The model produced only internal reasoning/.test(t) ||
    t.startsWith('explainer.no_reply_prefix')
  );
}

/** Status lines that say the model returned nothing. */
export function isNothingReturned(text: string): boolean {
  return (
    text.startsWith('❌ Model returned no content') ||
    /^⚠\uFE0F? Model produced reasoning but no visible response/.test(text)
  );
}

/** The sentence an interrupted turn ends with instead of a reply. */
export function isStopSentence(text: string): boolean {
  return /^\s*(Operation interrupted\b|Stopped waiting for another Hermes process)/.test(text);
}

/** The notice that a stream ended inside the arguments of a tool call, when it ends the text; else null. */
export function stalledNotice(text: string): string | null {
  const at = text.search(/⚠\uFE0F? Stream stalled mid tool-call[^\n]*\s*$/);
  return at < 0 ? null : text.slice(at).trim();
}

/** Error texts that say the context is too large and cannot be made smaller. */
export function cannotCompress(text: string): boolean {
  return (
    /cannot compress further|max(imum)? compression attempts/i.test(text) ||
    /^\s*\[?(Error: )?(Context length exceeded|Request payload too large)/i.test(text)
  );
}

export function isCompression(kind: string | null, text: string): boolean {
  return kind === 'compacting' || kind === 'compressing' || text.startsWith('🗜');
}

/** Rows that carry the summary of older turns: neither a prompt nor an answer. */
export function isSummaryRow(text: string): boolean {
  return text.startsWith('[CONTEXT COMPACTION') || text.startsWith('[PRIOR CONTEXT');
}

const engineTurnKinds = new Set(['process_complete', 'async_delegation_complete', 'auto_continue']);

/** User rows with which the engine began a turn by itself. */
export function beginsEngineTurn(text: string, displayKind: string | null): boolean {
  return (
    (displayKind !== null && engineTurnKinds.has(displayKind)) ||
    text.startsWith('[IMPORTANT: Background process') ||
    text.startsWith('[ASYNC DELEGATION') ||
    text.startsWith('[System note: Your previous turn was interrupted')
  );
}

/** User rows that the engine wrote to steer the model inside a turn. */
export function isControlRow(text: string, displayKind: string | null): boolean {
  return (
    displayKind === 'hidden' ||
    displayKind === 'steer' ||
    text.startsWith("You've reached the maximum number of tool-calling iterations") ||
    text.startsWith('[System: ') ||
    text.startsWith('[System note: ') ||
    text.startsWith('[OUT-OF-BAND USER MESSAGE')
  );
}

/** The whole text of the row with which engines close a turn that got no answer; not every engine marks it. */
const failedTurnNotices = new Set([
  'Your request was not processed. Send it again if you still want me to carry it out.',
  'This turn did not complete. Some actions may already have run; verify their effects before resending.',
]);

/** Answer rows that say nothing: placeholders, stop sentences, marks of a failed turn. */
export function isEmptyAnswer(text: string, displayKind: string | null): boolean {
  return (
    displayKind === 'failed_turn' ||
    displayKind === 'hidden' ||
    text.trim() === '' ||
    text.trim() === '(empty)' ||
    failedTurnNotices.has(text.trim()) ||
    text.startsWith('Operation interrupted')
  );
}

/** Tool results that the store replaced by a note. */
export function isResultStub(text: string): boolean {
  return text.startsWith('<persisted-output>') || text.startsWith('[Old tool output cleared');
}

/** Stands between the prompts in a user row that holds several corrections of one turn. */
export const betweenCorrections = '[Additional user correction]';
