/** Which company goes first: chosen before it is moved, rejected after, tried again. */
import { withoutApprovals } from './approvals';
import type { Companies, FirstCompanyChosen, StepDecision } from '../migration/decision';
import type { Ruling } from './ruling';
import { applied, refused } from './ruling';
import type { MigrationState } from '../migration/migration-state';

const STEP = 'migrate-first-company';

/** Before a company is moved it is chosen freely; afterwards a choice of another is a rejection of that one. */
export function chooseFirstCompany(state: MigrationState, { role, reference }: FirstCompanyChosen): Ruling {
  if (role !== 'support') return refused('which company goes first is chosen by support');
  if (state.steps[STEP]?.endedAt) return refused(`${STEP} has ended already`);
  const { firstCompany } = state;
  if (firstCompany?.stage === 'importing') return refused(`${firstCompany.reference} is being moved already`);
  const instead = firstCompany ? ` after ${firstCompany.reference}, which was ${firstCompany.stage}` : '';
  return applied(withFirst(state, reference), `${reference} goes first${instead}`);
}

export function rejectFirstCompany(state: MigrationState, { afterwards }: StepDecision): Ruling {
  const { firstCompany } = state;
  if (!firstCompany || firstCompany.stage === 'importing') return refused('there is no result of a first company yet');
  if (state.steps[STEP]?.endedAt) return refused(`${STEP} has ended already`);
  switch (afterwards?.next) {
    case undefined:
      return refused('a rejection says what is next: same-company, another-company or abandon');
    case 'abandon':
      return applied({ ...state, closed: 'abandoned' }, 'the migration is abandoned');
    case 'same-company':
      return applied(withFirst(state, firstCompany.reference), `${firstCompany.reference} again`);
    case 'another-company':
      return applied(withFirst(state, afterwards.reference), `${afterwards.reference} goes first`);
  }
}

/** In step 5 a company that is tried again is the first one; null: it is not, or another step is open. */
export function withFirstAgain(state: MigrationState, companies: Companies): MigrationState | null {
  const { step, firstCompany } = state;
  if (step !== STEP || firstCompany?.stage !== 'failed') return null;
  const { reference } = firstCompany;
  return companies === 'all' || companies.includes(reference) ? withFirst(state, reference) : null;
}

/** Whoever has approved another one, in the same moment perhaps, has not approved this one. */
function withFirst(state: MigrationState, reference: string): MigrationState {
  return { ...withoutApprovals(state, STEP), firstCompany: null, wantedFirst: { reference, heldUp: false } };
}
