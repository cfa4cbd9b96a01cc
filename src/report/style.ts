/** What a piece of text means; how that looks is up to who prints. */
export type Tone = 'good' | 'bad' | 'warn' | 'unsure' | 'strong' | 'dim';

export type Style = (tone: Tone, text: string) => string;

export const plain: Style = (_tone, text) => text;

const codes: Record<Tone, [number, number]> = {
  good: [32, 39],
  bad: [31, 39],
  warn: [33, 39],
  unsure: [35, 39],
  strong: [1, 22],
  dim: [2, 22],
};

/** Colours of a terminal; the caller decides whether there is one (NO_COLOR, --no-color, a pipe). */
export const coloured: Style = (tone, text) => `\u001b[${codes[tone][0]}m${text}\u001b[${codes[tone][1]}m`;
