import type { Companies } from '../migration/decision';
import type { MigrationState } from '../migration/migration-state';
import { counted } from '../text/sentences';

/** What becomes of a decision: the state after it, and what was changed; no state: refused, and why. */
export interface Ruling {
  readonly state: MigrationState | null;
  readonly text: string;
}

export const refused = (text: string): Ruling => ({ state: null, text });
export const applied = (state: MigrationState, text: string): Ruling => ({ state, text });

/** The companies that a decision is about, by their number. */
export function howMany(companies: Companies): string {
  return companies === 'all' ? 'all companies' : counted(companies.length, 'company');
}
