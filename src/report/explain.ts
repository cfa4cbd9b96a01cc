import type { Weight } from '../judge/codes.ts';
import { codes } from '../judge/codes.ts';
import { messages } from './messages.ts';
import { wrap } from './shown.ts';
import type { Style } from './style.ts';
import { plain } from './style.ts';

export interface Explanation {
  code: string;
  severity: string;
  /** Verdict that an error of this code leads to; null where it changes none. */
  verdict: 'incompatible' | 'needs-remedy' | 'unknown' | null;
  retryable: boolean;
  says: string;
  means: string;
  seen: string;
  todo: string;
}

const verdictOf: Record<Exclude<Weight, null>, Explanation['verdict']> = {
  I: 'incompatible',
  N: 'needs-remedy',
  U: 'unknown',
};

/** Everything about one finding code; null when there is no such code. Lower case and dashes are taken too. */
export function explanation(asked: string): Explanation | null {
  const code = asked.trim().toUpperCase().replaceAll('-', '_');
  const meaning = codes.get(code);
  const message = messages.get(code);
  if (meaning === undefined || message === undefined) return null;
  return {
    code,
    severity: meaning.severity,
    verdict: meaning.weight === null ? null : verdictOf[meaning.weight],
    retryable: meaning.retryable,
    says: message.says({}),
    means: message.means,
    seen: message.seen,
    todo: message.todo,
  };
}

export const explainableCodes = (): string[] => [...codes.keys()].sort();

/** Codes that are spelled like what was asked, best first, at most five. */
export function similarCodes(asked: string): string[] {
  const words = asked
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .filter((word) => word.length > 2);
  const score = (code: string): number => words.filter((word) => code.includes(word)).length;
  return explainableCodes()
    .filter((code) => score(code) > 0)
    .sort((a, b) => score(b) - score(a))
    .slice(0, 5);
}

export function explain(found: Explanation, style: Style = plain, width = 80): string {
  const verdict = found.verdict === null ? 'changes no verdict' : `verdict ${found.verdict}`;
  const head = `${style('strong', found.code)}  ${found.severity}, ${verdict}${found.retryable ? ', trying again can help' : ''}`;
  const part = (name: string, text: string): string[] => [
    '',
    style('dim', name),
    ...wrap(text, width - 2).map((line) => `  ${line}`),
  ];
  return `${[
    head,
    ...wrap(`${found.says}.`, width),
    ...part('What it means', found.means),
    ...part('How it is found', found.seen),
    ...part('What to do', found.todo),
  ].join('\n')}\n`;
}
