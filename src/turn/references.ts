import type { Part } from './types.ts';

const image = 'png|jpe?g|gif|webp|svg|avif|bmp';

const patterns = [
  /workspace:\/\/[^\s<>"'`)\]}]+/g,
  /\bMEDIA:\s*([^\s<>"'`)\]]+)/g,
  /!\[[^\]\n]*\]\(([^)\s]+)\)/g,
  new RegExp(String.raw`(?:https?://|~?/)[^\s<>"'\x60)\]]+?\.(?:${image})\b`, 'gi'),
];

/** Workspace links and images that a turn only mentions in its texts, in order, each once. */
export function referencesOf(parts: readonly Part[]): string[] {
  const found = new Set<string>();
  for (const part of parts) {
    if (part.type !== 'text' || !/workspace:|MEDIA:|!\[|\.\w{3,4}\b/.test(part.text)) continue;
    const hits = patterns.flatMap((pattern) => [...part.text.matchAll(pattern)]);
    hits.sort((a, b) => a.index - b.index);
    for (const hit of hits) found.add((hit[1] ?? hit[0]).replace(/[.,;:!?]+$/, ''));
  }
  return [...found];
}
