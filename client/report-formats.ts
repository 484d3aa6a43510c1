/** Writes the handover report in each format, as pieces of text, because it can have any number of companies. */
import {
  companyRecord,
  MUST_RECONNECT,
  sectionsOf,
  type ReportedCompany,
  type ReportView,
  type Section,
} from '../presentation/handover/company-sections';
import { LINKS_AT_THE_TOP, pageHead, pageTail, type ReportOutline } from '../presentation/handover/html-page';
import { PAGE_SECTION_TAIL, pageSectionHead, pageSectionRow } from '../presentation/handover/html-companies';
import { reportStage, viewOf } from '../presentation/handover/report-facts';
import { reportDecisions, reportHead, sectionHead, sectionRow } from '../presentation/handover/markdown-report';
import { clientStateOf, type ClientState, type CompanyState } from '../domain/companies/company-state';
import { notReadyText, type WaitingCompany } from '../domain/companies/credential-state';
import { remediesFor } from '../domain/companies/remedies';
import { reactivationOf } from '../domain/companies/reactivation';
import { remedyForReplaced, replacedRemedyText } from '../domain/preflight/applications';
import type { LedgerCompany } from '../store';
import type { HandoverReport } from './report';
import { csvPieces, jsonPieces } from './text-formats';

export const REPORT_FORMATS = ['md', 'json', 'csv', 'html'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** Returns the report in this format. Each piece is one or more lines, without the last line break. */
export function reportPieces(report: HandoverReport, format: ReportFormat): AsyncGenerator<string> {
  return FORMATS[format](report);
}

const FORMATS: Readonly<Record<ReportFormat, (report: HandoverReport) => AsyncGenerator<string>>> = {
  async *md(report) {
    yield reportHead(report.head);
    yield* sectionPieces(report, { head: (section) => `\n${sectionHead(section)}`, row: sectionRow });
    yield `\n${reportDecisions(report.head)}`;
  },
  async *html(report) {
    const [statistics, outline] = await Promise.all([report.statistics(), readOutline(report)]);
    yield pageHead(report.head, statistics, outline, new Date().toISOString());
    yield* sectionPieces(report, { head: pageSectionHead, row: pageSectionRow, tail: PAGE_SECTION_TAIL });
    yield pageTail(report.head);
  },
  async *csv({ head, companies, replaced }) {
    const groups = await replaced();
    const [now, stage] = [new Date().toISOString(), reportStage(head)];
    const record = (company: ReportedCompany) => {
      const group = groups.get(company.reference);
      const about = { companies: 1, withoutLink: company.linkUrl === null ? 1 : 0 };
      const remedy = group && remedyForReplaced(group, head.applications, 'client', about);
      return companyRecord(company, { stage, route: head.route, now }, remedy ? replacedRemedyText(remedy) : null);
    };
    yield* csvPieces(mapEach(companies(), record), true);
  },
  json: ({ head, companies }) => {
    const stage = reportStage(head);
    const reportedCompanyJson = (company: ReportedCompany) => ({
      ...companyJson(company, stage !== 'open'),
      switchOn: reactivationOf(company, stage),
      remedies: stage !== 'open' ? [] : remediesFor(company),
    });
    return jsonPieces({ schema: 'ferry.report/1', ...head }, 'companies', mapEach(companies(), reportedCompanyJson));
  },
};

type JsonCompany = WaitingCompany &
  Pick<LedgerCompany, 'state' | 'failure' | 'deferred' | 'retryAt' | 'relinkingSince'>;

/**
 * Says that no further try or check of a company will come. Replaces the ledger's fields once the workflow has ended,
 * even if the ledger does not know of the end.
 */
export const NOTHING_AHEAD = { deferred: false, retryAt: null, relinkingSince: null } as const;

/**
 * Returns a company for `--json`: `state` is the state as clients see it, `ledgerState` the state in the ledger. Once
 * the workflow has ended, the company is neither tried again nor checked. The next try of a company that lacks a
 * confirmation or a usable credential has no time.
 */
export function companyJson<Company extends JsonCompany>(
  company: Company,
  hasEnded: boolean,
): Omit<Company, 'state'> & { readonly state: ClientState; readonly ledgerState: CompanyState } {
  const { state, failure } = company;
  return {
    ...company,
    retryAt: notReadyText(company) === null ? company.retryAt : null,
    ...(hasEnded && NOTHING_AHEAD),
    state: clientStateOf(state, failure, hasEnded),
    ledgerState: state,
  };
}

interface SectionWriter {
  readonly head: (section: Section) => string;
  readonly row: (section: Section, company: ReportedCompany, view: ReportView) => string;
  readonly tail?: string;
}

/** Reads the data for the top of the page: a few reconnection links, and links to the sections that follow. */
async function readOutline({ head, companies }: HandoverReport): Promise<ReportOutline> {
  const sections: ReportOutline['sections'][number][] = [];
  for (const section of sectionsOf(reportStage(head), head.applications)) {
    const counted = section.count(head);
    // If the counts do not show whether a section is empty, one company proves that it is not.
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

/** Returns the sections of the report, except those without companies. */
async function* sectionPieces(
  { head: facts, companies }: HandoverReport,
  { head, row, tail }: SectionWriter,
): AsyncGenerator<string> {
  const view: ReportView = { ...viewOf(facts), now: new Date().toISOString() };
  for (const section of sectionsOf(view.stage, facts.applications)) {
    let isEmpty = true;
    for await (const company of companies(section.states)) {
      if (!section.includes(company)) continue;
      if (isEmpty) yield head(section);
      isEmpty = false;
      yield row(section, company, view);
    }
    if (!isEmpty && tail !== undefined) yield tail;
  }
}

async function* mapEach<T, R>(items: AsyncIterable<T>, change: (item: T) => R): AsyncGenerator<R> {
  for await (const item of items) yield change(item);
}
