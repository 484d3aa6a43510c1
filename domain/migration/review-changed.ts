/**
 * The refusals of a decision whose sender reviewed something that has changed since. `as const` makes them count as
 * whole sentences for the test of the runbook.
 */

export const REVIEW_CHANGED = 'what you reviewed has changed; review it again before you decide' as const;

/** The refusal of a resume. */
export const PAUSES_CHANGED =
  'the pauses have changed since you reviewed them; review them again before you resume' as const;

/** Returns whether a decision was refused because what its sender reviewed has changed. */
export const isReviewChanged = ({ text }: { readonly text: string }): boolean =>
  text === REVIEW_CHANGED || text === PAUSES_CHANGED;
