/** Asks in the dashboard what to try after a rejection of the first company. */
import type { Progress } from '../../domain/progress/progress';
import type { LedgerClient } from '../../client';
import { readSuggestedCompanies } from '../../store';
import { assertCompany, isRejectedFirst, sameCompany } from '../shared/decisions';
import { CommandFailed } from '../shared/errors';
import { limitOfAnotherTry } from '../suggestions/first-company-commands';
import type { Prompts } from '../terminal/prompts';

/** Asks what to try next, because a rejection of the first company must specify it. Returns the decision's fields. */
export async function askNextAttempt(
  ferry: LedgerClient,
  prompts: Prompts,
  migrationId: string,
  progress: Progress | undefined,
): Promise<Readonly<Record<string, unknown>>> {
  const first = progress?.firstCompany ?? null;
  const rejected = first?.reference ?? null;
  // A company that was left out cannot be tried again.
  const { firstLeftOut } = await readSuggestedCompanies(ferry.db, migrationId, rejected);
  const limit = first && limitOfAnotherTry(first);
  const same = { name: `the same company again${limit === null ? '' : ` (${limit})`}`, value: 'same-company' };
  const another = { name: 'another company', value: 'another-company' };
  const next = await prompts.choose('What should be tried next?', [
    // The first choice is preselected.
    ...(firstLeftOut ? [another] : limit === null ? [same, another] : [another, same]),
    { name: 'abandon the migration', value: 'abandon' },
  ]);
  if (next === 'same-company') return sameCompany(progress);
  if (next !== 'another-company') return { next };
  const company = await prompts.text('Which company? (its reference)', {
    rejection: (answer) => (answer === '' ? 'Enter the reference of a company' : null),
  });
  await assertCompany(ferry, migrationId, company);
  if (firstLeftOut && company === rejected)
    throw new CommandFailed(`${company} was left out, so it cannot be tried again`, 'choose another company');
  return isRejectedFirst(progress, company) ? sameCompany(progress) : { next, company };
}
