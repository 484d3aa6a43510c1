/** What a migration is started with. It stays small and carries no company and no credential; of people only approvers' names. */

import type { MigrationLimits } from '../planning/limits';
import type { Route } from '../../platforms/platforms';
import type { Approver } from './signatures';

/** How decisions are taken in a migration. */
export interface DecisionRules {
  /** Whether an approval has to carry the digest of what its sender saw. */
  readonly digestObligatory: boolean;
  /** Whether who supplied or proposed something may not approve it, nor one person sign for both roles. */
  readonly fourEyes: boolean;
  /** Whose decisions count, by their signatures; null: what a sender says of itself is taken as said. */
  readonly approvers: readonly Approver[] | null;
}

export interface MigrationPlan {
  /** `<client>.<platform>[.<label>]`: also the workflow's id. */
  readonly migrationId: string;
  /** The client's key: letters, digits and hyphens, never a business's name. */
  readonly client: string;
  readonly route: Route;
  /** Four letters, as in the platform table. */
  readonly platformKey: string;
  /** Whom the client calls when something is unclear: a team, a number or an address. */
  readonly contact: string;
  /** The company that goes first, by its reference; null: the first that can be moved. */
  readonly firstCompany: string | null;
  /** As they were at the start; `adjust` changes those in the migration's state and in the ledger. */
  readonly limits: MigrationLimits;
  readonly decisions: DecisionRules;
}

export const DEFAULT_DECISION_RULES: DecisionRules = { digestObligatory: false, fourEyes: false, approvers: null };

/** A word of an id: what Temporal, URLs and shells all take without quoting. */
const ID_WORD = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

export function isIdWord(word: string): boolean {
  return ID_WORD.test(word);
}

/** `<client>.<platform>[.<label>]`, of words that `isIdWord` accepts. */
export function migrationIdOf(client: string, platformSlug: string, label?: string): string {
  return label === undefined ? `${client}.${platformSlug}` : `${client}.${platformSlug}.${label}`;
}

/** The workflow id of a migration's batch run: one at a time, whoever starts it. */
export function batchRunIdOf(migrationId: string): string {
  return `${migrationId}.batch`;
}

const SCHEDULE_ENDING = '.windows';

/** The id of the Schedule that opens a migration's windows. */
export function scheduleIdOf(migrationId: string): string {
  return `${migrationId}${SCHEDULE_ENDING}`;
}

/** The type of the workflow that a migration's Schedule starts. */
export const OPEN_WINDOW = 'openWindow';

/** A Schedule as Temporal lists it. */
interface ListedSchedule {
  readonly scheduleId: string;
  readonly action?: { readonly workflowType: string };
}

/** Whose windows a Schedule opens; undefined: it is another's, whatever it is called. */
export function migrationOfSchedule({ scheduleId, action }: ListedSchedule): string | undefined {
  const isOurs = action?.workflowType === OPEN_WINDOW && scheduleId.endsWith(SCHEDULE_ENDING);
  return isOurs ? scheduleId.slice(0, -SCHEDULE_ENDING.length) : undefined;
}
