/**
 * Digests: a decision can carry the digest of what its sender reviewed, and is refused if that has changed.
 *
 * The code in `client/`, which reads the state that people review, and the workflow, which checks the decision, compute
 * digests with the same function.
 */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex } from '@noble/hashes/utils';
import type { MigrationState } from '../migration/migration-state';
import { canonicalJson } from '../migration/signatures';
import type { Step } from '../migration/steps';
import type { MigrationLimits } from '../planning/limits';

/** The parts of the state that people review before they decide. */
export interface ReviewedState extends Pick<MigrationState, 'preflight' | 'proposal' | 'firstCompany' | 'counts'> {
  readonly windows: MigrationLimits['windows'];
}

/** For each step, a function that returns the part of the state that people review before they decide. */
const REVIEWED: Readonly<Record<Step, (state: ReviewedState) => unknown>> = {
  'supply-details': ({ preflight }) => preflight,
  schedule: ({ proposal, windows }) => ({ proposal, windows }),
  'update-application': ({ preflight }) => preflight?.callbackUrl,
  'disable-syncing': ({ preflight }) => preflight?.manifestDigest,
  'migrate-first-company': ({ firstCompany }) => firstCompany,
  // The counts contain a digest of the companies that were not moved.
  'complete-migration': ({ counts }) => counts,
};

/** Returns the digest of the part of the state that people review for a step: 32 hexadecimal digits. */
export function digestOf(step: Step, state: ReviewedState): string {
  return bytesToHex(sha256(canonicalJson({ step, about: REVIEWED[step](state) ?? null }))).slice(0, 32);
}
