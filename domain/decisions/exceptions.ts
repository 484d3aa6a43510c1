/** Exceptions: decisions to leave companies out, retry them, relink them, or replace their credentials. */
import type { CredentialReplacement, LeaveOut, Retry } from '../migration/decision';
import type { MigrationState } from '../migration/migration-state';
import { ALL_TO_RECONNECT, ALL_WITH_EXCEPTION, DETAILS_CHECKED_AGAIN } from '../migration/partial-outcome';
import { withFirstCompanyRetried } from './first-company';
import { applied, companiesText, withoutSignOff, type Ruling } from './ruling';
import { isBeforeMoving } from './self-service';
import { withDetailsChanged } from './supplied-details';

/** Applies `exclude`: leaves companies out before they are moved. In the managed route, either side can decide this. */
export function leaveOut(state: MigrationState, { companies, reason }: LeaveOut): Ruling {
  const changed = state.step === 'supply-details' ? withDetailsChanged(state) : withoutSignOff(state);
  return applied(changed, `${companiesText(companies)} left out: ${reason}`);
}

/** Applies `skip`, `retry` and `relink`. */
export function decideExceptions(state: MigrationState, decision: LeaveOut | Retry): Ruling {
  const companies = companiesText(decision.companies);
  const firstAgain = decision.kind === 'retry' ? withFirstCompanyRetried(state, decision.companies) : null;
  if (firstAgain)
    return applied(firstAgain, `${decision.companies === 'all' ? 'the first company' : companies} will be tried again`);
  if (decision.kind === 'retry' && isBeforeMoving(state)) {
    return applied(withDetailsChanged(state), DETAILS_CHECKED_AGAIN);
  }
  switch (decision.kind) {
    case 'retry':
      return applied(
        withoutSignOff(state),
        `${decision.companies === 'all' ? ALL_WITH_EXCEPTION : companies} will be tried again`,
      );
    case 'relink':
      return applied(
        { ...withoutSignOff(state), relinking: state.relinking + 1 },
        `${decision.companies === 'all' ? ALL_TO_RECONNECT : companies} will be checked once reconnected by the end customer`,
      );
    case 'exclude':
    case 'skip':
      return applied(withoutSignOff(state), `${companies} will not be moved: ${decision.reason}`);
  }
}

export function replaceCredentials(state: MigrationState, { companies }: CredentialReplacement): Ruling {
  const text = `${companiesText(companies)} will be tried again with a new credential`;
  return applied(withFirstCompanyRetried(state, companies) ?? withoutSignOff(state), text);
}
