/** The handover report in Markdown: the head, one table per section of companies, and the decisions. */
import { escapedMarkdown, markdownLink } from '../../domain/text/untrusted-text';
import type { ReportedCompany, ReportView, Section } from './company-sections';
import { switchOnPoints, type Point } from './points';
import { credentialPoints } from './credential-points';
import { nothingToDo, requiredActions } from './required-actions';
import { mainFacts, resultRows, timeRows, type ReportHead } from './report-facts';
import { decisionTables } from './decision-tables';

/** Returns the part of the report before the companies. */
export function reportHead(head: ReportHead): string {
  return [
    `# Handover report: ${head.migrationId}`,
    mainFacts(head)
      .map(([label, value]) => `- ${label}: ${escapedMarkdown(value)}`)
      .join('\n'),
    table(
      'Result',
      ['Companies', 'Number'],
      resultRows(head).map(([what, companies]) => [what, String(companies)]),
    ),
    ['## What you need to do', points(requiredActions(head)) || nothingToDo(head)].join('\n\n'),
    [
      '## What may be switched back on in your own application',
      'The tables below give the answer for each company.',
      points(switchOnPoints(head)),
    ].join('\n\n'),
    table('Times', ['', 'Planned', 'Actual'], timeRows(head)),
    ['## Credentials', points(credentialPoints(head))].join('\n\n'),
  ].join('\n\n');
}

function points(all: readonly Point[]): string {
  return all
    .map(
      ({ topic: about, companies, text }) =>
        `- **${about}**${companies === undefined ? '' : ` (${companies})`}: ${text}`,
    )
    .join('\n');
}

/** Returns the heading of a section and the head of its table. */
export function sectionHead({ title, note, columns }: Section): string {
  return tableHead(
    note === undefined ? title : `${title}\n\n${escapedMarkdown(note)}`,
    columns.map((column) => column.title),
  );
}

export function sectionRow({ cells, columns }: Section, company: ReportedCompany, view: ReportView): string {
  return tableRow(cells(company, view), (text, index) =>
    columns[index]?.as === 'link' ? markdownLink(text) : escapedMarkdown(text),
  );
}

/** Returns the decisions, and the stoppages if there were any. */
export function reportDecisions(head: ReportHead): string {
  return decisionTables(head)
    .map(({ title, columns, rows }) => table(title, columns, rows))
    .join('\n\n');
}

function table(title: string, columns: readonly string[], rows: readonly (readonly string[])[]): string {
  return [tableHead(title, columns), ...rows.map((row) => tableRow(row))].join('\n');
}

function tableHead(title: string, columns: readonly string[]): string {
  return [`## ${title}`, '', tableRow(columns), `|${'---|'.repeat(columns.length)}`].join('\n');
}

function tableRow(
  cells: readonly string[],
  cell: (text: string, index: number) => string = (text) => escapedMarkdown(text),
): string {
  return `| ${cells.map(cell).join(' | ')} |`;
}
