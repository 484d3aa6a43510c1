/** The companies of the handover report, section by section, each a table that may be of any length. */
import type { CompanyState } from '../../domain/companies/company-state';
import { clientStateText } from '../../domain/companies/company-state';
import type { Evidence, SyncSchedule } from '../../domain/companies/evidence';
import { evidenceOf } from '../../domain/companies/evidence';
import type { FailureKind } from '../../domain/companies/failures';
import { tableHead, tableRow } from './markdown';
import { moment } from '../../domain/text/moments';
import { remediesFor, remedyText } from '../../domain/companies/remedies';
import { reactivationOf, reactivationText } from '../../domain/companies/reactivation';

/** A company, as far as the report says something about it. */
export interface ReportedCompany {
  readonly reference: string;
  readonly name: string;
  readonly storedName: string | null;
  readonly organization: string;
  readonly state: CompanyState;
  readonly crossedAt: Date | null;
  readonly sentAt: Date | null;
  readonly companyId: string | null;
  readonly connectionId: string | null;
  readonly linkUrl: string | null;
  readonly movedAt: Date | null;
  readonly failure: FailureKind | null;
  readonly failureText: string | null;
  readonly correlationId: string | null;
  readonly evidence: readonly Evidence[] | null;
  readonly syncSchedule: SyncSchedule | null;
  readonly settledBy: string | null;
  readonly settledReason: string | null;
  readonly heldBack: string | null;
}

export interface ReportColumn {
  readonly title: string;
  /** On a page the company has one cell, its ids stand in small print below, and an address is a link. */
  readonly as?: 'company' | 'id' | 'link';
}

export interface Section {
  readonly title: string;
  /** The companies that it may hold; which of them it does, `holds` says. */
  readonly states: readonly CompanyState[];
  readonly holds: (company: ReportedCompany) => boolean;
  readonly columns: readonly ReportColumn[];
  /** @param ended nothing is moved any more */
  readonly cells: (company: ReportedCompany, ended: boolean) => readonly string[];
}

const REFERENCE: ReportColumn = { title: 'Reference', as: 'company' };
const NAME: ReportColumn = { title: 'Name', as: 'company' };
const SWITCH_ON: ReportColumn = { title: 'Switch on again' };
const COMPANY_ID: ReportColumn = { title: 'Company id', as: 'id' };
const CONNECTION_ID: ReportColumn = { title: 'Connection id', as: 'id' };
const CORRELATION_ID: ReportColumn = { title: 'Correlation id', as: 'id' };

const all = (): boolean => true;
const mustReconnect = ({ failure }: ReportedCompany): boolean => failure === 'reauthorization-required';

const WITHOUT_OUTCOME: Section = {
  title: 'Without an outcome',
  states: ['waiting', 'importing', 'syncing', 'outcome-unknown'],
  holds: all,
  columns: [REFERENCE, NAME, { title: 'State' }, { title: 'What to do' }, SWITCH_ON, CORRELATION_ID],
  cells: (company, ended) => [
    ...[company.reference, company.name],
    [clientStateText(company.state, null), company.failureText ?? company.heldBack].filter(Boolean).join(': '),
    whatToDo(company, ended),
    switchOn(company, ended),
    company.correlationId ?? '',
  ],
};

const MUST_RECONNECT: Section = {
  title: 'Must connect again',
  states: ['failed'],
  holds: mustReconnect,
  columns: [
    ...[REFERENCE, NAME, { title: 'The end customer connects again at', as: 'link' } as const, { title: 'Why' }],
    ...[SWITCH_ON, CORRELATION_ID],
  ],
  cells: (company, ended) => [
    ...[
      company.reference,
      company.name,
      company.linkUrl ?? 'no link: ask the contact above',
      company.failureText ?? '',
    ],
    switchOn(company, ended),
    company.correlationId ?? '',
  ],
};

const NOT_MOVED: Section = {
  title: 'Not moved, and what to do',
  states: ['failed'],
  holds: (company) => !mustReconnect(company),
  columns: [
    ...[REFERENCE, NAME, { title: 'Why' }, { title: 'Records' }, { title: 'What to do' }, SWITCH_ON],
    ...[COMPANY_ID, CORRELATION_ID],
  ],
  cells: (company, ended) => [
    ...[company.reference, company.name, company.failureText ?? '', recordsOf(company), whatToDo(company, ended)],
    switchOn(company, ended),
    ...[company.companyId ?? '', company.correlationId ?? ''],
  ],
};

const LEFT_OUT: Section = {
  title: 'Left out and given up',
  states: ['excluded', 'skipped'],
  holds: all,
  columns: [
    ...[REFERENCE, NAME, { title: 'What' }, { title: 'By' }, { title: 'Reason' }, { title: 'What had happened' }],
    ...[SWITCH_ON, COMPANY_ID],
  ],
  cells: (company, ended) => [
    ...[company.reference, company.name, settledInWords(company) ?? ''],
    ...[company.settledBy ?? '', company.settledReason ?? '', company.failureText ?? ''],
    ...[switchOn(company, ended), company.companyId ?? ''],
  ],
};

