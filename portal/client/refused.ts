/** Names the credentials that the migration does not accept, in groups with the same reason. */
import { namedCompanies } from '../../domain/text/sentences';
import type { RequestAnswer } from '../contract/requests';

export type Refused = NonNullable<RequestAnswer['refusedCredentials']>;

const MAX_NAMED = 10;

/** Returns one clause for each reason: `2 credentials (C-1, C-2) cannot be sent, because ...`. */
export const unsentTexts = (unsent: Refused): readonly string[] =>
  refusedTexts(unsent, ['cannot be sent', 'cannot be sent']);

/**
 * Returns the clauses to show after the other credentials were sent: `2 credentials (C-1, C-2) were not sent, because
 * ...`.
 */
export const notSentTexts = (unsent: Refused): readonly string[] =>
  refusedTexts(unsent, ['was not sent', 'were not sent']);

/**
 * Returns one clause for each reason: `2 credentials (C-1, C-2) were not accepted, because ...`.
 *
 * @param verb the predicate for one credential, and for several
 */
export function refusedTexts(
  refused: Refused,
  verb: readonly [one: string, several: string] = ['was not accepted', 'were not accepted'],
): readonly string[] {
  const byReason = new Map<string, string[]>();
  for (const { reference, why } of refused) {
    const references = byReason.get(why);
    if (references) references.push(reference);
    else byReason.set(why, [reference]);
  }
  return [...byReason].map(([why, references]) => {
    const credentials = namedCompanies(references.length, references.slice(0, MAX_NAMED), 'credential');
    return `${credentials} ${verb[references.length === 1 ? 0 : 1]}, because ${why}`;
  });
}
