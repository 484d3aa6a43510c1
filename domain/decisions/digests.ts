/**
 * Digests: a decision can carry the one of exactly what its sender saw, and is refused when that has changed since.
 *
 * Both sides make them of the same things with the same function: whoever shows something, and the migration.
 */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex } from '@noble/hashes/utils';
import { canonicalJson } from '../migration/canonical-json';
import type { MigrationLimits } from '../planning/limits';
import type { MigrationState } from '../migration/migration-state';
import type { Step } from '../migration/steps';

/** What people see before they decide. */
export interface ReviewedState extends Pick<MigrationState, 'preflight' | 'proposal' | 'firstCompany' | 'counts'> {
  readonly windows: MigrationLimits['windows'];
}

/** What a decision about a step is about. */
const SUBJECTS: Readonly<Record<Step, (seen: ReviewedState) => unknown>> = {
  'supply-details': ({ preflight }) => preflight,
  schedule: ({ proposal, windows }) => ({ proposal, windows }),
  'update-application': ({ preflight }) => preflight?.callbackUrl,
  'disable-syncing': ({ preflight }) => preflight?.manifestDigest,
  'migrate-first-company': ({ firstCompany }) => firstCompany,
  // With them the digest of the companies that were not moved.
  'complete-migration': ({ counts }) => counts,
};

/** Of what there is to see about a step now. 32 hexadecimal digits. */
export function digestOf(step: Step, seen: ReviewedState): string {
  return bytesToHex(sha256(canonicalJson({ step, about: SUBJECTS[step](seen) ?? null }))).slice(0, 32);
}
