/**
 * The companies in the handover report: the sections, their columns, and the text in each cell.
 *
 * Companies are read and written one at a time, because a migration can have thousands of them.
 */
import { inClientWords } from '../../domain/companies/client-words';
import {
  clientStateText,
  COMPANY_STATES,
  isWronglyConnected,
  needsLink,
  unreachedText,
  type CompanyState,
  type MoveStage,
} from '../../domain/companies/company-state';
import { countOpen, type Counts } from '../../domain/companies/counts';
import { missingCredentialText } from '../../domain/companies/credential-state';
import type { LedgerCompany, ReportFigures } from '../../store';
import { momentText, timeText } from '../../domain/text/sentences';
import type { Route } from '../../platforms/platforms';
import { REPLACED_PROBLEM, replacedRemedyFor, type ApplicationsOfMoved } from '../../domain/preflight/applications';
import { REACTIVATION_TEXTS, reactivationOf } from '../../domain/companies/reactivation';
import {
  correlationIdsText,
  dateText,
  invoicesText,
  nextSyncText,
  recordsText,
  syncIntervalText,
} from './company-facts';
import { replacedNote, whatToDo } from './what-to-do';

/** A company of the ledger without the fields that only the move needs, or that only support may see. */
export type ReportedCompany = Omit<LedgerCompany, 'row' | 'wave' | 'expectedInvoices' | 'heldBackDetails'>;

/** The facts about a migration that decide how its companies are shown. */
export interface ReportView {
  /** The stage decides whether companies can still move. */
  readonly stage: MoveStage;
  /** The route decides whether the client or support carries out a remedy. */
  readonly route: Route;
  /** Times in this year are shown without the year. */
  readonly year: string;
  /** When the report is written. ISO 8601, UTC */
  readonly now: string;
}

export interface ReportColumn {
  readonly title: string;
  /** In HTML: `company` in the first cell, `link` as a link, `short` in a narrow column, `number` right-aligned. */
  readonly as?: 'company' | 'link' | 'short' | 'number';
}

export interface Section {
  /** Names the section in links within the page. */
  readonly id: string;
  readonly title: string;
  /** A sentence about all companies of the section. */
  readonly note?: string;
  /** The states of the companies that are read for the section. */
  readonly states: readonly CompanyState[];
  /** Returns whether a company in one of these states belongs in the section. */
  readonly includes: (company: ReportedCompany) => boolean;
  /** Returns the number of companies in the section; null if the counts do not contain it. */
  readonly count: (numbers: { readonly counts: Counts; readonly figures: ReportFigures }) => number | null;
  readonly columns: readonly ReportColumn[];
  readonly cells: (company: ReportedCompany, view: ReportView) => readonly string[];
}

const REFERENCE: ReportColumn = { title: 'Reference', as: 'company' };
const NAME: ReportColumn = { title: 'Name', as: 'company' };
const LINK: ReportColumn = { title: 'Link for the end customer', as: 'link' };
const SWITCH_ON: ReportColumn = { title: 'Switch back on', as: 'short' };

const all = (): boolean => true;
const mustReconnect = ({ failure }: ReportedCompany): boolean => failure === 'reauthorization-required';

const NOT_FINISHED: Section = {
  id: 'not-finished',
  title: 'Not finished',
  states: ['waiting', 'importing', 'syncing', 'outcome-unknown'],
  includes: all,
  count: ({ counts }) => countOpen(counts),
  columns: [REFERENCE, NAME, { title: 'State' }, { title: 'What to do' }, SWITCH_ON],
  cells: (company, { stage, route }) => [
    ...[company.reference, company.name],
    [stateText(company, stage), whyOf(company, stage)].filter(Boolean).join(': '),
    whatToDo(company, { stage, route }),
    switchOn(company, stage),
  ],
};

export const MUST_RECONNECT: Section = {
  id: 'must-reconnect',
  title: 'Must reconnect',
  states: ['failed'],
  includes: mustReconnect,
  count: ({ figures }) => figures.mustReconnect,
  columns: [REFERENCE, NAME, LINK, { title: 'Why' }, SWITCH_ON],
  cells: (company, { stage }) => [
    ...[company.reference, company.name, company.linkUrl ?? NO_LINK, failureOf(company)],
    switchOn(company, stage),
  ],
};

