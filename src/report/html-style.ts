/** Style of the page: light and dark, phone to desktop, long words break instead of overflowing. */
export const htmlStyle = `
:root{--bg:#fff;--fg:#1b1f24;--dim:#57606a;--line:#d0d7de;--soft:#f6f8fa;--good:#116329;--bad:#a40e26;--warn:#7d4e00;--unsure:#6639ba}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9aa4af;--line:#30363d;--soft:#161b22;--good:#56d364;--bad:#ff7b72;--warn:#e3b341;--unsure:#d2a8ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:64rem;padding:1rem;background:var(--bg);color:var(--fg);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.25rem;margin:0 0 .5rem}
h2{font-size:1rem;margin:0;font-family:ui-monospace,monospace}
fieldset{border:0;padding:0;margin:0 0 1rem;display:flex;flex-wrap:wrap;gap:.5rem}
legend{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
label span{display:inline-block;border:1px solid var(--line);border-radius:1rem;padding:.2rem .8rem;cursor:pointer}
label input{position:absolute;opacity:0}
label input:checked+span{background:var(--fg);color:var(--bg)}
label input:focus-visible+span,summary:focus-visible{outline:3px solid var(--unsure);outline-offset:2px}
article{border:1px solid var(--line);border-radius:.5rem;margin:0 0 .75rem;padding:.5rem .75rem}
summary{cursor:pointer}
.client{white-space:nowrap}.checks{margin-top:.5rem}
.name{font-weight:600;unicode-bidi:isolate}.dim,footer,dt{color:var(--dim)}.dim{font-weight:400}
.codes{display:block;font:.875rem ui-monospace,monospace;color:var(--bad)}
.badge{display:inline-block;border:1px solid currentColor;border-radius:.3rem;padding:0 .5rem;font-weight:600}
.badge.compatible{color:var(--good)}.badge.needs-remedy{color:var(--warn)}.badge.incompatible{color:var(--bad)}.badge.unknown{color:var(--unsure)}
dl{display:grid;grid-template-columns:minmax(5rem,max-content) 1fr;gap:.1rem 1rem;margin:.75rem 0}
dd{margin:0;min-width:0}
.finding{border-left:4px solid var(--dim);padding:.25rem 0 .25rem .75rem;margin:1rem 0}
.finding.error{border-color:var(--bad)}.finding.warn{border-color:var(--warn)}
.finding p{margin:.25rem 0}.finding ul{margin:.25rem 0;padding-left:1.25rem}
.remedy,.known{color:var(--dim)}.note{border:1px solid var(--line);border-radius:.4rem;padding:.25rem .75rem;margin:0 0 .75rem}.note.error{border-color:var(--bad)}.note.warn{border-color:var(--warn)}
pre{background:var(--soft);border:1px solid var(--line);border-radius:.4rem;padding:.5rem;margin:.25rem 0;white-space:pre-wrap;overflow-wrap:anywhere;font:.875rem/1.5 ui-monospace,monospace}
pre>span{display:block;padding-left:1.5rem;text-indent:-1.5rem}
table{border-collapse:collapse;width:100%;font-size:.875rem}
td{border-top:1px solid var(--line);padding:.2rem .5rem .2rem 0;vertical-align:top;min-width:0}
td:first-child{white-space:nowrap;width:5.5rem}td:nth-child(2){width:13rem}
${(['compatible', 'needs-remedy', 'incompatible', 'unknown'] as const)
  .map(
    (verdict) => `body:has(#show-${verdict}:checked) article:not([data-verdict="${verdict}"]){display:none}`,
  )
  .join('\n')}
@media (max-width:40rem){dl{grid-template-columns:1fr;gap:0}dt{margin-top:.4rem}tr{display:flex;flex-wrap:wrap;gap:0 .5rem;border-top:1px solid var(--line);padding:.2rem 0}td,td:first-child,td:nth-child(2){border:0;padding:0;width:auto}td:last-child{flex-basis:100%;color:var(--dim)}td:last-child:empty{display:none}}
@media print{details:not([open])>*{display:block}}
`;
