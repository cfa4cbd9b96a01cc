/** Style of the replay page: light and dark, phone to desktop; the answer first, the process quieter and closed. */
export const timelineStyle = `
:root{--bg:#fff;--fg:#1b1f24;--dim:#57606a;--line:#d0d7de;--soft:#f6f8fa;--good:#116329;--bad:#a40e26;--warn:#7d4e00;--unsure:#6639ba}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9aa4af;--line:#30363d;--soft:#161b22;--good:#56d364;--bad:#ff7b72;--warn:#e3b341;--unsure:#d2a8ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:50rem;padding:1rem;background:var(--bg);color:var(--fg);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.25rem;margin:0 0 1rem}h2{font-size:1rem;margin:1rem 0 .5rem}
a{color:inherit}
article{border:1px solid var(--line);border-left:4px solid var(--dim);border-radius:.5rem;margin:0 0 1rem;padding:.6rem .8rem}
article.completed{border-left-color:var(--good)}article.error,article.compression_exhausted{border-left-color:var(--bad)}
article.no_response,article.tool_limit_reached{border-left-color:var(--warn)}article.interrupted{border-left-color:var(--unsure)}
article:target{outline:3px solid var(--unsure)}
.badge{display:inline-block;border:1px solid currentColor;border-radius:.3rem;padding:0 .5rem;font-weight:600;color:var(--dim)}
.badge.completed,.good{color:var(--good)}.badge.error,.badge.compression_exhausted,.failure{color:var(--bad)}
.badge.no_response,.badge.tool_limit_reached,.unseen{color:var(--warn)}.badge.interrupted{color:var(--unsure)}
.dim,footer,.status,.instead{color:var(--dim)}
.prompt{font-weight:600;margin:.5rem 0}
.text{white-space:pre-wrap}
.answer{margin:.75rem 0;font-size:1.05rem}
summary{cursor:pointer}summary:focus-visible,pre:focus-visible,a:focus-visible{outline:3px solid var(--unsure);outline-offset:2px}
.process{border-left:2px solid var(--line);padding-left:.75rem;color:var(--dim)}
.process ol{list-style:none;margin:.5rem 0;padding:0}
.process li{margin:.5rem 0}.process .says{color:var(--fg)}
.tool.failed summary,.tool.denied summary{color:var(--bad)}
.axis{display:block;position:relative;height:4px;background:var(--soft);border-radius:2px;margin-bottom:.15rem}
.axis i{position:absolute;top:0;bottom:0;background:var(--dim);border-radius:2px}
.failure{border-left:3px solid var(--bad);padding-left:.6rem}
.list{font-size:.875rem}.why{font-size:.875rem;color:var(--dim)}.why ul{margin:.25rem 0;padding-left:1.25rem}
pre{background:var(--soft);border:1px solid var(--line);border-radius:.4rem;padding:.5rem;margin:.25rem 0;white-space:pre-wrap;overflow-wrap:anywhere;font:.8rem/1.45 ui-monospace,monospace;max-height:20rem;overflow:auto}
code{font:.875em ui-monospace,monospace}
table{border-collapse:collapse;width:100%;font-size:.875rem}
td{border-top:1px solid var(--line);padding:.25rem .5rem .25rem 0;vertical-align:top}
@media (max-width:30rem){body{padding:.5rem}td{display:block;border:0;padding:0}td:first-child{border-top:1px solid var(--line);padding-top:.25rem}}
@media print{details:not([open])>*{display:block}}
`;
