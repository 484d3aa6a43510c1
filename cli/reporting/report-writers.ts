/** Writes the handover report in each format. Streams the companies, because there can be any number of them. */
import type { ReportedCompany, Section } from '../../presentation/handover/company-sections';
import { companyRecord, sectionsOf } from '../../presentation/handover/company-sections';
import { pageHead, pageTail } from '../../presentation/handover/html-page';
import { PAGE_SECTION_TAIL, pageSectionHead, pageSectionRow } from '../../presentation/handover/html-companies';
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
    await output.stream(pageHead(report.head, await report.statistics(), new Date().toISOString()));
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
  readonly row: (section: Section, company: ReportedCompany, ended: boolean) => string;
  readonly tail?: string;
}

/** Writes the sections of the report, except those without companies. */
async function writeSections(
  output: Output,
  { head: { ending }, companies }: HandoverReport,
  { head, row, tail }: SectionWriter,
): Promise<void> {
  const ended = ending !== null;
  for (const section of sectionsOf(ended)) {
    let isEmpty = true;
    for await (const company of companies(section.states)) {
      if (!section.includes(company)) continue;
      if (isEmpty) await output.stream(head(section));
      isEmpty = false;
      await output.stream(row(section, company, ended));
    }
    if (!isEmpty && tail !== undefined) await output.stream(tail);
  }
}

async function* mapEach<T, R>(items: AsyncIterable<T>, change: (item: T) => R): AsyncGenerator<R> {
  for await (const item of items) yield change(item);
}
