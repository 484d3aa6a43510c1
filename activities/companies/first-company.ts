/** The first company: moved and checked by the same code as all others, and its evidence gathered. */
import type { FirstCompany } from '../../domain/migration/migration-state';
import type { StopReason } from '../../domain/companies/failures';
import { beginRun, chooseFirstCompany, findCompany } from '../../store';
import { verifySlice, importSlice } from './slices';
import type { ActivityDeps } from '../deps';

export type FirstCompanyStep =
  | { readonly result: FirstCompany }
  | { readonly stop: StopReason }
  /** With what holds it up, if anything does. */
  | { readonly againInMs: number; readonly heldUpBy: string | null };

const RUN = 'first-company';
const LOOK_EVERY_MS = 1_000;

export function firstCompanyActivities(deps: ActivityDeps) {
  const { db } = deps;
  return {
    /** The wanted company, put back to be moved again if it has failed; otherwise the first that can be moved. */
    async chooseFirstCompany(choice: {
      readonly migrationId: string;
      readonly wanted: string | null;
    }): Promise<{ row: number; reference: string } | null> {
      await beginRun(db, choice.migrationId, RUN);
      return chooseFirstCompany(db, choice.migrationId, choice.wanted);
    },

    /** One step forward: claim and import it, or look at its sync. */
    async advanceFirstCompany(step: { readonly migrationId: string; readonly row: number }): Promise<FirstCompanyStep> {
      const { migrationId, row: onlyRow } = step;
      const imported = await importSlice(deps, { migrationId, run: RUN, slice: 1, onlyRow });
      if (imported.stop) return { stop: imported.stop };
      const checked = await verifySlice(deps, { migrationId, onlyRow, everyDataSet: true });
      if (checked.stop) return { stop: checked.stop };
      const company = await findCompany(db, migrationId, { row: onlyRow });
      if (!company) throw new Error(`row ${onlyRow} is not in the ledger`);
      const { row, reference, failure } = company;
      switch (company.state) {
        case 'migrated':
          return { result: { row, reference, stage: 'proven', failure, evidence: company.evidence ?? [] } };
        case 'failed':
        case 'outcome-unknown':
        case 'skipped':
        case 'excluded': {
          const { correlationId } = company;
          const quoted = correlationId === null ? {} : { correlationId };
          const why = { check: 'moved', passed: false, detail: company.failureText ?? company.state, ...quoted };
          return { result: { row, reference, stage: 'failed', failure, evidence: [...(company.evidence ?? []), why] } };
        }
        case 'waiting':
        case 'importing':
        case 'syncing':
          return { againInMs: LOOK_EVERY_MS, heldUpBy: company.failureText ?? checked.blocked?.why ?? null };
      }
    },
  };
}
