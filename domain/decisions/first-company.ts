/** The first company: its choice before the move, and its rejection or retry after the move. */
import type { Companies, FirstCompanyChoice, StepDecision } from '../migration/decision';
import type { FirstCompany, MigrationState } from '../migration/migration-state';
import { isFirstCompanyRetry } from './preconditions';
import { applied, refused, withoutApprovals, type Ruling } from './ruling';

const STEP = 'migrate-first-company';

/**
 * Chooses the first company. If the previously chosen company has been moved or has failed, the choice replaces that
 * company or, if it is the same company, tries it again.
 */
export function chooseFirstCompany(state: MigrationState, { reference }: FirstCompanyChoice): Ruling {
  const { firstCompany } = state;
  if (firstCompany?.reference === reference) return firstAgain(state, firstCompany);
  const instead = firstCompany
    ? ` instead of ${firstCompany.reference}, which was ${firstCompany.stage === 'failed' ? 'not moved' : 'moved'}`
    : '';
  return applied(withFirst(state, reference), `${reference} goes first${instead}`);
}

export function rejectFirstCompany(state: MigrationState, { afterwards }: StepDecision): Ruling {
  const { firstCompany } = state;
  if (!firstCompany || !afterwards) return refused('the first company has no result yet');
  switch (afterwards.next) {
    case 'abandon':
      return applied({ ...state, closed: 'abandoned' }, 'the migration is abandoned');
    case 'same-company':
      if (afterwards.reference !== undefined && afterwards.reference !== firstCompany.reference)
        return refused(`the first company is ${firstCompany.reference}, not ${afterwards.reference}`);
      return firstAgain(state, firstCompany);
    case 'another-company':
      return applied(withFirst(state, afterwards.reference), `${afterwards.reference} goes first`);
  }
}

function firstAgain(state: MigrationState, { reference, stage }: FirstCompany): Ruling {
  return applied(
    withFirst(state, reference),
    stage === 'verified'
      ? `${reference} will be checked again; it has moved, so no data is synced again for the checks`
      : `${reference} will be tried again`,
  );
}

/**
 * Applies a retry or a new credential to the first company, in step 5.
 *
 * @returns null in any other step, or if the first company is not one of these companies or has not failed
 */
export function withFirstCompanyRetried(state: MigrationState, companies: Companies): MigrationState | null {
  const { firstCompany } = state;
  return firstCompany && isFirstCompanyRetry(companies, state) ? withFirst(state, firstCompany.reference) : null;
}

/** Chooses the company, and withdraws approvals, because they were given for a different company or result. */
function withFirst(state: MigrationState, reference: string): MigrationState {
  return { ...withoutApprovals(state, STEP), firstCompany: null, requestedFirst: { reference, notReady: false } };
}
