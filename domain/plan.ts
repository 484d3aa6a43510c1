/** What a migration is started with. It stays small and carries no company, no name of a person and no credential. */

export interface MigrationLimits {
  /** Slices that import at the same time. */
  readonly slicesAtOnce: number;
  /** Companies that one slice imports at the same time; times `slicesAtOnce` this is the companies at once. */
  readonly companiesPerSliceAtOnce: number;
  /** After this long in `syncing` a company counts as failed. Milliseconds. */
  readonly syncTimeoutMs: number;
}

export interface MigrationPlan {
  /** `<client>.<platform>[.<label>]`: also the workflow's id. */
  readonly migrationId: string;
  /** The client's key: letters, digits and hyphens, never a business's name. */
  readonly client: string;
  /** Four letters, as in the platform table. */
  readonly platformKey: string;
  /** Whom the client calls when something is unclear: a team, a number or an address. */
  readonly contact: string;
  /** Where the first company is to be this one; otherwise it is the first that can be moved. */
  readonly firstCompanyRow: number | null;
  readonly limits: MigrationLimits;
}

export const DEFAULT_LIMITS: MigrationLimits = {
  slicesAtOnce: 4,
  companiesPerSliceAtOnce: 8,
  syncTimeoutMs: 36 * 60 * 60 * 1000,
};

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
