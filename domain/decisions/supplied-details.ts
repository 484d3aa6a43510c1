/** Changes to the supplied details, which are then checked again and must be accepted or signed off again. */
import { applied, withoutApprovals, withSupplier, type Ruling } from './ruling';
import type { ApplicationSupplied, ManifestAmended, ManifestSupplied } from '../migration/decision';
import type { MigrationState, Reopened } from '../migration/migration-state';
import { APPLICATION_IS } from '../migration/pauses';
import { counted } from '../text/sentences';

export function applicationSupplied(state: MigrationState, decision: ApplicationSupplied): Ruling {
  const { clientId, environment, by } = decision;
  // The approvals of step 3 were given for the callback URL of another application.
  const changed = state.step === 'supply-details' ? withoutApprovals(state, 'update-application') : state;
  return applied(withSupplier(withDetailsChanged(changed), by), `${APPLICATION_IS}${clientId} (${environment})`);
}

export function manifestSupplied(state: MigrationState, { companies, by }: ManifestSupplied): Ruling {
  return applied(withSupplier(withDetailsChanged(state), by), `the manifest has ${counted(companies, 'company')}`);
}

export function manifestAmended(state: MigrationState, { added, corrected, by }: ManifestAmended): Ruling {
  const text = `${counted(added, 'company')} added, ${counted(corrected, 'company')} corrected`;
  return applied(withSupplier(withDetailsChanged(state), by), text);
}

/** Requests another check and withdraws approvals, because they were given for the old details. */
export function withDetailsChanged(state: MigrationState): MigrationState {
  const isFirstStep = state.step === 'supply-details';
  const { asksForChanges, ...reopened } = state.reopened ?? {};
  return {
    ...withoutApprovals(state, isFirstStep ? 'supply-details' : 'complete-migration'),
    changes: state.changes + 1,
    ...(asksForChanges ? { reopened: reopened as Reopened } : {}),
    ...(isFirstStep ? { preflight: null } : {}),
  };
}
