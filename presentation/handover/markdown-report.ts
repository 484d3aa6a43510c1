/** The handover report in Markdown: the head, one table per section of companies, and the decisions. */
import type { ReportedCompany, Section } from './company-sections';
import type { Point, ReportHead } from './report-facts';
import { credentialPoints, decisionRows, mainFacts, resultRows, switchOnPoints, timeRows } from './report-facts';

/** Returns the part of the report before the companies. */
export function reportHead(head: ReportHead): string {
  return [
    `# Handover: ${head.migrationId}`,
    mainFacts(head)
      .map(([label, value]) => `- ${label}: ${value}`)
      .join('\n'),
    table(
      'Result',
      ['Companies', 'Number'],
      resultRows(head).map(([what, companies]) => [what, String(companies)]),
    ),
    table('Times', ['', 'Planned', 'Actual'], timeRows(head)),
    [
      '## What may be switched on again in your own application',
      'See each company below.',
      points(switchOnPoints(head)),
    ].join('\n\n'),
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
export function sectionHead({ title, columns }: Section): string {
  return tableHead(
    title,
    columns.map((column) => column.title),
  );
}

export function sectionRow({ cells }: Section, company: ReportedCompany, ended: boolean): string {
  return tableRow(cells(company, ended));
}

/** Returns the decisions, with the refused ones in a table of their own because they changed nothing. */
export function reportDecisions(head: Pick<ReportHead, 'decisions'>): string {
  const made = decisionRows(head);
  const applied = made.filter(({ refused }) => refused === null);
  const refused = made.filter(({ refused }) => refused !== null);
  return [
    table(
      'Decisions',
      ['When', 'Who', 'What'],
      applied.map(({ when, who, what }) => [when, who, what]),
    ),
    ...(refused.length === 0
      ? []
      : [
          table(
            'Refused: these changed nothing',
            ['When', 'Who', 'What', 'Why it was refused'],
            refused.map((each) => [each.when, each.who, each.what, each.refused ?? '']),
          ),
        ]),
  ].join('\n\n');
}

function table(title: string, columns: readonly string[], rows: readonly (readonly string[])[]): string {
  return [tableHead(title, columns), ...rows.map(tableRow)].join('\n');
}

function tableHead(title: string, columns: readonly string[]): string {
  return [`## ${title}`, '', tableRow(columns), `|${'---|'.repeat(columns.length)}`].join('\n');
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.map(cell).join(' | ')} |`;
}

/** Escapes text that people wrote: in a table, a bar would end the cell and a line break the row. */
function cell(text: string): string {
  return text.replace(/\|/g, '\\|').replace(/\s+/g, ' ');
}
