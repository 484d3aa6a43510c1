/** Suggests commands that choose the first company. */
import type { FailureKind } from '../../domain/companies/failures';
import type { FirstCompany } from '../../domain/migration/migration-state';
import type { Progress } from '../../domain/progress/progress';
import type { SuggestedCompanies } from '../../store';
import type { NextCommand } from './remedy-commands';
import { bySupport, shellQuoted, WITH_REASON } from './remedy-commands';

/** The failures of a first company after which the same credential cannot help. */
const NEED_NEW_CREDENTIAL: readonly (FailureKind | null)[] = [
  'reauthorization-required',
  'wrong-organization',
  'credential-unreadable',
];

/** Suggests how the first company that was not moved is tried again. */
export function firstAgain(id: string, { reference, failure }: FirstCompany): readonly NextCommand[] {
  const again = chooseFirst(id, reference);
  if (!NEED_NEW_CREDENTIAL.includes(failure))
    return [{ ...again, does: `tries ${reference} again with the same credential` }];
  const replacement = {
    ...bySupport(`ferry replace-credential ${id} new-credentials.csv`),
    does: `tries ${reference} again with a new credential from the client`,
  };
  // Before step 6, only another try finds out that the end customer has reconnected.
  const reconnected = { ...again, does: `tries ${reference} again after its end customer has reconnected` };
  return failure === 'reauthorization-required' ? [replacement, reconnected] : [replacement];
}

/** Suggests another first company, or listing the companies to choose from. */
export function anotherFirst(
  { migrationId: id }: Progress,
  { firstCandidate }: SuggestedCompanies,
): readonly NextCommand[] {
  if (firstCandidate === null) {
    const does = 'lists the companies to choose from; none of them is ready to go first';
    return [{ ...bySupport(`ferry companies ${id} --state not-moved-yet`), does }];
  }
  return [{ ...chooseFirst(id, firstCandidate), does: `lets ${firstCandidate} go first instead` }];
}

function chooseFirst(id: string, reference: string): NextCommand {
  const word = shellQuoted(reference);
  // Puts the reference after `--` if it begins with a hyphen; otherwise it would be taken for an option.
  return bySupport(
    reference.startsWith('-')
      ? `ferry first-company ${id} ${WITH_REASON} -- ${word}`
      : `ferry first-company ${id} ${word} ${WITH_REASON}`,
  );
}
