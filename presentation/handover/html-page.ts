/**
 * The handover report as one self-contained HTML page. Its only script is the search, and its content security policy
 * forbids external resources and other scripts. `html-companies.ts` writes the companies between the head and the tail.
 */
import { shareBar } from './charts';
import { clientStateWords } from '../../domain/companies/company-state';
import { clientCounts } from '../../domain/companies/counts';
import type { MigrationStatistics } from '../../store';
import { statisticsCharts } from './statistics-charts';
import { switchOnPoints, type Point } from './points';
import { credentialPoints } from './credential-points';
import { nothingToDo, requiredActions } from './required-actions';
import {
  mainFacts,
  reportStage,
  resultRows,
  outOfDateText,
  stateText,
  timeRows,
  type ReportHead,
} from './report-facts';
import { decisionTables, type ReportTable } from './decision-tables';
import { NO_LINK, type ReportedCompany, type Section } from './company-sections';
import { PAGE_STYLE, pagePolicy } from './style';
import { PAGE_SCRIPT } from './search';
import { Html, markup, webLink } from './html';
import { timeText, outOf, numberText } from '../../domain/text/sentences';
import { platformOf } from '../wording/client-page';

/** Maximum number of reconnection links at the top of the page. */
export const LINKS_AT_THE_TOP = 5;

/** The facts about companies that the top of the page shows. */
export interface ReportOutline {
  /** The sections that follow; `companies` is null if the number of companies in the section is unknown. */
  readonly sections: readonly { readonly section: Section; readonly companies: number | null }[];
  /** The first companies that must reconnect. */
  readonly reconnecting: readonly ReportedCompany[];
}

/**
 * Returns the part of the page before the companies.
 *
 * @param writtenAt ISO 8601, UTC
 */
