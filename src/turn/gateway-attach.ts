import { gatewayFailure, isGatewayFailure } from './gateway-link.ts';
import { textOf, type Json } from './json.ts';

/** A file to send with the next prompt. `path` is one that the engine can read itself; `base64` holds the bytes for an engine elsewhere. */
export interface GatewayFile {
  name: string;
  mime: string;
  path: string | null;
  base64: string | null;
}

/** `how` is the method that took it. `reference` belongs into the prompt; images are kept by the engine until the next prompt. */
export interface AttachedFile {
  how: 'image.attach' | 'image.attach_bytes' | 'file.attach';
  reference: string | null;
}

type Ask = (method: AttachedFile['how'], params: Json) => Promise<Json>;

/**
 * Attaches before a submit. What the engine can read is named by path, else its bytes go over the socket. 0.14 and 0.16 know only
 * `image.attach` with a path; a file that is no image is then refused with `not-sent`.
 */
export async function attachFile(file: GatewayFile, ask: Ask): Promise<AttachedFile> {
  if (!file.mime.startsWith('image/')) {
    const content = file.base64 === null ? {} : { data_url: `data:${file.mime};base64,${file.base64}` };
    const place = file.path === null ? {} : { path: file.path };
    const answer = await ask('file.attach', { ...place, ...content, name: file.name });
    return { how: 'file.attach', reference: textOf(answer['ref_text']) };
  }
  if (file.path !== null) {
    try {
      await ask('image.attach', { path: file.path });
      return { how: 'image.attach', reference: null };
    } catch (error) {
      if (!isGatewayFailure(error) || error.kind !== 'refused' || file.base64 === null) throw error;
    }
  }
  if (file.base64 === null)
    throw gatewayFailure('not-sent', 'image.attach_bytes', `${file.name} has neither a path nor bytes`);
  await ask('image.attach_bytes', { content_base64: file.base64, filename: file.name });
  return { how: 'image.attach_bytes', reference: null };
}
