/** What becomes of companies: left out before their move, given up, tried again, connected again, with a new credential. */
import { withoutApprovals } from './approvals';
import { movableCompanies } from '../companies/company-state';
import type { CredentialsReplaced, LeftOut, TriedAgain } from '../migration/decision';
import { withDetailsChanged } from './supplied-details';
import { withFirstAgain } from './first-company';
import type { Ruling } from './ruling';
import { applied, howMany, refused } from './ruling';
import type { MigrationState } from '../migration/migration-state';
import { actsAsSupport, isBeforeMoving } from './self-service';

/** Before its move a company is left out by either side. */
export function leaveOut(state: MigrationState, { companies, reason }: LeftOut): Ruling {
  const left = state.step === 'supply-details' ? withDetailsChanged(state) : settled(state);
  return applied(left, `${howMany(companies)} left out: ${reason}`);
}

export function decideExceptions(state: MigrationState, decision: LeftOut | TriedAgain): Ruling {
  if (!actsAsSupport(state, decision.role))
    return refused('what becomes of companies that were not moved is settled by support');
  const companies = howMany(decision.companies);
  const firstAgain = decision.kind === 'retry' ? withFirstAgain(state, decision.companies) : null;
  if (firstAgain) return applied(firstAgain, `${companies} tried again`);
  if (decision.kind === 'retry' && isBeforeMoving(state)) {
    return applied(withDetailsChanged(state), 'what was supplied is checked again');
  }
  if (state.step !== 'complete-migration') {
    return refused('exceptions are settled while the remaining companies are moved');
  }
  if (nothingFailed(state)) return refused('no company is left that was not moved');
  switch (decision.kind) {
    case 'retry':
      return applied(settled(state), `${companies} tried again`);
    case 'relink':
      return applied(
        { ...settled(state), relinking: state.relinking + 1 },
        `${companies} checked again as soon as the end customer has connected`,
      );
    case 'exclude':
    case 'skip':
      return applied(settled(state), `${companies} given up: ${decision.reason}`);
  }
}

export function replaceCredentials(state: MigrationState, { role, companies }: CredentialsReplaced): Ruling {
  if (!actsAsSupport(state, role)) return refused('that a credential is replaced is decided by support');
  if (nothingFailed(state)) return refused('no company is left that was not moved');
  const text = `${howMany(companies)} moved again with a new credential`;
  return applied(withFirstAgain(state, companies) ?? settled(state), text);
}

/** Whoever has signed off already has signed another outcome. */
function settled(state: MigrationState): MigrationState {
  return withoutApprovals(state, 'complete-migration');
}

/** While the rest is on its way, some may have failed since they were counted: then the ledger knows. */
function nothingFailed({ step, counts }: MigrationState): boolean {
  const countsAreOld = step === 'complete-migration' && movableCompanies(counts) > 0;
  return counts.failed + counts.outcomeUnknown === 0 && !countsAreOld;
}
