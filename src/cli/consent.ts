import { CompatError } from '../errors.ts';
import { confirm } from './ask.ts';
import type { Io } from './io.ts';
import { isInteractive } from './io.ts';
import type { RawOptions } from './request.ts';

/**
 * Returns when `--yes` was given or a person on the terminal says yes.
 *
 * @throws CompatError refused: nothing has been changed
 */
export async function consent(io: Io, options: RawOptions, question: string): Promise<void> {
  if (options['yes'] === true) return;
  if (!isInteractive(io)) {
    throw new CompatError('refused', `${question} There is no terminal to ask on; give --yes to agree.`);
  }
  if (!(await confirm(io, question))) throw new CompatError('refused', 'not agreed; nothing was changed');
}
