/** The style of the HTML report: for screens, light and dark, and for A4 paper. */
import { sha256 } from '@noble/hashes/sha2';
import { utf8ToBytes } from '@noble/hashes/utils';
import { PAGE_SCRIPT } from './search';

export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1b2430; --soft: #5b6776; --line: #dde3ea; --wash: #f5f7fa; --accent: #2456a6; --done: #1f7345;
  --moved: #2f8f5b; --moving: #3f7fd0; --must-reconnect: #d9901a; --not-moved: #c4453c; --open: #9aa5b3; --left-out: #d3d9e1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #12171d; --ink: #e6ebf1; --soft: #9caaba; --line: #2b3541; --wash: #1a2129; --accent: #7fb0f5; --done: #48b07a;
    --moved: #48b07a; --moving: #5f9ce8; --must-reconnect: #e6a945; --not-moved: #e0685f; --open: #66717f; --left-out: #3a4653;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body {
  margin: 0 auto; max-width: 64rem; overflow-wrap: break-word; padding: 2.5rem 1.5rem 4rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", "DejaVu Sans", sans-serif;
}
h1, h2, h3, h4, p, ul, ol, dl, figure { margin: 0; }
h1 { font-size: 1.9rem; line-height: 1.2; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 0 0 0.75rem; }
h3 { font-size: 1rem; margin-bottom: 0.15rem; }
table + h3 { margin-top: 1.5rem; }
h4 { font-size: 0.85rem; color: var(--soft); font-weight: 600; margin-top: 0.9rem; }
a { color: var(--accent); overflow-wrap: anywhere; }
header { border-bottom: 2px solid var(--ink); padding-bottom: 1.25rem; }
.kind { color: var(--soft); text-transform: uppercase; letter-spacing: 0.08em; font-size: 0.78rem; font-weight: 600; margin-bottom: 0.35rem; }
.state { display: inline-block; margin: 0.75rem 0 1rem; padding: 0.15rem 0.7rem; border-radius: 1rem; font-weight: 600; font-size: 0.9rem; border: 1.5px solid currentColor; color: var(--accent); }
.state.completed { color: var(--done); }
.state.cancelled, .state.abandoned, .state.stopped { color: var(--not-moved); }
.facts { display: flex; flex-wrap: wrap; gap: 0.4rem 2rem; font-size: 0.9rem; }
dt { color: var(--soft); font-size: 0.8rem; }
dd { margin: 0; }
.facts > div, .facts dd, .points, .points li { min-width: 0; max-width: 100%; overflow-wrap: anywhere; }
section { margin-top: 2.25rem; }
.answers { display: grid; grid-template-columns: 1fr; gap: 1rem; margin-top: 1.5rem; }
@media (min-width: 48rem) { .answers { grid-template-columns: 5fr 4fr 3fr; } .answers > :first-child { grid-column: 1 / -1; } .tables { grid-template-columns: 1fr 2fr; } }
.answers > div { background: var(--wash); border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.1rem; }
.answers > div { min-width: 0; overflow-wrap: break-word; }
.answers h2 { font-size: 0.95rem; color: var(--accent); margin-bottom: 0.4rem; }
.contact { font-size: 1.1rem; font-weight: 600; }
.hint { color: var(--soft); font-size: 0.85rem; margin-top: 0.5rem; }
.points { padding-left: 1.1rem; }
.points li + li { margin-top: 0.35rem; }
.answers .points { font-size: 0.92rem; }
.links { list-style: none; padding: 0; margin-top: 0.35rem; }
nav { margin-top: 1.5rem; font-size: 0.9rem; }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: 0.35rem 1.4rem; padding: 0; }
#search { font: inherit; width: 100%; max-width: 26rem; padding: 0.45rem 0.7rem; color: inherit; background: var(--paper); border: 1px solid var(--soft); border-radius: 6px; }
#search::placeholder { color: var(--soft); opacity: 1; }
#found { color: var(--soft); font-size: 0.88rem; min-height: 1.5em; margin-top: 0.35rem; }
section { scroll-margin-top: 1rem; }
svg { display: block; width: 100%; height: auto; font: 12.5px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", "DejaVu Sans", sans-serif; }
.narrow { display: none; }
.shares { height: 1.4rem; border-radius: 4px; overflow: hidden; }
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
figure { margin-top: 1.25rem; }
figcaption { color: var(--soft); font-size: 0.85rem; margin-bottom: 0.75rem; }
.label { fill: var(--soft); } .value { fill: var(--ink); font-weight: 600; }
.grid { stroke: var(--line); stroke-width: 1; } .axis { stroke: var(--soft); stroke-width: 1; }
.line { fill: none; stroke: var(--moved); stroke-width: 2; stroke-linejoin: round; }
.area { fill: var(--moved); opacity: 0.12; } .dot { fill: var(--moved); }
.bar { fill: var(--moving); } .bar.failures { fill: var(--not-moved); } .bar.duration { fill: var(--open); }
table { border-collapse: collapse; width: 100%; font-size: 0.88rem; }
th { text-align: left; font-size: 0.78rem; color: var(--soft); font-weight: 600; border-bottom: 1.5px solid var(--soft); padding: 0.35rem 0.75rem 0.35rem 0; vertical-align: bottom; }
td, tbody th { border-bottom: 1px solid var(--line); padding: 0.4rem 0.75rem 0.4rem 0; vertical-align: top; overflow-wrap: break-word; }
tbody th { font-size: inherit; color: inherit; }
td:last-child, th:last-child { padding-right: 0; }
.tables { display: grid; gap: 1rem 2.5rem; align-items: start; }
table.numbers td:last-child, table.numbers th:last-child { text-align: right; font-variant-numeric: tabular-nums; }
table.times td:first-child { color: var(--soft); }
table.decisions { table-layout: fixed; }
table.decisions th:first-child { width: 18%; } table.decisions th:nth-child(2) { width: 24%; }
table.companies { table-layout: fixed; }
col.company { width: 26%; } #moved col.company { width: auto; }
col.short { width: 13%; } col.number { width: 11%; }
td.link { overflow-wrap: anywhere; }
td.number, th.number { text-align: right; padding-right: 1.5rem; }
td.number, td.short { font-variant-numeric: tabular-nums; }
.note { color: var(--soft); font-size: 0.88rem; margin: -0.4rem 0 0.6rem; }
.reference { color: var(--soft); font-weight: 400; display: inline-block; max-width: 100%; overflow-wrap: anywhere; }
footer { margin-top: 3rem; padding-top: 0.75rem; border-top: 1px solid var(--line); color: var(--soft); font-size: 0.85rem; }
@media screen and (max-width: 47.99rem) {
  body { padding: 1.5rem 1rem 3rem; }
  h1 { font-size: 1.5rem; }
  .wide { display: none; }
  .narrow { display: block; max-width: 26rem; }
  .cards, .cards tbody, .cards tr, .cards td, .cards tbody th { display: block; width: auto; }
  .cards thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .cards tr { border: 1px solid var(--line); border-radius: 8px; padding: 0.6rem 0.8rem; }
  .cards tr + tr { margin-top: 0.6rem; }
  .cards td, .cards tbody th { border: 0; padding: 0.1rem 0; text-align: left; overflow-wrap: anywhere; }
  .cards td:empty { display: none; }
  .cards td::before { content: attr(data-label) ": "; color: var(--soft); }
  .cards tbody th { display: flex; justify-content: space-between; gap: 0.75rem; }
  .cards tbody th .reference { flex: none; max-width: 50%; }
  .times.cards td:first-child::before, .decisions.cards td:first-child::before { content: none; }
}
@media print {
  :root {
    color-scheme: light; --paper: #fff; --ink: #111; --soft: #4c5763; --line: #cfd6de; --wash: #fff; --accent: #1d4488; --done: #1f7345;
    --moved: #2f8f5b; --moving: #3f7fd0; --must-reconnect: #d9901a; --not-moved: #c4453c; --open: #9aa5b3; --left-out: #d3d9e1;
  }
  html { font-size: 11px; }
  body { max-width: none; padding: 0; font-size: 1rem; line-height: 1.42; }
  section { margin-top: 1.8rem; }
  .answers { grid-template-columns: 5fr 4fr 3fr; gap: 0.6rem; }
  .answers > :first-child { grid-column: 1 / -1; }
  #find { display: none; }
  .tables { grid-template-columns: 1fr 2fr; gap: 2rem; }
  .answers > div { padding: 0.6rem 0.7rem; }
  h2, h3, h4 { break-after: avoid; }
  thead { display: table-header-group; break-inside: avoid; }
  tr, figure, .answers > div, .points li, #result { break-inside: avoid; }
  table.companies td, table.companies tbody th { padding-top: 0.12rem; padding-bottom: 0.12rem; line-height: 1.3; }
  table { font-size: 0.9rem; }
  .key, .share, .bar, .state { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  a { color: inherit; }
  footer { margin-top: 1.5rem; }
  @page {
    size: A4; margin: 16mm 14mm 18mm;
    @bottom-right { content: counter(page) " / " counter(pages); font: 8pt sans-serif; color: #4c5763; }
  }
}
`;

/** Returns the content security policy of the page, which allows only its own style and its search. */
export function pagePolicy(): string {
  return `default-src 'none'; style-src '${hashOf(PAGE_STYLE)}'; script-src '${hashOf(PAGE_SCRIPT)}'; base-uri 'none'; form-action 'none'`;
}

function hashOf(text: string): string {
  return `sha256-${base64(sha256(utf8ToBytes(text)))}`;
}

/** Encodes bytes as Base64 without Node's Buffer, because presentation code also runs in the workflow sandbox. */
function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
