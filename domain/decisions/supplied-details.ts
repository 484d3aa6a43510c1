/** Details that change after they were supplied: checked again, and accepted or signed off again. */
import { withoutApprovals } from './approvals';
import type { ApplicationSupplied, ManifestAmended } from '../migration/decision';
import type { Ruling } from './ruling';
import { applied } from './ruling';
import type { MigrationState } from '../migration/migration-state';
import { counted } from '../text/sentences';

export function applicationSupplied(state: MigrationState, decision: ApplicationSupplied): Ruling {
  const { clientId, environment, by } = decision;
  return applied(suppliedBy(by, withDetailsChanged(state)), `the application is ${clientId} (${environment})`);
}

export function manifestAmended(state: MigrationState, { added, corrected, by }: ManifestAmended): Ruling {
  const text = `${counted(added, 'company')} added, ${counted(corrected, 'company')} corrected`;
  return applied(suppliedBy(by, withDetailsChanged(state)), text);
}

function suppliedBy(name: string, state: MigrationState): MigrationState {
  return { ...state, suppliers: [...new Set([...state.suppliers, name])] };
}

/** What is new is checked, and whoever has accepted or signed off what was there before does so again. */
export function withDetailsChanged(state: MigrationState): MigrationState {
  const accepting = state.step === 'supply-details';
  return {
    ...withoutApprovals(state, accepting ? 'supply-details' : 'complete-migration'),
    changes: state.changes + 1,
    ...(accepting ? { preflight: null } : {}),
  };
}
