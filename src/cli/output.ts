import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { type CompatError, usageError } from '../errors.ts';
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

/** Whether `--output FILE` can be written, for reports of something that costs. @throws CompatError usage */
export async function checkOutput(io: Io, options: RawOptions): Promise<void> {
  const file = options['output'];
  if (typeof file !== 'string' || file === '-') return;
  const path = pathResolver(io)(file);
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory() === true) throw notWritable(path, { code: 'EISDIR' });
  const temporary = partOf(path, io);
  try {
    await writeFile(temporary, '');
    await rm(temporary);
  } catch (error) {
    throw notWritable(path, error);
  }
}

const partOf = (path: string, io: Io): string => `${path}.${io.pid}.part`;

const notWritable = (path: string, error: unknown): CompatError =>
  usageError(
    `cannot write the report to ${path} (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`,
    { cause: error },
  );

/** The report goes to stdout, or whole to `--output FILE`: a reader of that file never sees half of it. */
export async function emit(io: Io, options: RawOptions, text: string): Promise<void> {
  const file = options['output'];
  if (typeof file !== 'string' || file === '-') return write(io.stdout, text);
  const path = pathResolver(io)(file);
  const temporary = partOf(path, io);
  try {
    await writeFile(temporary, text);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw notWritable(path, error);
  }
}
