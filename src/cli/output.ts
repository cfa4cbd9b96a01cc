import { rename, writeFile } from 'node:fs/promises';
import { usageError } from '../errors.ts';
import type { Io } from './io.ts';
import { write } from './io.ts';
import { oneOf, pathResolver, type RawOptions } from './request.ts';

/** `--json` and `--format` as one word. @throws CompatError usage */
export function readFormat<T extends string>(options: RawOptions, formats: readonly T[], json: T): T {
  const { format } = options;
  if (options['json'] === true) {
    if (typeof format === 'string' && format !== json)
      throw usageError(`--json and --format ${format.slice(0, 40)} exclude each other`);
    return json;
  }
  return typeof format === 'string' ? oneOf(format, formats, '--format') : (formats[0] as T);
}

/** The report goes to stdout, or whole to `--output FILE`: a reader of that file never sees half of it. */
export async function emit(io: Io, options: RawOptions, text: string): Promise<void> {
  const file = options['output'];
  if (typeof file !== 'string' || file === '-') return write(io.stdout, text);
  const path = pathResolver(io)(file);
  const temporary = `${path}.${io.pid}.part`;
  try {
    await writeFile(temporary, text);
    await rename(temporary, path);
  } catch (error) {
    throw usageError(
      `cannot write the report to ${path} (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`,
      { cause: error },
    );
  }
}