export function pageHead(
  head: ReportHead,
  statistics: MigrationStatistics,
  outline: ReportOutline,
  writtenAt: string,
): string {
  const { migrationId, client, ending, endedInTemporal, figures, counts } = head;
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
<p class="state ${ending ?? (endedInTemporal ? 'stopped' : 'under-way')}">${stateText(head)}</p>
<dl class="facts">
<div><dt>Migration</dt><dd>${migrationId}</dd></div>
${facts.map(([label, value]) => markup`<div><dt>${label}</dt><dd>${value}</dd></div>`)}
<div><dt>Report written</dt><dd>${timeText(writtenAt)}</dd></div>
</dl>
</header>
<main>
${result(head)}
${answers(head, outline)}
${jumpLinks(outline)}
<section id="statistics">
<h2>How it went</h2>
<div class="tables">
${table(
  ['Companies', 'Number'],
  resultRows(head).map(([what, companies]) => [what, numberText(companies)]),
  'numbers',
)}
${times(head)}
</div>
${statisticsCharts(statistics, figures.firstStartedAt, counts.total)}
</section>
<section id="credentials">
<h2>Credentials</h2>
${points(credentialPoints(head))}
</section>
<section id="find" hidden>
<h2><label for="search">Find a company</label></h2>
<input id="search" type="search" autocomplete="off" spellcheck="false" placeholder="Name or reference">
<p id="found" role="status"></p>
</section>`.text;
}

/** The facts that the page shows in its heading and its answers. */
const SHOWN_ELSEWHERE = ['Client', 'Platform', 'State', 'Who to call'];

function answers(head: ReportHead, outline: ReportOutline): Html {
  const actions = requiredActions(head);
  return markup`<section class="answers" aria-label="What you need to do, what may be switched back on, how long data is out of date, and who to call">
<div><h2>What you need to do</h2>
${actions.length === 0 ? markup`<p>${nothingToDo(head)}</p>` : markup`<ol class="points">${actions.map((each) => action(each, head, outline))}</ol>`}</div>
<div><h2>What may be switched back on</h2>
${points(switchOnPoints(head))}
<p class="hint">This is about your own application. The tables below give the answer for each company.</p></div>
<div><h2>How long data is out of date</h2>
<p>${outOfDateText(head)}</p></div>
<div><h2>Who to call</h2>
<p class="contact">${head.contact}</p></div>
</section>`;
}

function action({ topic, companies, text, section = '' }: Point, head: ReportHead, outline: ReportOutline): Html {
  const count = companies === undefined ? '' : ` (${numberText(companies)})`;
  const links = section === 'must-reconnect' ? reconnectLinks(head, outline) : '';
  return markup`<li><a href="#${section}"><b>${topic}</b></a>${count}: ${text}${links}</li>`;
}

function reconnectLinks({ figures: { mustReconnect } }: ReportHead, { reconnecting }: ReportOutline): Html {
  const more = mustReconnect - reconnecting.length;
  return markup`<ul class="links">${reconnecting.map(
    ({ name, reference, linkUrl }) =>
      markup`<li>${name} <span class="reference">${reference}</span> ${webLink(linkUrl ?? NO_LINK)}</li>`,
  )}${more > 0 ? markup`<li><a href="#must-reconnect">and ${numberText(more)} more</a></li>` : ''}</ul>`;
}

function jumpLinks({ sections }: ReportOutline): Html {
  const links = [
    ['statistics', 'How it went'],
    ['credentials', 'Credentials'],
    ...sections.map(({ section: { id, title }, companies }) => [
      id,
      companies === null ? title : `${title} (${numberText(companies)})`,
    ]),
    ['decisions', 'Decisions'],
  ] as const;
  return markup`<nav aria-label="Sections of this report"><ul>${links.map(
    ([id = '', title = '']) => markup`<li><a href="#${id}">${title}</a></li>`,
  )}</ul></nav>`;
}

function result(head: ReportHead): Html {
  const { counts, figures } = head;
  const stage = reportStage(head);
  const byState = clientCounts({ ...counts, mustReconnect: figures.mustReconnect }, stage !== 'open');
  const shares = [
    { cssClass: 'moved', label: 'moved', value: counts.moved },
    { cssClass: 'moving', label: clientStateWords(stage).moving, value: byState.moving },
    { cssClass: 'must-reconnect', label: 'must reconnect', value: figures.mustReconnect },
    { cssClass: 'not-moved', label: 'not moved', value: byState['not-moved'] },
    { cssClass: 'open', label: 'not moved yet', value: byState['not-moved-yet'] },
    { cssClass: 'left-out', label: 'left out', value: counts.skipped + counts.excluded },
  ].filter(({ value }) => value > 0);
  return markup`<section id="result">
<h2>${outOf(counts.moved, counts.total, 'company')} moved</h2>
${shareBar(shares)}
<ul class="legend">${shares.map(({ cssClass, label, value }) => markup`<li><i class="key ${cssClass}"></i>${label} <b>${numberText(value)}</b></li>`)}</ul>
</section>`;
}

/** Returns the table of times. Leaves out the column of planned times if the migration has no plan. */
function times(head: ReportHead): Html {
  const rows = timeRows(head);
  if (head.planned !== null) return table(['Times', 'Planned', 'Actual'], rows, 'times cards');
  return table(
    ['Times', 'Actual'],
    rows.map(([what, , actual]) => [what, actual]),
    'times cards',
  );
}

/** Lists the points, except those that apply to no company. */
function points(all: readonly Point[]): Html {
  const items = all
    .filter(({ companies }) => companies !== 0)
    .map(({ topic, companies, text }) => {
      const count = companies === undefined ? '' : ` (${numberText(companies)})`;
      return markup`<li><b>${topic}</b>${count}: ${text}</li>`;
    });
  return markup`<ul class="points">${items}</ul>`;
}

function table(columns: readonly string[], rows: readonly (readonly string[])[], kind: string): Html {
  return markup`<table class="${kind}">
<thead><tr>${columns.map((title) => markup`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => markup`<tr>${cells.map((cell, index) => markup`<td data-label="${columns[index] ?? ''}">${cell}</td>`)}</tr>`)}</tbody>
</table>`;
}

/** Returns the part of the page after the companies. */
export function pageTail(head: ReportHead): string {
  const [applied, ...others] = decisionTables(head);
  const decisions = ({ columns, rows }: ReportTable): Html => table(columns, rows, 'decisions cards');
  return markup`<section id="decisions">
<h2>${applied.title}</h2>
${decisions(applied)}
${others.flatMap((each) => [markup`<h3>${each.title}</h3>`, decisions(each)])}
</section>
</main>
<footer>Handover report for ${head.migrationId}. Who to call: ${head.contact}</footer>
<script>${Html.trusted(PAGE_SCRIPT)}</script>
</body>
</html>`.text;
}
