import { FileError, type Host } from './types.ts';

/** The bytes of a file; null where there is none. @throws FileError for one that is there and cannot be read */
export async function bytesIfThere(host: Host, path: string, maxBytes?: number): Promise<Buffer | null> {
  try {
    return await host.readFile(path, maxBytes);
  } catch (error) {
    if (error instanceof FileError && (error.code === 'not-found' || error.code === 'not-a-directory'))
      return null;
    throw error;
  }
}

/** The text of a file; null where there is none. @throws FileError for one that is there and cannot be read */
export const textIfThere = async (host: Host, path: string, maxBytes = 1 << 20): Promise<string | null> =>
  (await bytesIfThere(host, path, maxBytes))?.toString('utf8') ?? null;
