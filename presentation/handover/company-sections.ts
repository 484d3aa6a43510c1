/**
 * The companies in the handover report: the sections, their columns, and the text in each cell.
 *
 * Companies are read and written one at a time, because a migration can have thousands of them.
 */
import type { CompanyState } from '../../domain/companies/company-state';
import { CLIENT_STATES, clientStateText } from '../../domain/companies/company-state';
import type { SyncSchedule } from '../../domain/companies/evidence';
import { evidenceOf } from '../../domain/companies/evidence';
import type { LedgerCompany } from '../../store';
import { momentText } from '../../domain/text/sentences';
import { remediesFor, remedyText } from '../../domain/companies/remedies';
import { reactivationOf, reactivationText } from '../../domain/companies/reactivation';

/** A company of the ledger without the fields that only the move needs. */
export type ReportedCompany = Omit<LedgerCompany, 'row' | 'wave' | 'expectedInvoices' | 'confirmedAt'>;

export interface ReportColumn {
  readonly title: string;
  /** How HTML shows it: `company` in the first cell, `id` in small type below the row, `link` as a link. */
  readonly as?: 'company' | 'id' | 'link';
}

export interface Section {
  readonly title: string;
  /** The states of the companies that are read for the section. */
  readonly states: readonly CompanyState[];
  /** Returns whether a company in one of these states belongs in the section. */
  readonly includes: (company: ReportedCompany) => boolean;
  readonly columns: readonly ReportColumn[];
  /** @param ended whether the migration has ended, so that no more companies will be moved */
  readonly cells: (company: ReportedCompany, ended: boolean) => readonly string[];
}

const REFERENCE: ReportColumn = { title: 'Reference', as: 'company' };
const NAME: ReportColumn = { title: 'Name', as: 'company' };
const SWITCH_ON: ReportColumn = { title: 'Switch back on' };
const COMPANY_ID: ReportColumn = { title: 'Company id', as: 'id' };
const CONNECTION_ID: ReportColumn = { title: 'Connection id', as: 'id' };
const CORRELATION_ID: ReportColumn = { title: 'Correlation id', as: 'id' };

const all = (): boolean => true;
const mustReconnect = ({ failure }: ReportedCompany): boolean => failure === 'reauthorization-required';

const NOT_FINISHED: Section = {
  title: 'Not finished',
  states: ['waiting', 'importing', 'syncing', 'outcome-unknown'],
  includes: all,
  columns: [REFERENCE, NAME, { title: 'State' }, { title: 'What to do' }, SWITCH_ON, CORRELATION_ID],
  cells: (company, ended) => [
    ...[company.reference, company.name],
    [stateText(company, ended), company.failureText ?? company.heldBack].filter(Boolean).join(': '),
    whatToDo(company, ended),
    switchOn(company, ended),
    company.correlationId ?? '',
  ],
};

const MUST_RECONNECT: Section = {
  title: 'Must reconnect',
  states: ['failed'],
  includes: mustReconnect,
  columns: [
    ...[REFERENCE, NAME, { title: 'Link for the end customer', as: 'link' } as const, { title: 'Why' }],
    ...[SWITCH_ON, CORRELATION_ID],
  ],
  cells: (company, ended) => [
    ...[company.reference, company.name, company.linkUrl ?? 'no link; ask support', company.failureText ?? ''],
    switchOn(company, ended),
    company.correlationId ?? '',
  ],
};

const NOT_MOVED: Section = {
  title: 'Not moved, and what to do',
  states: ['failed'],
  includes: (company) => !mustReconnect(company),
  columns: [
    ...[REFERENCE, NAME, { title: 'Why' }, { title: 'Records' }, { title: 'What to do' }, SWITCH_ON],
    ...[COMPANY_ID, CORRELATION_ID],
  ],
  cells: (company, ended) => [
    ...[company.reference, company.name, company.failureText ?? '', recordsText(company), whatToDo(company, ended)],
    switchOn(company, ended),
    ...[company.companyId ?? '', company.correlationId ?? ''],
  ],
};

const LEFT_OUT: Section = {
  title: 'Left out',
  states: ['excluded', 'skipped'],
  includes: all,
  columns: [
    ...[REFERENCE, NAME, { title: 'When' }, { title: 'By' }, { title: 'Reason' }, { title: 'Earlier failure' }],
    ...[SWITCH_ON, COMPANY_ID],
  ],
  cells: (company, ended) => [
    ...[
      company.reference,
      company.name,
      company.state === 'skipped' ? 'after an attempt to move it' : 'before its move',
    ],
    ...[company.leftOutBy ?? '', company.leftOutReason ?? '', company.failureText ?? ''],
    ...[switchOn(company, ended), company.companyId ?? ''],
  ],
};

