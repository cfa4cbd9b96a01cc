import { fileURLToPath } from 'node:url';

/** The program under test: the built one of this checkout, or the one that HERMES_COMPAT_BIN names (an installed package). */
export const bin =
  process.env['HERMES_COMPAT_BIN'] ?? fileURLToPath(new URL('../../bin/hermes-compat.js', import.meta.url));
