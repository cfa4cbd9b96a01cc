import { betweenCorrections } from './phrases.ts';
import type { StoredTurn } from './stored.ts';
import { holdsWords, sameText } from './text.ts';
import type { Turn } from './types.ts';

/** A live turn and the stored turn of the same prompt; `redirects` are later stored turns that are part of it. */
export interface Match {
  turn: Turn;
  stored: StoredTurn | null;
  redirects: StoredTurn[];
  /** Place among the stored turns. */
  place: number;
}

/**
 * Pairs live turns with stored turns, in order: by the same text first, for turns without such a row by a text that holds all words of the
 * prompt (files and images are put into it). Equal texts are told apart by order.
 */
export function matchTurns(
  turns: readonly Turn[],
  stored: readonly StoredTurn[],
): { matches: Match[]; unseen: StoredTurn[] } {
  const free = new Set(stored.map((_, place) => place));
  const matches: Match[] = turns.map((turn) => ({ turn, stored: null, redirects: [], place: -1 }));
  pair(matches, stored, free, (turn, row) => isSame(turn, row));
  pair(
    matches,
    stored,
    free,
    (turn, row) =>
      turn.origin === 'user' && row.origin === 'user' && holdsWords(row.prompt, turn.prompt ?? ''),
  );
  return { matches, unseen: stored.filter((_, place) => free.has(place)) };
}

function isSame(turn: Turn, row: StoredTurn): boolean {
  if (turn.origin !== row.origin) return false;
  return turn.origin === 'engine' || sameText(row.prompt, turn.prompt ?? '');
}

function pair(
  matches: Match[],
  stored: readonly StoredTurn[],
  free: Set<number>,
  fits: (turn: Turn, row: StoredTurn) => boolean,
): void {
  let last = -1;
  for (const match of matches) {
    if (match.stored === null) {
      const places = [...free].filter((place) => fits(match.turn, stored[place]!)).sort((a, b) => a - b);
      const place = places.find((one) => one > last) ?? places[0];
      if (place === undefined) continue;
      free.delete(place);
      match.stored = stored[place]!;
      match.place = place;
      joinRedirects(match, stored, free);
    }
    last = Math.max(last, match.place);
  }
}

/** Stored prompts that only redirected the turn before them. Some engines put several into one row. */
function joinRedirects(match: Match, stored: readonly StoredTurn[], free: Set<number>): void {
  for (const text of match.turn.redirects) {
    if (match.redirects.some((row) => isCorrection(row, text))) continue;
    const place = [...free]
      .sort((a, b) => a - b)
      .find(
        (one) =>
          one > match.place && (sameText(stored[one]!.prompt, text) || isCorrection(stored[one]!, text)),
      );
    if (place === undefined) continue;
    free.delete(place);
    match.redirects.push(stored[place]!);
  }
}

function isCorrection(row: StoredTurn, text: string): boolean {
  return row.prompt.split(betweenCorrections).some((one) => one !== row.prompt && sameText(one, text));
}
