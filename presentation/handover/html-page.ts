/**
 * The handover report as one self-contained HTML page. It has no scripts and no external resources, and its content
 * security policy forbids both. `html-companies.ts` writes the companies between the head and the tail.
 */
import { shareBar } from './charts';
import { countOpen } from '../../domain/companies/company-state';
import type { MigrationStatistics } from '../../store';
import { statisticsCharts } from './statistics-charts';
import type { DecisionRow, Point, ReportHead } from './report-facts';
import {
  credentialPoints,
  decisionRows,
  mainFacts,
  platformOf,
  resultRows,
  outOfDateText,
  stateText,
  switchOnPoints,
  timeRows,
} from './report-facts';
import { PAGE_STYLE, pagePolicy } from './style';
import { Html, markup } from './html';
import { momentText, counted } from '../../domain/text/sentences';

/**
 * Returns the part of the page before the companies.
 *
 * @param writtenAt ISO 8601, UTC
 */
export function pageHead(head: ReportHead, statistics: MigrationStatistics, writtenAt: string): string {
  const { migrationId, client, ending, figures, counts } = head;
  const facts = mainFacts(head).filter(([label]) => !SHOWN_ELSEWHERE.includes(label));
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${pagePolicy()}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Handover report: ${migrationId}</title>
<style>${Html.trusted(PAGE_STYLE)}</style>
</head>
<body>
<header>
<p class="kind">Handover report</p>
<h1>${platformOf(head)} connections of ${client}</h1>
<p class="state ${ending ?? 'under-way'}">${stateText(head)}</p>
<dl class="facts">
<div><dt>Migration</dt><dd>${migrationId}</dd></div>
${facts.map(([label, value]) => markup`<div><dt>${label}</dt><dd>${value}</dd></div>`)}
<div><dt>Report written</dt><dd>${momentText(writtenAt)}</dd></div>
</dl>
</header>
<main>
${answers(head)}
${result(head)}
<section id="statistics">
<h2>How it went</h2>
${statisticsCharts(statistics, figures.firstStartedAt, counts.total)}
</section>
<section id="credentials">
<h2>Credentials</h2>
${points(credentialPoints(head))}
</section>`.text;
}

/** The facts that the page shows in its heading and its answers. */
const SHOWN_ELSEWHERE = ['Client', 'Platform', 'State', 'Who to call'];

/** Answers the questions that clients ask first. */
function answers(head: ReportHead): Html {
  return markup`<section class="answers" aria-label="Who to call, what may be switched back on, how long data is out of date">
<div><h2>Who to call</h2>
<p class="contact">${head.contact}</p></div>
<div><h2>What may be switched back on</h2>
${points(switchOnPoints(head))}
<p class="hint">This is about your own application. The tables below give the answer for each company.</p></div>
<div><h2>How long data is out of date</h2>
<p>${outOfDateText(head)}</p></div>
</section>`;
}

function result(head: ReportHead): Html {
  const { counts, figures, ending } = head;
  const moving = counts.importing + counts.syncing;
  const shares = [
    { cssClass: 'moved', label: 'moved', value: counts.moved },
    { cssClass: 'moving', label: 'moving', value: moving },
    { cssClass: 'must-reconnect', label: 'must reconnect', value: figures.mustReconnect },
    { cssClass: 'not-moved', label: 'not moved', value: counts.failed - figures.mustReconnect },
    {
      cssClass: 'open',
      label: ending === null ? 'not moved yet' : 'not finished',
      value: countOpen(counts) - moving,
    },
    { cssClass: 'left-out', label: 'left out', value: counts.skipped + counts.excluded },
  ].filter(({ value }) => value > 0);
  return markup`<section id="result">
<h2>${number(counts.moved)} of ${counted(counts.total, 'company')} moved</h2>
${shareBar(shares)}
<ul class="legend">${shares.map(({ cssClass, label, value }) => markup`<li><i class="key ${cssClass}"></i>${label} <b>${number(value)}</b></li>`)}</ul>
<div class="tables">
${table(
  ['Companies', 'Number'],
  resultRows(head).map(([what, companies]) => [what, number(companies)]),
  'numbers',
)}
${table(['Times', 'Planned', 'Actual'], timeRows(head), 'times')}
</div>
</section>`;
}

/** Lists the points, except those that apply to no company. */
function points(all: readonly Point[]): Html {
  const items = all
    .filter(({ companies }) => companies !== 0)
    .map(({ topic, companies, text }) => {
      const count = companies === undefined ? '' : ` (${number(companies)})`;
      return markup`<li><b>${topic}</b>${count}: ${text}</li>`;
    });
  return markup`<ul class="points">${items}</ul>`;
}

function table(columns: readonly string[], rows: readonly (readonly string[])[], kind: string): Html {
  return markup`<table class="${kind}">
<thead><tr>${columns.map((title) => markup`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => markup`<tr>${cells.map((cell) => markup`<td>${cell}</td>`)}</tr>`)}</tbody>
</table>`;
}

/** Returns the part of the page after the companies. */
export function pageTail(head: ReportHead): string {
  const rows = decisionRows(head);
  const refused = rows.filter((each) => each.refused !== null);
  const refusedTable =
    refused.length === 0 ? [] : [markup`<h3>Refused decisions, which changed nothing</h3>`, decisions(refused)];
  return markup`<section id="decisions">
<h2>Decisions</h2>
${decisions(rows.filter((each) => each.refused === null))}
${refusedTable}
</section>
</main>
<footer>Handover report for ${head.migrationId}. Who to call: ${head.contact}</footer>
</body>
</html>`.text;
}

function decisions(rows: readonly DecisionRow[]): Html {
  const isRefused = rows.some(({ refused }) => refused !== null);
  return table(
    ['When', 'Who', 'What', ...(isRefused ? ['Reason for the refusal'] : [])],
    rows.map(({ when, who, what, refused }) => [when, who, what, ...(refused === null ? [] : [refused])]),
    'decisions',
  );
}

const number = (value: number): string => value.toLocaleString('en-US');
