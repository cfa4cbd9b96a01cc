import type { Part } from './types.ts';

const image = 'png|jpe?g|gif|webp|svg|avif|bmp';

const patterns = [
  /workspace:\/\/[^\s<>"'`)\]}]+/g,
  /\bMEDIA:\s*([^\s<>"'`)\]]+)/g,
  /!\[[^\]\n]*\]\(([^)\s]+)\)/g,
  new RegExp(String.raw`(?:https?://|~?/)[^\s<>"'\x60)\]]+?\.(?:${image})\b`, 'gi'),
];

/** Longest part of a tool's result that is looked through. */
const resultLimit = 20_000;

/** Workspace links and images that texts mention or tools gave back, in order, each once. */
export function referencesOf(parts: readonly Part[]): string[] {
  const found = new Set<string>();
  for (const part of parts) {
    const text = textOf(part);
    if (!/workspace:|MEDIA:|!\[|\.\w{3,4}\b/.test(text)) continue;
    const hits = patterns.flatMap((pattern) => [...text.matchAll(pattern)]);
    hits.sort((a, b) => a.index - b.index);
    for (const hit of hits) found.add((hit[1] ?? hit[0]).replace(/[.,;:!?]+$/, ''));
  }
  return [...found];
}

function textOf(part: Part): string {
  if (part.type === 'text') return part.text;
  if (part.type !== 'tool' || part.status !== 'completed' || part.result === null) return '';
  const { result } = part;
  return (typeof result === 'string' ? result : (JSON.stringify(result) ?? '')).slice(0, resultLimit);
}
