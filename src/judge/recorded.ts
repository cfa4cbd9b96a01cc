import type { Home } from '../engine/schema.ts';
import { field } from '../probe/json.ts';

/** What our marker claims of one patch; read from facts, so of any form. */
export interface Recorded {
  patch: string;
  carrier: string;
  /** Id of the install; null with an overlay. */
  install: string | null;
  home: string;
  /** Absolute paths of what was written. */
  files: string[];
}

/** `entries[]` of our marker; anything that is not of that form is no claim. */
export function recorded(home: Home): Recorded[] {
  const marker = home.markers.find((each) => each.ours && each.path.endsWith('/hermes-compat.json'));
  let content: unknown;
  try {
    content = JSON.parse(marker?.text ?? 'null');
  } catch {
    return [];
  }
  return list(content, 'entries').flatMap((each) => {
    const [patch, carrier, at] = [text(each, 'patch'), text(each, 'carrier'), text(each, 'home')];
    if (patch === null || carrier === null || at === null) return [];
    const files = list(each, 'files').map((file) => text(file, 'path'));
    return [
      {
        patch,
        carrier,
        home: at,
        install: text(each, 'install'),
        files: files.filter((path) => path !== null),
      },
    ];
  });
}

function text(value: unknown, key: string): string | null {
  const found = field(value, key);
  return typeof found === 'string' ? found : null;
}

function list(value: unknown, key: string): unknown[] {
  const found = field(value, key);
  return Array.isArray(found) ? found : [];
}
