import { createHash } from 'node:crypto';
import { schemaVersion, tool } from '../tool.ts';
import type { Part, Turn } from '../turn/index.ts';
import { safe } from './json.ts';
import type { TimelineEnd, TimelineWriter } from './timeline.ts';

/** Texts of this many characters or more are given as their digest, as in `cases/README.md`. */
const digestFrom = 20_000;

interface Digest {
  sha256: string;
  length: number;
}

/** One recording is one document; several are the `timelines` of one. */
export function timelineJson(): TimelineWriter {
  let several = false;
  const head = `"schemaVersion": ${JSON.stringify(schemaVersion)},\n"tool": ${JSON.stringify(tool)}`;
  return {
    begin(files) {
      several = files > 1;
      return several ? `{"kind": "timelines",\n${head},\n"timelines": [` : '';
    },
    head(name, place) {
      const file = several ? `\n"file": ${safe(JSON.stringify(name))},` : '';
      return `${several && place > 0 ? ',' : ''}${several ? '\n' : ''}{"kind": "timeline",${file}\n${head},\n"turns": [`;
    },
    turn: (turn, first) => `${first ? '' : ','}\n  ${safe(JSON.stringify(documentOf(turn)))}`,
    foot: (end) => `\n]${footKeys(end)}}${several ? '' : '\n'}`,
    end: () => (several ? '\n]}\n' : ''),
  };
}

function footKeys({ comparison, changedByTwice }: TimelineEnd): string {
  const keys = [];
  if (comparison !== null) keys.push(`,\n"comparison": ${JSON.stringify(comparison)}`);
  if (changedByTwice !== null)
    keys.push(
      `,\n"twice": ${JSON.stringify({ equal: changedByTwice.length === 0, changed: changedByTwice })}`,
    );
  return keys.join('');
}

/** A turn as the JSON document has it: the keys of the cases first. */
export function documentOf(turn: Turn): Record<string, unknown> {
  const { index, session, origin, prompt, parts, final, outcome, degraded, artifacts, ...more } = turn;
  return {
    index,
    session,
    origin,
    prompt: prompt === null ? null : digested(prompt),
    parts: parts.map(partOf),
    final: final === null ? null : digested(final),
    outcome,
    degraded,
    artifacts,
    ...more,
  };
}

function partOf(part: Part): Record<string, unknown> {
  if (part.type === 'tool') return { ...part };
  if (part.type === 'error') return { ...part };
  const { type, text, ...more } = part;
  const value = digested(text);
  return typeof value === 'string' ? { type, text: value, ...more } : { type, ...value, ...more };
}

function digested(text: string): string | Digest {
  if (text.length < digestFrom) return text;
  const length = text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
  if (length < digestFrom) return text;
  return { sha256: createHash('sha256').update(text, 'utf8').digest('hex'), length };
}
