/** Writes the handover report in each format. Streams the companies, because there can be any number of them. */
import type { ReportedCompany, ReportView, Section } from '../../presentation/handover/company-sections';
import { companyRecord, MUST_RECONNECT, sectionsOf } from '../../presentation/handover/company-sections';
import type { ReportOutline } from '../../presentation/handover/html-page';
import { LINKS_AT_THE_TOP, pageHead, pageTail } from '../../presentation/handover/html-page';
import { PAGE_SECTION_TAIL, pageSectionHead, pageSectionRow } from '../../presentation/handover/html-companies';
import { viewOf } from '../../presentation/handover/report-facts';
import { reportDecisions, reportHead, sectionHead, sectionRow } from '../../presentation/handover/markdown-report';
import { remediesFor } from '../../domain/companies/remedies';
import { reactivationOf } from '../../domain/companies/reactivation';
import type { HandoverReport } from '../../client';
import type { Output } from '../terminal';
import { companyJson, writeCsv } from '../shared/results';

export const REPORT_FORMATS = ['md', 'json', 'csv', 'html'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

type Writer = (output: Output, report: HandoverReport) => Promise<void>;

export const reportWriters: Readonly<Record<ReportFormat, Writer>> = {
  md: async (output, report) => {
    await output.stream(reportHead(report.head));
    await writeSections(output, report, {
      head: (section) => `\n${sectionHead(section)}`,
      row: sectionRow,
    });
    await output.stream(`\n${reportDecisions(report.head)}`);
  },
  html: async (output, report) => {
    const [statistics, outline] = await Promise.all([report.statistics(), readOutline(report)]);
    await output.stream(pageHead(report.head, statistics, outline, new Date().toISOString()));
    await writeSections(output, report, { head: pageSectionHead, row: pageSectionRow, tail: PAGE_SECTION_TAIL });
    await output.stream(pageTail(report.head));
  },
  csv: (output, { head, companies }) =>
    writeCsv(
      output,
      mapEach(companies(), (company) => companyRecord(company, head.ending !== null)),
    ),
  json: (output, { head, companies }) => {
    const ended = head.ending !== null;
    const reportedCompanyJson = (company: ReportedCompany) => ({
      ...companyJson(company),
      switchOn: reactivationOf(company, ended),
      remedies: ended ? [] : remediesFor(company),
    });
    return output.streamJson(
      { schema: 'ferry.report/1', ...head },
      'companies',
      mapEach(companies(), reportedCompanyJson),
    );
  },
};

interface SectionWriter {
  readonly head: (section: Section) => string;
  readonly row: (section: Section, company: ReportedCompany, view: ReportView) => string;
  readonly tail?: string;
}

/** Reads what the top of the page shows of the companies: a few links, and which sections follow. */
async function readOutline({ head, companies }: HandoverReport): Promise<ReportOutline> {
  const sections: ReportOutline['sections'][number][] = [];
  for (const section of sectionsOf(head.ending !== null)) {
    const counted = section.count(head);
    // Where the counts do not tell, one company is enough for a link to the section.
    const isEmpty = counted === null ? (await firstOf(section, companies, 1)).length === 0 : counted === 0;
    if (!isEmpty) sections.push({ section, companies: counted });
  }
  const reconnecting =
    head.figures.mustReconnect === 0 ? [] : await firstOf(MUST_RECONNECT, companies, LINKS_AT_THE_TOP);
  return { sections, reconnecting };
}

async function firstOf(
  { states, includes }: Section,
  companies: HandoverReport['companies'],
  most: number,
): Promise<readonly ReportedCompany[]> {
  const found: ReportedCompany[] = [];
  for await (const company of companies(states)) {
    if (includes(company)) found.push(company);
    if (found.length === most) break;
  }
  return found;
}

/** Writes the sections of the report, except those without companies. */
async function writeSections(
  output: Output,
  { head: facts, companies }: HandoverReport,
  { head, row, tail }: SectionWriter,
): Promise<void> {
  const view = viewOf(facts);
  for (const section of sectionsOf(view.ended)) {
    let isEmpty = true;
    for await (const company of companies(section.states)) {
      if (!section.includes(company)) continue;
      if (isEmpty) await output.stream(head(section));
      isEmpty = false;
      await output.stream(row(section, company, view));
    }
    if (!isEmpty && tail !== undefined) await output.stream(tail);
  }
}

async function* mapEach<T, R>(items: AsyncIterable<T>, change: (item: T) => R): AsyncGenerator<R> {
  for await (const item of items) yield change(item);
}
