import { answersOf, isFailed, type RowTurn } from './rows.ts';
import { sameText, squeeze } from './text.ts';

/** Places of a shown turn and of the stored turn that is the same. */
export interface TurnPair {
  shown: number;
  kept: number;
}

/**
 * Which shown turn is which stored turn: by id of the prompt, by `turnId`, else by text and attachments, where a pair whose answers fit counts
 * more. Order is kept: of all ways to pair in order, the one with most agreement is taken, the earliest of equal ones.
 */
export function pairTurns(shown: readonly RowTurn[], kept: readonly RowTurn[]): TurnPair[] {
  const width = kept.length + 1;
  const best = new Float64Array((shown.length + 1) * width);
  for (let i = shown.length - 1; i >= 0; i -= 1) {
    for (let j = kept.length - 1; j >= 0; j -= 1) {
      const weight = agreement(shown[i]!, kept[j]!);
      const paired = weight === 0 ? 0 : weight + best[(i + 1) * width + j + 1]!;
      best[i * width + j] = Math.max(paired, best[(i + 1) * width + j]!, best[i * width + j + 1]!);
    }
  }
  const pairs: TurnPair[] = [];
  for (let i = 0, j = 0; i < shown.length && j < kept.length;) {
    const here = best[i * width + j]!;
    const weight = agreement(shown[i]!, kept[j]!);
    if (weight > 0 && here === weight + best[(i + 1) * width + j + 1]!) {
      pairs.push({ shown: i, kept: j });
      i += 1;
      j += 1;
    } else if (here === best[(i + 1) * width + j]!) i += 1;
    else j += 1;
  }
  return pairs;
}

const byId = 1_000_000;
const byText = 2;

/** 0: not the same turn. */
function agreement(shown: RowTurn, kept: RowTurn): number {
  const a = shown.user;
  const b = kept.user;
  if (a === null || b === null) return a === b ? byText + answerFits(shown, kept) : 0;
  if (a.id === b.id) return byId;
  if (a.turnId !== undefined && a.turnId === b.turnId) return byId;
  if (!sameText(a.content, b.content) || !sameAttachments(a.attachments, b.attachments)) return 0;
  return byText + answerFits(shown, kept);
}

/** A store that does not tell attachments agrees with any. */
function sameAttachments(a: readonly unknown[] | undefined, b: readonly unknown[] | undefined): boolean {
  if (a === undefined || b === undefined) return true;
  return a.length === b.length && JSON.stringify(a) === JSON.stringify(b);
}

/** 1 when the answers are the same, in whatever pieces, or one is the beginning of the other, or neither has one. */
function answerFits(shown: RowTurn, kept: RowTurn): number {
  const partial = shown.rows.filter(isFailed).map((row) => row.content);
  const a = squeeze([...answersOf(shown), ...partial].join(''));
  const b = squeeze(answersOf(kept).join(''));
  if (a === '' || b === '') return a === b ? 1 : 0;
  return b.startsWith(a) || a.startsWith(b) ? 1 : 0;
}

/**
 * Engines up to 0.16 do not store the prompt that follows a failed turn: its answer then stands below the failed prompt. The place of the shown
 * turn, before `limit`, to which the stored answer belongs: the next that did not fail, if the answer is its own; else null.
 */
export function ownerOfAnswer(
  shown: readonly RowTurn[],
  pair: TurnPair,
  kept: RowTurn,
  limit: number,
): number | null {
  const answer = squeeze(answersOf(kept).join(''));
  if (answer === '' || shown[pair.shown]?.rows.some(isFailed) !== true) return null;
  const at = shown.findIndex((turn, i) => i > pair.shown && i < limit && !turn.rows.some(isFailed));
  const owner = shown[at];
  return owner !== undefined && owner.user !== null && squeeze(answersOf(owner).join('')) === answer
    ? at
    : null;
}