/** Shown if the service has not provided a link. */
export const NO_LINK = 'no link; ask support';

/** Companies whose connections depend on a replaced application. Each is also in the section for its state. */
const replacedSection = (applications: ApplicationsOfMoved): Section => ({
  id: 'replaced-application',
  title: 'Connected with an application that was replaced',
  note: replacedNote(applications),
  states: COMPANY_STATES,
  includes: (company) => company.replacedApplication,
  count: () => null,
  columns: [REFERENCE, NAME, LINK, { title: 'State', as: 'short' }],
  cells: (company, { stage }) => [
    ...[company.reference, company.name, company.linkUrl ?? NO_LINK, stateText(company, stage)],
  ],
});

const NOT_MOVED: Section = {
  id: 'not-moved',
  title: 'Not moved, and what to do',
  states: ['failed'],
  includes: (company) => !mustReconnect(company),
  count: ({ counts, figures }) => counts.failed - figures.mustReconnect,
  columns: [REFERENCE, NAME, { title: 'Why' }, { title: 'Records' }, { title: 'What to do' }, LINK, SWITCH_ON],
  cells: (company, { stage, route }) => [
    ...[company.reference, company.name, failureOf(company), recordsText(company)],
    whatToDo(company, { stage, route }),
    // The section about replaced applications shows the link of a company that depends on one.
    isWronglyConnected(company) ? linkOf(company) : '',
    switchOn(company, stage),
  ],
};

const LEFT_OUT: Section = {
  id: 'left-out',
  title: 'Left out',
  states: ['excluded', 'skipped'],
  includes: all,
  count: ({ counts }) => counts.excluded + counts.skipped,
  columns: [
    ...[REFERENCE, NAME, { title: 'When', as: 'short' } as const, { title: 'By', as: 'short' } as const],
    ...[{ title: 'Reason' }, { title: 'Earlier failure' }, { title: 'Switch back on' }],
  ],
  cells: (company, { stage }) => [
    ...[
      company.reference,
      company.name,
      // A company that was tried can also be excluded, after a retry for example.
      company.state === 'skipped' || company.tries > 0
        ? 'after an attempt to move it'
        : 'before any attempt to move it',
    ],
    ...[company.leftOutBy ?? '', company.leftOutReason ?? '', failureOf(company)],
    isLeftOutAtService(company) ? LEFT_OUT_AT_SERVICE : switchOn(company, stage),
  ],
};

const ASK_ABOUT_IT = 'ask support whether its connection is still in use';

const isLeftOutAtService = ({ state, crossedAt }: ReportedCompany): boolean =>
  LEFT_OUT.states.includes(state) && crossedAt !== null;

/**
 * The text under "Switch back on" for a company that was left out after the service had received its grant. For other
 * companies whose grant the service has, the text is only `never`.
 */
const LEFT_OUT_AT_SERVICE = `never: its access was handed over to the service; ${ASK_ABOUT_IT}`;

const MOVED: Section = {
  id: 'moved',
  title: 'Moved',
  note: 'Never switch the syncing of these companies back on in your own application. Their ids and record counts are in the CSV report.',
  states: ['moved'],
  includes: all,
  count: ({ counts }) => counts.moved,
  columns: [
    ...[REFERENCE, NAME, { title: 'Invoices', as: 'number' } as const, { title: 'Moved', as: 'short' } as const],
    ...[{ title: 'Synced every', as: 'short' } as const, { title: 'Next sync', as: 'short' } as const],
  ],
  cells: (company, { year, now }) => [
    ...[company.reference, company.name, invoicesText(company)],
    company.movedAt === null ? '' : timeText(company.movedAt.toISOString(), year),
    syncIntervalText(company),
    nextSyncText(company, now, (at) => timeText(at, year)),
  ],
};

/**
 * Companies that the migration created at the service but did not move, until they are deleted there. They are deleted
 * after the migration has been closed, unless one of their connections has been authorized or the deletion fails.
 */
const UNUSED: Section = {
  id: 'unused',
  title: 'Created at the service, but not moved',
  note: 'We created these companies for this migration, but did not move them. After the migration has been closed, we delete each company, unless one of its connections has been authorized. If a company is still listed after that, ask support whether it can be deleted.',
  states: ['waiting', 'excluded'],
  includes: ({ companyId, crossedAt, existedBefore }) => companyId !== null && crossedAt === null && !existedBefore,
  count: () => null,
  // A person needs these ids to delete the companies.
  columns: [REFERENCE, NAME, { title: 'Company id' }, { title: 'Connection id' }],
  cells: ({ reference, name, companyId, connectionId }) => [reference, name, companyId ?? '', connectionId ?? ''],
};

