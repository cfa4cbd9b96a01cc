import { htmlHead } from '../src/report/html-head.ts';
import { escapeHtml } from '../src/report/html-text.ts';
import type { Matrix } from './cells.ts';
import { sections } from './view.ts';
import type { Section, Table, Words } from './view-words.ts';

/** docs/compatibility.html: one file without script or network. Pure. */
export function html(matrix: Matrix): string {
  const all = sections(matrix);
  return [
    ...htmlHead('Compatibility, measured · hermes-compat', style),
    '<body>',
    '<header><h1>Compatibility, measured</h1>',
    '<p>Every cell was measured on the real engine by <code>npm run lab</code>, which measures all of it again and ends with 0 only when every cell is as it is here.</p>',
    ...(matrix.notMeasured.length === 0
      ? []
      : [`<p>Not measured yet, and empty here: ${escapeHtml(matrix.notMeasured.join('; '))}.</p>`]),
    `<nav>${all.map(({ id, title }) => `<a href="#${id}">${escapeHtml(title)}</a>`).join(' ')}</nav></header>`,
    '<main>',
    ...all.map(section),
    '</main>',
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

const section = ({ id, title, says, tables }: Section): string =>
  [
    `<section id="${id}"><h2>${escapeHtml(title)}</h2>`,
    ...says.map((text) => `<p>${inline(text)}</p>`),
    ...tables.map(table),
    '</section>',
  ].join('\n');

function table({ caption, columns, rows }: Table): string {
  const head = columns.map((text) => `<th scope="col">${escapeHtml(text)}</th>`).join('');
  const body = rows.map(([first, ...rest]) => {
    const cells = rest.map(({ text, tone }) => `<td class="${tone}">${escapeHtml(text)}</td>`).join('');
    return `<tr><th scope="row">${escapeHtml((first as Words).text)}</th>${cells}</tr>`;
  });
  // A box that scrolls, so that a wide table does not make the page wide; by keyboard too.
  return [
    `<h3>${escapeHtml(caption)}</h3>`,
    `<div class="wide" tabindex="0" role="region" aria-label="${escapeHtml(caption)}"><table>`,
    `<thead><tr>${head}</tr></thead>`,
    `<tbody>`,
    ...body,
    '</tbody></table></div>',
  ].join('\n');
}

const inline = (text: string): string => escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');

const style = `
:root{--bg:#fff;--fg:#1b1f24;--dim:#57606a;--line:#d0d7de;--soft:#f6f8fa;--good:#116329;--bad:#a40e26;--remedy:#7d4e00;--unsure:#6639ba}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9aa4af;--line:#30363d;--soft:#161b22;--good:#56d364;--bad:#ff7b72;--remedy:#e3b341;--unsure:#d2a8ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:80rem;padding:1rem;background:var(--bg);color:var(--fg);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.5rem;margin:0 0 .5rem}h2{font-size:1.25rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:1.25rem 0 .4rem}
p{max-width:50rem}
nav a{display:inline-block;border:1px solid var(--line);border-radius:1rem;padding:.2rem .8rem;margin:0 .25rem .25rem 0;color:inherit;text-decoration:none}
a:focus-visible,.wide:focus-visible{outline:3px solid var(--unsure);outline-offset:2px}
.wide{overflow-x:auto;border:1px solid var(--line);border-radius:.5rem}
table{border-collapse:collapse;font-size:.875rem;min-width:100%}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid var(--line);overflow-wrap:break-word;min-width:4rem;max-width:26rem}
tbody tr:last-child>*{border-bottom:0}
thead th{background:var(--soft);white-space:nowrap}
tbody th{font-weight:600;position:sticky;left:0;background:var(--bg);min-width:8rem;max-width:14rem}
thead th:first-child{position:sticky;left:0;z-index:1}
.good{color:var(--good)}.bad{color:var(--bad)}.remedy{color:var(--remedy)}.unsure{color:var(--unsure)}
code{font-family:ui-monospace,monospace;background:var(--soft);padding:0 .25rem;border-radius:.2rem}
@media (max-width:40rem){th,td{padding:.25rem .4rem}tbody th{min-width:6.5rem;max-width:7.5rem}}
`;
