import { FileError, type Host } from './types.ts';

/** The text of a file; null where there is none. @throws FileError for one that is there and cannot be read */
export async function textIfThere(host: Host, path: string, maxBytes = 1 << 20): Promise<string | null> {
  try {
    return (await host.readFile(path, maxBytes)).toString('utf8');
  } catch (error) {
    if (error instanceof FileError && (error.code === 'not-found' || error.code === 'not-a-directory'))
      return null;
    throw error;
  }
}
