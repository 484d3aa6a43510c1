/** Suggests commands that choose the first company. */
import type { FailureKind } from '../../domain/companies/failures';
import type { FirstCompany } from '../../domain/migration/migration-state';
import type { Role } from '../../domain/migration/steps';
import type { Progress } from '../../domain/progress/progress';
import type { MigrationClient } from '../../client';
import { readSuggestedCompanies, type SuggestedCompanies } from '../../store';
import { byClient, byClientNamed, bySupport, WITH_REASON, type NextCommand } from './remedy-commands';
import { shellQuoted } from '../../domain/text/shell-quoted';

/** The failures of a first company after which the same credential cannot help. */
const NEED_NEW_CREDENTIAL: readonly (FailureKind | null)[] = [
  'reauthorization-required',
  'wrong-organization',
  'credential-unreadable',
];

/** The failures of a first company whose credential the service has accepted, so that it is not sent again. */
const AFTER_ACCEPTANCE: readonly (FailureKind | null)[] = ['incomplete', 'sync-failed', 'sync-timed-out'];

/** Suggests the commands that try the first company again after it was not moved. */
export function firstAgain(id: string, { reference, failure }: FirstCompany): readonly NextCommand[] {
  const again = bySupport(chooseFirstCommand(id, reference));
  if (AFTER_ACCEPTANCE.includes(failure)) return [{ ...again, does: `syncs and checks ${reference} again` }];
  if (!NEED_NEW_CREDENTIAL.includes(failure))
    return [{ ...again, does: `tries ${reference} again with the same credential` }];
  const replacement = {
    ...bySupport(`ferry replace-credential ${id} new-credentials.csv`),
    does: `tries ${reference} again with a new credential from the client`,
  };
  // Before step 6, only another try finds out that the end customer has reconnected.
  const reconnected = { ...again, does: `tries ${reference} again; ${ONCE_RECONNECTED}` };
  return failure === 'reauthorization-required' ? [replacement, reconnected] : [replacement];
}

const ONCE_RECONNECTED = 'helps only once its end customer has reconnected';

/** Says on what condition another try of a first company helps; null if the same credential can help. */
export function limitOfAnotherTry({ failure }: FirstCompany): string | null {
  if (failure === 'reauthorization-required') return ONCE_RECONNECTED;
  return NEED_NEW_CREDENTIAL.includes(failure) ? 'helps only with a new credential from the client' : null;
}

/** Suggests another first company, or listing the companies to choose from; nothing if no company is waiting. */
export function anotherFirst(
  { migrationId: id, counts }: Progress,
  { firstCandidate, firstUnconfirmed }: SuggestedCompanies,
): readonly NextCommand[] {
  if (firstCandidate === null) {
    if (counts.waiting === 0) return [];
    // Without the ledger, it is not known whether a company is ready.
    const isRead = firstUnconfirmed !== null;
    const does = isRead
      ? `lists the companies that have not moved yet; ${NONE_READY}`
      : 'lists the companies to choose from';
    return [{ ...bySupport(`ferry companies ${id} --state not-moved-yet`), does }];
  }
  return [{ ...bySupport(chooseFirstCommand(id, firstCandidate)), does: `lets ${firstCandidate} go first instead` }];
}

/** Printed if no other company could go first, or if the migration has no other company. */
const NONE_READY =
  'no other company is ready to go first (each needs a usable credential and the confirmation that syncing is off, and must not be held back)';

/**
 * Returns the command that chooses this company to go first. Puts the reference after `--` if it begins with a hyphen;
 * otherwise it would be taken for an option.
 */
function chooseFirstCommand(id: string, reference: string, kept = PLACEHOLDER_REASON): string {
  const word = shellQuoted(reference);
  return reference.startsWith('-')
    ? `ferry first-company ${id} --reason ${kept} -- ${word}`
    : `ferry first-company ${id} ${word} --reason ${kept}`;
}

/** The options of a decision that a suggested decision of the same person keeps. */
export interface KeptOptions {
  readonly reason?: string | undefined;
  readonly validUntil?: Date | undefined;
  /** The name that the person gave with `--by`; absent if it is the default. */
  readonly givenBy?: string | undefined;
}

interface Choice extends KeptOptions {
  /** Absent if the person has named no company. */
  readonly company?: string;
  readonly as: Role;
  readonly by: string;
}

const PLACEHOLDER_REASON = '"why"';

/** Returns the text that follows `--reason` in a command: the reason or a placeholder, and the other kept options. */
export function keptOptions({ reason, givenBy, validUntil }: KeptOptions): string {
  return [
    reason === undefined ? PLACEHOLDER_REASON : shellQuoted(reason),
    ...(givenBy === undefined ? [] : [`--by ${shellQuoted(givenBy)}`]),
    ...(validUntil === undefined ? [] : [`--valid-until ${validUntil.toISOString()}`]),
  ].join(' ');
}

/** Says how to choose the company that moves first and, if the person has named no company, how to list companies. */
export function choiceText(id: string, { company, as, ...kept }: Omit<Choice, 'by'>): string {
  if (company === undefined)
    return `list the companies with: ferry companies ${id} --state not-moved-yet; then choose one with: ferry first-company ${id} "reference of the company" --reason "why"`;
  return as === 'client'
    ? `support chooses the company with: ${chooseFirstCommand(id, company, keptOptions({ reason: kept.reason }))}`
    : `to choose the company that moves first: ${chooseFirstCommand(id, company, keptOptions(kept))}`;
}

/** Says what to do instead of adding `--company` or `--next` to a rejection that is not of the first company. */
export function insteadText(id: string, { next, ...choice }: Choice & { readonly next?: string }): string {
  if (choice.company !== undefined) return choiceText(id, choice);
  if (next !== 'abandon') return 'run the command again without --next';
  const { as, by, ...kept } = choice;
  const options =
    as === 'client' ? `${keptOptions({ ...kept, givenBy: undefined })} ${byClientNamed(by)}` : keptOptions(kept);
  return `to end the migration, run: ferry cancel ${id} --reason ${options}`;
}

/**
 * Says how to try the rejected company again, and how to try another company. Names a company that could go first, if
 * the ledger has one.
 *
 * @param command the rejection, without what to try next
 * @returns `same` is null if the rejected company was left out
 */
export async function choicesAfterRejection(
  { db }: MigrationClient,
  migrationId: string,
  rejected: string | null,
  command: string,
): Promise<{ readonly same: string | null; readonly another: string }> {
  const same = `to try the same company again: ${command} --next same-company`;
  if (!db) return { same, another: `to try another company: ${command} --company "reference of the company"` };
  const { firstCandidate, firstLeftOut } = await readSuggestedCompanies(db, migrationId, rejected);
  const another =
    firstCandidate === null
      ? `${NONE_READY}; to see the companies that have not moved yet, run: ferry companies ${migrationId} --state not-moved-yet`
      : `to try another company: ${command} ${companyOption(firstCandidate)}`;
  return { same: firstLeftOut ? null : same, another };
}

/**
 * Formats the option with an equals sign if the reference begins with a hyphen; otherwise, it would be taken for an
 * option.
 */
const companyOption = (reference: string): string =>
  reference.startsWith('-') ? `--company=${shellQuoted(reference)}` : `--company ${shellQuoted(reference)}`;

/** Suggests what to do if no company is left to move. */
export function addingOrEnding(id: string): readonly NextCommand[] {
  return [byClient(`ferry amend ${id} companies.csv`), bySupport(`ferry cancel ${id} ${WITH_REASON}`)];
}
