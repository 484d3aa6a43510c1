/** The handover report in Markdown, its companies apart: what was moved, what was not and why, who decided what. */
import type { Point, ReportHead } from './report-facts';
import { credentialPoints, decisionsMade, mainFacts, resultRows, switchOnPoints, timeRows } from './report-facts';
import { tableHead, tableRow } from './markdown';

/** What stands before the companies. */
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
      'Each company below says it for itself.',
      points(switchOnPoints(head)),
    ].join('\n\n'),
    ['## Credentials', points(credentialPoints(head))].join('\n\n'),
  ].join('\n\n');
}

function table(title: string, columns: readonly string[], rows: readonly (readonly string[])[]): string {
  return [tableHead(title, columns), ...rows.map(tableRow)].join('\n');
}

function points(all: readonly Point[]): string {
  return all
    .map(({ about, companies, text }) => `- **${about}**${companies === undefined ? '' : ` (${companies})`}: ${text}`)
    .join('\n');
}

/** Who decided what; what was refused stands apart, for it changed nothing. */
export function reportDecisions(head: Pick<ReportHead, 'decisions'>): string {
  const made = decisionsMade(head);
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
