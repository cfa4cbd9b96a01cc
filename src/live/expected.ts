/**
 * What each scenario comes to on each release, in the words of `cellText`. Seen on the real engines with the scripted model, and held against
 * the facts about them; a cell that comes out otherwise is a finding, also where it looks better.
 */
export const expectedCells: Readonly<Record<string, Readonly<Record<string, string>>>> = {};
