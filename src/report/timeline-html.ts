import { tool } from '../tool.ts';
import type { Part, Turn } from '../turn/index.ts';
import { htmlHead } from './html-head.ts';
import { escapeHtml } from './html-text.ts';
import { shown } from './shown.ts';
import { timelineStyle } from './timeline-style.ts';
import {
  count,
  differenceWords,
  duration,
  evidenceText,
  lacksText,
  outcomesText,
  outcomeWords,
  promptText,
  summaryText,
  toolSigns,
} from './timeline-words.ts';
import type { TimelineEnd, TimelineWriter } from './timeline.ts';

/** One page that needs nothing else: no script, no network; foreign text has nothing to run. */
export function timelineHtml(): TimelineWriter {
  let several = false;
  return {
    begin(files) {
      several = files > 1;
      return [...htmlHead('Turns · hermes-compat', timelineStyle), '<body>', '<main>', ''].join('\n');
    },
    head: (name, place) =>
      `${place === 0 ? '<h1>Turns</h1>\n' : ''}${several ? `<h2 class="file">${line(name)}</h2>\n` : ''}`,
    turn: (turn) => `${article(turn)}\n`,
    foot: (end) => foot(end),
    end: () => `</main>\n<footer>hermes-compat ${line(tool.version)}</footer>\n</body>\n</html>\n`,
  };
}

/** One line of foreign text. */
const line = (text: string, most = 2000): string => escapeHtml(shown(text, most));

/** Foreign text with its lines, whole. */
const block = (text: string): string =>
  text
    .split('\n')
    .map((one) => escapeHtml(shown(one, 1_000_000)))
    .join('\n');

function article(turn: Turn): string {
  const outcome = turn.outcome ?? 'open';
  const words = turn.outcome === null ? null : outcomeWords[turn.outcome];
  const took = turn.summary?.durationMs ?? null;
  return [
    `<article id="turn-${turn.index}" class="${outcome}">`,
    `<header><span class="badge ${outcome}"><span aria-hidden="true">${words?.sign ?? '…'}</span> ${outcome}</span> <a href="#turn-${turn.index}">#${turn.index}</a> <span class="dim">${took === null ? '' : duration(took)}</span></header>`,
    `<p class="prompt">${line(promptText(turn), 1000)}</p>`,
    activity(turn),
    result(turn),
    list('Files', turn.artifacts),
    list('Mentioned', turn.references),
    turn.degraded ? `<p class="unseen">Not seen: ${line(lacksText(turn.lacks))}.</p>` : '',
    `<details class="why"><summary>Why ${outcome}</summary><ul>${turn.evidence.map((one) => `<li>${line(evidenceText(one))}</li>`).join('')}</ul><p class="dim">${turn.confidence ?? 'open'}</p></details>`,
    '</article>',
  ]
    .filter((text) => text !== '')
    .join('\n');
}

/** The summary stands above the answer and opens to what led there. */
function activity(turn: Turn): string {
  const parts = turn.parts.filter(
    (part) => !(part.type === 'text' && part.role === 'final') && part.type !== 'error',
  );
  if (parts.length === 0 && turn.activity.length === 0) return '';
  const summary = turn.summary === null ? '' : summaryText(turn.summary);
  const status = turn.activity.map((one) => `<li class="status">${line(one.text, 300)}</li>`).join('\n');
  return `<details class="process"><summary>${summary === '' ? count(parts.length, 'step') : line(summary)}</summary>\n<ol>\n${parts.map((part) => step(turn, part)).join('\n')}\n${status}</ol></details>`;
}

function step(turn: Turn, part: Part): string {
  switch (part.type) {
    case 'reasoning':
      return `<li class="thought">${bar(turn, part)}<details><summary>thought</summary><div class="text">${block(part.text)}</div></details></li>`;
    case 'text':
      return `<li class="says">${bar(turn, part)}<div class="text">${block(part.text)}</div></li>`;
    case 'tool': {
      const [sign] = toolSigns[part.status];
      const took =
        part.startedAt === null || part.endedAt === null
          ? ''
          : ` · ${duration(part.endedAt - part.startedAt)}`;
      const detail = [part.args, part.result]
        .filter((value) => value !== null)
        .map((value) => `<pre tabindex="0">${block(pretty(value))}</pre>`);
      return `<li class="tool ${part.status}">${bar(turn, part)}<details><summary><span aria-hidden="true">${sign}</span> <b>${line(part.name, 60)}</b> ${part.status}${took} <span class="dim">${line(part.context ?? '', 200)}</span></summary>${detail.join('')}</details></li>`;
    }
    case 'error':
      return '';
    default:
      return part satisfies never;
  }
}

const pretty = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');

/** Place and length of a part within its turn, in percent. */
function bar(turn: Turn, part: { startedAt: number | null; endedAt: number | null }): string {
  const span = (turn.endedAt ?? 0) - (turn.startedAt ?? 0);
  const from = part.startedAt ?? part.endedAt;
  if (turn.startedAt === null || from === null || span <= 0) return '';
  const left = Math.min(99, Math.max(0, ((from - turn.startedAt) / span) * 100));
  const width = Math.min(100 - left, Math.max(1, (((part.endedAt ?? from) - from) / span) * 100));
  const at = `after ${duration(from - turn.startedAt)}`;
  return `<span class="axis" title="${at}"><i style="left:${left.toFixed(1)}%;width:${width.toFixed(1)}%"></i></span>`;
}

function result(turn: Turn): string {
  if (turn.final !== null) return `<div class="answer text">${block(turn.final)}</div>`;
  const error = turn.parts.findLast((part) => part.type === 'error');
  const instead = turn.outcome === null ? 'No end yet.' : outcomeWords[turn.outcome].instead;
  const text =
    turn.outcome === 'tool_limit_reached' ? turn.parts.findLast((part) => part.type === 'text') : undefined;
  return [
    `<p class="instead">${line(instead)}</p>`,
    error === undefined ? '' : `<div class="failure text" role="alert">${block(error.error)}</div>`,
    text === undefined ? '' : `<div class="text">${block(text.text)}</div>`,
  ].join('');
}

const list = (name: string, items: readonly string[]): string =>
  items.length === 0
    ? ''
    : `<p class="list">${name}: ${items.map((item) => `<code>${line(item)}</code>`).join(' ')}</p>`;

function foot(end: TimelineEnd): string {
  const parts = [
    `<p>${count(end.turns, 'turn')}${end.turns === 0 ? '' : `: ${outcomesText(end.outcomes)}`}.</p>`,
  ];
  if (end.comparison?.equal === true) parts.push('<p class="good">The stored rows hold the same turns.</p>');
  else if (end.comparison !== null) {
    const rows = end.comparison.differences.map(
      ({ turn, code }) =>
        `<tr><td>${turn === null ? '' : `<a href="#turn-${turn}">#${turn}</a>`}</td><td><code>${code}</code></td><td>${line(differenceWords[code])}</td></tr>`,
    );
    parts.push(`<h2>Stored rows differ</h2><table>${rows.join('')}</table>`);
  }
  if (end.changedByTwice !== null) {
    const changed = end.changedByTwice.map((index) => `#${index}`).join(', ');
    parts.push(
      `<p>${changed === '' ? 'Fed twice, nothing changes.' : `Fed twice, these turns change: ${changed}`}</p>`,
    );
  }
  return `<section class="foot">${parts.join('\n')}</section>\n`;
}
