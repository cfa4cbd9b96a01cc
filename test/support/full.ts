/** Whether this is `npm run test:full`: every rung, every place, every shell. The gate takes a share of each. */
export const isFull = process.env['HERMES_COMPAT_TEST_FULL'] === '1';

/** All of them in the full run; in the gate every `nth`, beginning with `first`, so that cases that differ in it take different ones. */
export const gateShare = <T>(items: readonly T[], nth: number, first = 0): T[] =>
  isFull ? [...items] : items.filter((_, at) => at % nth === first % nth);