/**
 * Returns the sections, in order of urgency. Leaves out the section about replaced applications if there are none,
 * because finding it empty would mean reading every company.
 */
export function sectionsOf(stage: MoveStage, applications: ApplicationsOfMoved): readonly Section[] {
  const replaced = applications.replaced.length > 0 ? [replacedSection(applications)] : [];
  const notFinished = { ...NOT_FINISHED, title: NOT_FINISHED_TITLES[stage] };
  const sections = [notFinished, MUST_RECONNECT, ...replaced, NOT_MOVED, LEFT_OUT, MOVED];
  // Until the migration ends, a company that was created at the service can still be used by a later move.
  return stage === 'ended' ? [...sections, UNUSED] : sections;
}

const NOT_FINISHED_TITLES: Readonly<Record<MoveStage, string>> = {
  open: NOT_FINISHED.title,
  terminated: 'Not moved when the migration was stopped',
  ended: 'Not moved when the migration ended',
};

function stateText({ state, failure }: ReportedCompany, stage: MoveStage): string {
  return clientStateText(state, failure, stage);
}

function whyOf(company: ReportedCompany, stage: MoveStage): string {
  const unreached = company.state === 'waiting' ? unreachedText(stage, company.tries) : null;
  if (unreached !== null)
    return [company.failureText === null ? (company.heldBack ?? []) : failureOf(company), unreached].flat().join('; ');
  if (company.failureText !== null) return failureOf(company);
  return company.heldBack ?? missingCredentialText(company) ?? (company.replacedApplication ? REPLACED_PROBLEM : '');
}

/**
 * Returns the link with which the end customer should reconnect the company; empty if it should not, or has no link.
 */
function linkOf(company: ReportedCompany): string {
  const { state, failure, replacedApplication, linkUrl } = company;
  return needsLink(state, failure, replacedApplication) || isWronglyConnected(company) ? (linkUrl ?? '') : '';
}

/** Returns why a company was not moved, without the technical text of a failed call; empty if no reason is stored. */
function failureOf({ failureText }: ReportedCompany): string {
  return failureText === null ? '' : inClientWords(failureText);
}

function switchOn(company: ReportedCompany, stage: MoveStage): string {
  return REACTIVATION_TEXTS[reactivationOf(company, stage)];
}

/**
 * Returns a company as one row of a spreadsheet, with the facts of all sections.
 *
 * @param aboutApplication what to do because the application of the company was replaced after it was connected; null
 *   if it was not replaced
 */
export function companyRecord(
  company: ReportedCompany,
  { stage, route, now }: Pick<ReportView, 'stage' | 'route' | 'now'>,
  aboutApplication: string | null = null,
): Readonly<Record<string, string>> {
  const { reference, name, storedName, organization, companyId, connectionId } = company;
  return {
    reference,
    name,
    'stored name': storedName ?? '',
    organization,
    outcome: stateText(company, stage),
    why: whyOf(company, stage),
    'what to do':
      spreadsheetAction(company, { stage, route }) ||
      (aboutApplication ?? (company.replacedApplication ? replacedRemedyFor(company.linkUrl) : '')),
    'switch back on': switchOn(company, stage),
    'moved at': dateText(company.movedAt),
    records: recordsText(company),
    'synced every': syncIntervalText(company),
    'next sync': nextSyncText(company, now, momentText),
    'link for the end customer': linkOf(company),
    'left out by': company.leftOutBy ?? '',
    'reason for leaving it out': company.leftOutReason ?? '',
    'company id': companyId ?? '',
    'connection id': connectionId ?? '',
    'correlation ids': correlationIdsText(company),
  };
}

function spreadsheetAction(company: ReportedCompany, view: Pick<ReportView, 'stage' | 'route'>): string {
  if (needsAction(company)) return whatToDo(company, view);
  return isLeftOutAtService(company) ? ASK_ABOUT_IT : '';
}

const needsAction = ({ state }: ReportedCompany): boolean => state === 'failed' || NOT_FINISHED.states.includes(state);
