/** The first company: moved and checked by the same code as all others, and its evidence gathered. */
import type { FirstCompany } from '../domain/migration-state';
import type { StopReason } from '../domain/failures';
import { beginRun, chooseFirst, findCompany } from '../store';
import { checkDue, importGroups } from './crossing';
import type { ActivityDeps } from './deps';

export type FirstCompanyStep =
  { readonly result: FirstCompany } | { readonly stop: StopReason } | { readonly againInMs: number };

const RUN = 'first-company';
const LOOK_EVERY_MS = 1_000;

export function firstCompanyActivities(deps: ActivityDeps) {
  const { db } = deps;
  return {
    /** The wanted company, put back to be moved again if it has failed; otherwise the first that can be moved. */
    async chooseFirstCompany(choice: {
      readonly migrationId: string;
      readonly wanted: number | null;
    }): Promise<{ row: number; reference: string } | null> {
      await beginRun(db, choice.migrationId, RUN);
      return chooseFirst(db, choice.migrationId, choice.wanted);
    },

    /** One step forward: claim and import it, or look at its sync. */
    async advanceFirstCompany(step: {
      readonly migrationId: string;
      readonly row: number;
      readonly syncTimeoutMs: number;
    }): Promise<FirstCompanyStep> {
      const only = { migrationId: step.migrationId, atOnce: 1, onlyRow: step.row };
      const imported = await importGroups(deps, { ...only, run: RUN, slice: 1 });
      if (imported.stop) return { stop: imported.stop };
      const checked = await checkDue(deps, { ...only, syncTimeoutMs: step.syncTimeoutMs });
      if (checked.stop) return { stop: checked.stop };
      const company = await findCompany(db, step.migrationId, { row: step.row });
      if (!company) throw new Error(`row ${step.row} is not in the ledger`);
      const { row, reference, failure } = company;
      switch (company.state) {
        case 'migrated':
          return { result: { row, reference, stage: 'proven', failure, evidence: company.evidence ?? [] } };
        case 'failed':
        case 'outcome-unknown':
        case 'skipped':
        case 'excluded': {
          const why = { check: 'moved', passed: false, detail: company.failureText ?? company.state };
          return { result: { row, reference, stage: 'failed', failure, evidence: [...(company.evidence ?? []), why] } };
        }
        case 'waiting':
        case 'importing':
        case 'syncing':
          return { againInMs: LOOK_EVERY_MS };
      }
    },
  };
}