const MOVED: Section = {
  title: 'Moved',
  states: ['moved'],
  includes: all,
  columns: [
    ...[REFERENCE, NAME, { title: 'Name as stored', as: 'id' } as const, { title: 'Organization' }],
    ...[COMPANY_ID, CONNECTION_ID],
    ...[{ title: 'Moved at' }, { title: 'Records' }, { title: 'Correlation ids', as: 'id' } as const],
    ...[{ title: 'Synced every' }, { title: 'Next sync' }, SWITCH_ON],
  ],
  cells: (company, ended) => [
    ...[company.reference, company.name, company.storedName ?? '', organizationText(company)],
    ...[company.companyId ?? '', company.connectionId ?? '', dateText(company.movedAt)],
    ...[recordsText(company), correlationIdsText(company)],
    syncIntervalText(company.syncSchedule),
    company.syncSchedule?.nextAt ? momentText(company.syncSchedule.nextAt) : '',
    switchOn(company, ended),
  ],
};

/** Companies that were created at the service but not used, and not deleted at the end of the migration. */
const UNUSED: Section = {
  title: 'Created at the service but not used: delete them there',
  states: ['waiting', 'excluded'],
  includes: ({ companyId, crossedAt, existedBefore }) => companyId !== null && crossedAt === null && !existedBefore,
  columns: [REFERENCE, NAME, COMPANY_ID, CONNECTION_ID],
  cells: ({ reference, name, companyId, connectionId }) => [reference, name, companyId ?? '', connectionId ?? ''],
};

/** Returns the sections, in order of urgency. */
export function sectionsOf(ended: boolean): readonly Section[] {
  const sections = [NOT_FINISHED, MUST_RECONNECT, NOT_MOVED, LEFT_OUT, MOVED];
  // Before the end, a company that was created at the service can still be used by a later move.
  return ended ? [...sections, UNUSED] : sections;
}

/** Returns the client's word for a company. After the end, `not moved yet` becomes `not moved`. */
function stateText({ state, failure }: ReportedCompany, ended: boolean): string {
  const text = clientStateText(state, failure);
  return ended && text === CLIENT_STATES['not-moved-yet'] ? CLIENT_STATES['not-moved'] : text;
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
      return 'nothing; the connection is in place, and support takes care of its sync';
    case 'refused':
    case 'wrong-organization':
    case 'application-refused':
    case 'credential-unreadable':
    case 'reauthorization-required':
      return 'correct the problem, then move it in a new migration';
    case null:
      if (company.state === 'waiting') return 'to move it, start a new migration';
      return 'ask support: its credential was sent to us, or might have been, but the move was not verified';
  }
}

function recordsText({ evidence }: ReportedCompany): string {
  return (evidence ?? [])
    .flatMap(({ records, detail }) => (records ? [`${records.dataType}: ${detail}`] : []))
    .join('; ');
}

function organizationText({ organization, evidence }: ReportedCompany): string {
  const checked = evidenceOf('organization', evidence);
  return checked ? checked.detail : `${organization} (not checked)`;
}

/** Returns the correlation ids of the evidence and of the latest call, each once. */
function correlationIdsText({ evidence, correlationId }: ReportedCompany): string {
  const ids = [...(evidence ?? []).map((each) => each.correlationId), correlationId];
  return [...new Set(ids.filter((id) => id != null))].join(', ');
}

function syncIntervalText(schedule: SyncSchedule | null): string {
  if (schedule === null) return '';
  const { everyHours } = schedule;
  if (everyHours === null) return 'only on request';
  const { least, most } = everyHours;
  return least === most ? `${least} h` : `${least} to ${most} h`;
}

function dateText(date: Date | null): string {
  return date === null ? '' : momentText(date.toISOString());
}

/** Returns a company as one row of a spreadsheet, with the facts of all sections. */
export function companyRecord(company: ReportedCompany, ended: boolean): Readonly<Record<string, string>> {
  const { reference, name, storedName, organization, companyId, connectionId, linkUrl } = company;
  return {
    reference,
    name,
    'stored name': storedName ?? '',
    organization,
    outcome: stateText(company, ended),
    why: company.failureText ?? company.heldBack ?? '',
    'what to do': needsAction(company) ? whatToDo(company, ended) : '',
    'switch back on': switchOn(company, ended),
    'moved at': dateText(company.movedAt),
    records: recordsText(company),
    'synced every': syncIntervalText(company.syncSchedule),
    'next sync': company.syncSchedule?.nextAt ? momentText(company.syncSchedule.nextAt) : '',
    'link for the end customer': mustReconnect(company) ? (linkUrl ?? '') : '',
    'left out by': company.leftOutBy ?? '',
    'reason for leaving it out': company.leftOutReason ?? '',
    'company id': companyId ?? '',
    'connection id': connectionId ?? '',
    'correlation ids': correlationIdsText(company),
  };
}

const needsAction = ({ state }: ReportedCompany): boolean => state === 'failed' || NOT_FINISHED.states.includes(state);
