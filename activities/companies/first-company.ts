/** The activities for the first company, which is moved by the same code as all others, but with full evidence. */
import { clientStateText, leftOutText, notMovedText } from '../../domain/companies/company-state';
import { EVIDENCE_LABELS, type Evidence } from '../../domain/companies/evidence';
import type { FirstCompany } from '../../domain/migration/migration-state';
import { isIsolated, type OutageSource, type StopReason } from '../../domain/companies/failures';
import { chooseFirstCompany, findCompany, type ChosenCompany, type LedgerCompany } from '../../store';
import type { ActivityDeps, MigrationRef } from '../deps';
import { verifySlice } from './verify-slice';
import { importSlice } from './import-slice';
import { recordSliceEnd, recordVerificationEnd, withEarlierStop, type SliceEnd } from './stoppages';

export type FirstCompanyProgress =
  | { readonly result: FirstCompany }
  | { readonly stop: StopReason }
  /**
   * The company is not finished. `outageReason`: the outage or failure that delays the company; null if there is none.
   * `outageSource`, and `outageSince` in ISO 8601, UTC: absent if this attempt has not encountered an outage.
   */
  | {
      readonly retryInMs: number;
      readonly outageReason: string | null;
      readonly outageSource?: OutageSource;
      readonly outageSince?: string;
    };

/** The run in which the first company is moved. */
export const FIRST_COMPANY_RUN = 'first-company';
const CHECK_EVERY_MS = 1_000;

/** Joins the ends of both slices. Names the company only if the reason can concern a single company. */
function endOf(imported: SliceEnd, checked: SliceEnd | null, company: LedgerCompany | undefined): SliceEnd {
  const stop = imported.stop ?? checked?.stop ?? null;
  const stopNumbers = company && stop !== null && isIsolated(stop) ? `affected: company ${company.reference}` : null;
  return { stop, stopNumbers, outage: imported.outage ?? checked?.outage ?? null };
}

/** Returns why the company was not moved, for people. */
function notMovedDetail({ state, failure, failureText, leftOutReason }: LedgerCompany): string {
  return state === 'skipped' || state === 'excluded'
    ? notMovedText('left-out', leftOutText(leftOutReason, failureText))
    : (failureText ?? clientStateText(state, failure));
}

export function firstCompanyActivities(deps: ActivityDeps) {
  const { db } = deps;
  return {
    /**
     * Chooses the first company: the requested company or, if none is requested, the next company by wave and row that
     * can be moved. Keeps an earlier choice if its move has begun.
     *
     * @returns null if no company can be chosen
     */
    async chooseFirstCompany({ migrationId }: MigrationRef): Promise<ChosenCompany | null> {
      return chooseFirstCompany(db, migrationId, FIRST_COMPANY_RUN);
    },

    /** Imports the company if it is waiting, and checks it if a check is due. */
    async advanceFirstCompany(
      step: MigrationRef & { readonly row: number; readonly ledgerMark: number },
    ): Promise<FirstCompanyProgress> {
      const { migrationId, row: onlyRow, ledgerMark } = step;
      const imported = await importSlice(deps, { migrationId, run: FIRST_COMPANY_RUN, slice: 1, onlyRow, ledgerMark });
      const checked = imported.stop ? null : await verifySlice(deps, { migrationId, onlyRow, countEveryDataSet: true });
      const company = await findCompany(db, migrationId, { row: onlyRow });
      const end = await withEarlierStop(db, migrationId, endOf(imported, checked, company));
      // Records one end for both slices, so that neither ends an outage that the other reports. Only an import that got
      // through can end an outage of the platform.
      if (imported.lastThroughAt !== null || !checked)
        await recordSliceEnd(db, migrationId, { ...end, lastThroughAt: imported.lastThroughAt });
      else await recordVerificationEnd(db, migrationId, { ...end, lastThroughAt: checked.lastThroughAt });
      if (end.stop) return { stop: end.stop };
      if (!company) throw new Error(`row ${onlyRow} is not in the ledger`);
      const { row, reference, failure } = company;
      const checkedAt = new Date().toISOString();
      switch (company.state) {
        case 'moved':
          return {
            result: { row, reference, stage: 'verified', failure, evidence: company.evidence ?? [], checkedAt },
          };
        case 'failed':
        case 'outcome-unknown':
        case 'skipped':
        case 'excluded': {
          const { correlationId } = company;
          const notMoved: Evidence = {
            code: 'moved',
            label: EVIDENCE_LABELS.moved,
            passed: false,
            detail: notMovedDetail(company),
            ...(correlationId !== null && { correlationId }),
          };
          return {
            result: {
              ...{ row, reference, stage: 'failed', failure, checkedAt },
              evidence: [...(company.evidence ?? []), notMoved],
            },
          };
        }
        case 'waiting':
        case 'importing':
        case 'syncing': {
          const { why = null, source, since } = end.outage ?? {};
          return {
            retryInMs: CHECK_EVERY_MS,
            outageReason: company.failureText ?? why,
            ...(source && { outageSource: source }),
            ...(since !== undefined && { outageSince: new Date(since).toISOString() }),
          };
        }
      }
    },
  };
}