const MOVED: Section = {
  title: 'Moved',
  states: ['migrated'],
  holds: all,
  columns: [
    ...[REFERENCE, NAME, { title: 'Name as stored', as: 'id' } as const, { title: 'Organization, checked' }],
    ...[COMPANY_ID, CONNECTION_ID],
    ...[{ title: 'Moved at' }, { title: 'Records' }, { title: 'Correlation ids', as: 'id' } as const],
    ...[{ title: 'Synced every' }, { title: 'Next sync' }, SWITCH_ON],
  ],
  cells: (company, ended) => [
    ...[company.reference, company.name, company.storedName ?? '', organizationOf(company)],
    ...[company.companyId ?? '', company.connectionId ?? '', momentOf(company.movedAt)],
    ...[recordsOf(company), correlationIdsOf(company)],
    everyOf(company.syncSchedule),
    company.syncSchedule?.nextAt ? moment(company.syncSchedule.nextAt) : '',
    switchOn(company, ended),
  ],
};

/** Created for companies that were not moved, and not removed again: nothing of them is linked. */
const UNUSED: Section = {
  title: 'Left unused at the service: to be deleted there',
  states: ['waiting', 'excluded'],
  holds: ({ companyId, crossedAt }) => companyId !== null && crossedAt === null,
  columns: [REFERENCE, NAME, COMPANY_ID, CONNECTION_ID],
  cells: ({ reference, name, companyId, connectionId }) => [reference, name, companyId ?? '', connectionId ?? ''],
};

/** In the order in which somebody has to do something about them. */
export function sectionsOf(ended: boolean): readonly Section[] {
  const sections = [WITHOUT_OUTCOME, MUST_RECONNECT, NOT_MOVED, LEFT_OUT, MOVED];
  // While a migration is under way such companies are still to be used.
  return ended ? [...sections, UNUSED] : sections;
}

export function sectionHead({ title, columns }: Section): string {
  return tableHead(
    title,
    columns.map((column) => column.title),
  );
}

export function sectionRow({ cells }: Section, company: ReportedCompany, ended: boolean): string {
  return tableRow(cells(company, ended));
}

function switchOn(company: ReportedCompany, ended: boolean): string {
  return reactivationText(reactivationOf(company, ended));
}

function whatToDo(company: ReportedCompany, ended: boolean): string {
  const [remedy] = remediesFor(company);
  if (!ended) return remedy === undefined || company.state === 'waiting' ? '' : remedyText(remedy);
  switch (company.failure) {
    case 'incomplete':
    case 'sync-failed':
    case 'sync-timed-out':
      return 'the connection is in place: the contact above looks at the sync';
    case 'refused':
    case 'wrong-organization':
    case 'credential-unreadable':
    case 'reauthorization-required':
      return 'in a new migration, once what was wrong is put right';
    case null:
      if (company.state === 'waiting') return 'in a new migration, if it is still to be moved';
      return 'it was handed over, or may have been, and is not checked: ask the contact above';
  }
}

function recordsOf({ evidence }: ReportedCompany): string {
  return (evidence ?? [])
    .flatMap(({ records, detail }) => (records ? [`${records.dataType}: ${detail}`] : []))
    .join('; ');
}

function organizationOf({ organization, evidence }: ReportedCompany): string {
  const checked = evidenceOf('organization', evidence);
  return checked ? checked.detail : `${organization} (not checked)`;
}

/** Of the authorization, of what was found, and the latest. */
function correlationIdsOf({ evidence, correlationId }: ReportedCompany): string {
  const ids = [...(evidence ?? []).map((each) => each.correlationId), correlationId];
  return [...new Set(ids.filter((id) => id != null))].join(', ');
}

function everyOf(schedule: SyncSchedule | null): string {
  if (schedule === null) return '';
  const { everyHours } = schedule;
  if (everyHours === null) return 'never by itself';
  const { least, most } = everyHours;
  return least === most ? `${least} h` : `${least} to ${most} h`;
}

function momentOf(date: Date | null): string {
  return date === null ? '' : moment(date.toISOString());
}

/** A company in one row for a spreadsheet, whatever became of it: the same facts, and no sections. */
export function companyRecord(company: ReportedCompany, ended: boolean): Readonly<Record<string, string>> {
  const { reference, name, storedName, organization, state, failure, companyId, connectionId, linkUrl } = company;
  return {
    reference,
    name,
    'stored name': storedName ?? '',
    organization,
    outcome: settledInWords(company) ?? clientStateText(state, failure),
    why: company.failureText ?? company.heldBack ?? '',
    'what to do': isLeftOver(company) ? whatToDo(company, ended) : '',
    'switch on again': switchOn(company, ended),
    'moved at': momentOf(company.movedAt),
    records: recordsOf(company),
    'synced every': everyOf(company.syncSchedule),
    'next sync': company.syncSchedule?.nextAt ? moment(company.syncSchedule.nextAt) : '',
    'connects again at': mustReconnect(company) ? (linkUrl ?? '') : '',
    'left out or given up by': company.settledBy ?? '',
    'reason for that': company.settledReason ?? '',
    'company id': companyId ?? '',
    'connection id': connectionId ?? '',
    'correlation ids': correlationIdsOf(company),
  };
}

function settledInWords({ state }: ReportedCompany): string | null {
  if (state === 'excluded') return 'left out';
  return state === 'skipped' ? 'given up' : null;
}

const isLeftOver = ({ state }: ReportedCompany): boolean =>
  state === 'failed' || WITHOUT_OUTCOME.states.includes(state);
