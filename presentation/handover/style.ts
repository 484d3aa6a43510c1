/** The style of the HTML report: for screens, light and dark, and for A4 paper. */
import { sha256 } from '@noble/hashes/sha2';
import { utf8ToBytes } from '@noble/hashes/utils';

export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1b2430; --soft: #5b6776; --line: #dde3ea; --wash: #f5f7fa; --accent: #2456a6;
  --moved: #2f8f5b; --moving: #3f7fd0; --must-reconnect: #d9901a; --not-moved: #c4453c; --open: #9aa5b3; --left-out: #d3d9e1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #12171d; --ink: #e6ebf1; --soft: #9caaba; --line: #2b3541; --wash: #1a2129; --accent: #7fb0f5;
    --moved: #48b07a; --moving: #5f9ce8; --must-reconnect: #e6a945; --not-moved: #e0685f; --open: #66717f; --left-out: #3a4653;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 64rem; padding: 2.5rem 1.5rem 4rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", "DejaVu Sans", sans-serif;
}
h1, h2, h3, h4, p, ul, dl, figure { margin: 0; }
h1 { font-size: 1.9rem; line-height: 1.2; letter-spacing: -0.01em; }
h2 { font-size: 1.2rem; margin: 0 0 0.75rem; }
h3 { font-size: 1rem; margin-bottom: 0.15rem; }
h4 { font-size: 0.85rem; color: var(--soft); font-weight: 600; margin-top: 0.9rem; }
a { color: var(--accent); overflow-wrap: anywhere; }
header { border-bottom: 2px solid var(--ink); padding-bottom: 1.25rem; }
.kind { color: var(--soft); text-transform: uppercase; letter-spacing: 0.08em; font-size: 0.78rem; font-weight: 600; margin-bottom: 0.35rem; }
.state { display: inline-block; margin: 0.75rem 0 1rem; padding: 0.15rem 0.7rem; border-radius: 1rem; font-weight: 600; font-size: 0.9rem; border: 1.5px solid currentColor; color: var(--accent); }
.state.completed { color: var(--moved); }
.state.cancelled, .state.abandoned { color: var(--not-moved); }
.facts { display: flex; flex-wrap: wrap; gap: 0.4rem 2rem; font-size: 0.9rem; }
dt { color: var(--soft); font-size: 0.8rem; }
dd { margin: 0; }
section { margin-top: 2.25rem; }
.answers { display: grid; grid-template-columns: 1fr; gap: 1rem; margin-top: 1.5rem; }
@media (min-width: 48rem) { .answers { grid-template-columns: 3fr 5fr 3fr; } .tables { grid-template-columns: 1fr 2fr; } }
.answers > div { background: var(--wash); border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.1rem; }
.answers h2 { font-size: 0.95rem; color: var(--accent); margin-bottom: 0.4rem; }
.contact { font-size: 1.1rem; font-weight: 600; }
.hint { color: var(--soft); font-size: 0.85rem; margin-top: 0.5rem; }
.points { padding-left: 1.1rem; }
.points li + li { margin-top: 0.35rem; }
.answers .points { font-size: 0.92rem; }
svg { display: block; width: 100%; height: auto; font: 11px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", "DejaVu Sans", sans-serif; }
#result > svg { height: 1.4rem; border-radius: 4px; overflow: hidden; }
.share { stroke: var(--paper); stroke-width: 1; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 0.2rem 1.4rem; padding: 0; margin: 0.6rem 0 1rem; font-size: 0.9rem; }
.key { display: inline-block; width: 0.75rem; height: 0.75rem; border-radius: 2px; margin-right: 0.4rem; }
.key.moved { background: var(--moved); } .share.moved { fill: var(--moved); }
.key.moving { background: var(--moving); } .share.moving { fill: var(--moving); }
.key.must-reconnect { background: var(--must-reconnect); } .share.must-reconnect { fill: var(--must-reconnect); }
.key.not-moved { background: var(--not-moved); } .share.not-moved { fill: var(--not-moved); }
.key.open { background: var(--open); } .share.open { fill: var(--open); }
.key.left-out { background: var(--left-out); } .share.left-out { fill: var(--left-out); }
figure { border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.1rem; }
figure + figure { margin-top: 1rem; }
figcaption { color: var(--soft); font-size: 0.85rem; margin-bottom: 0.75rem; }
.label { fill: var(--soft); } .value { fill: var(--ink); font-weight: 600; }
.grid { stroke: var(--line); stroke-width: 1; } .axis { stroke: var(--soft); stroke-width: 1; }
.line { fill: none; stroke: var(--moved); stroke-width: 2; stroke-linejoin: round; }
.area { fill: var(--moved); opacity: 0.12; } .dot { fill: var(--moved); }
.bar { fill: var(--moving); } .bar.failures { fill: var(--not-moved); } .bar.duration { fill: var(--open); }
table { border-collapse: collapse; width: 100%; font-size: 0.88rem; }
th { text-align: left; font-size: 0.78rem; color: var(--soft); font-weight: 600; border-bottom: 1.5px solid var(--soft); padding: 0.35rem 0.75rem 0.35rem 0; vertical-align: bottom; }
td { border-bottom: 1px solid var(--line); padding: 0.4rem 0.75rem 0.4rem 0; vertical-align: top; overflow-wrap: anywhere; }
.tables { display: grid; gap: 1rem 2.5rem; align-items: start; }
table.numbers td:last-child, table.numbers th:last-child { text-align: right; font-variant-numeric: tabular-nums; padding-right: 0; }
table.times td:first-child { color: var(--soft); }
table.companies td { border-bottom: 0; padding-bottom: 0; }
table.companies tbody { border-bottom: 1px solid var(--line); }
table.companies tr:not(.ids) td:first-child { min-width: 11rem; }
tr.ids { color: var(--soft); font-size: 0.85em; }
table.companies tr.ids td { padding-top: 0.1rem; padding-bottom: 0.45rem; }
tr.ids span { margin-right: 1rem; }
.reference { color: var(--soft); white-space: nowrap; }
code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace; }
footer { margin-top: 3rem; padding-top: 0.75rem; border-top: 1px solid var(--line); color: var(--soft); font-size: 0.85rem; }
@media print {
  :root {
    color-scheme: light; --paper: #fff; --ink: #111; --soft: #4c5763; --line: #cfd6de; --wash: #fff; --accent: #1d4488;
    --moved: #2f8f5b; --moving: #3f7fd0; --must-reconnect: #d9901a; --not-moved: #c4453c; --open: #9aa5b3; --left-out: #d3d9e1;
  }
  html { font-size: 11px; }
  body { max-width: none; padding: 0; font-size: 1rem; line-height: 1.42; }
  section { margin-top: 1.8rem; }
  .answers { grid-template-columns: 3fr 5fr 3fr; gap: 0.6rem; }
  .tables { grid-template-columns: 1fr 2fr; gap: 2rem; }
  .answers > div { padding: 0.6rem 0.7rem; }
  h2, h3, h4 { break-after: avoid; }
  thead { display: table-header-group; }
  tr, table.companies tbody, figure, .answers > div, .points li, #result { break-inside: avoid; }
  table { font-size: 0.9rem; }
  table.companies tr:not(.ids) td:first-child { min-width: 0; width: 26%; }
  .key, .share, .bar, .state { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  a { color: inherit; }
  footer { margin-top: 1.5rem; }
  @page {
    size: A4; margin: 16mm 14mm 18mm;
    @bottom-right { content: counter(page) " / " counter(pages); font: 8pt sans-serif; color: #4c5763; }
  }
}
`;

/** Returns the content security policy of the page, which allows only its own style. */
export function pagePolicy(): string {
  const digest = base64(sha256(utf8ToBytes(PAGE_STYLE)));
  return `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`;
}

/** Encodes bytes as Base64 without Node's Buffer, because presentation code also runs in the workflow sandbox. */
function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
