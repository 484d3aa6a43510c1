/** The outcome of a decision that was applied to only some of the companies that it names. */
import { outOf } from '../text/sentences';
import type { Outcome } from './decision';

const WHY_NOT_ALL = 'the others do not exist, or their state does not allow it';

/** Returns the text of the outcome. If not all of the requested companies were changed, it says how many were. */
export function companiesOutcomeText(text: string, changed: number, requested: number): string {
  return changed === requested ? text : `${text}; applied to ${outOf(changed, requested, 'company')}: ${WHY_NOT_ALL}`;
}

/** Returns whether an applied decision changed fewer companies than it names. */
export function isPartial({ text }: Pick<Outcome, 'text'>): boolean {
  return /; applied to [\d,]+ of [\d,]+ compan(?:y|ies): /.test(text);
}
