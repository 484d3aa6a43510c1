/** The refusal of a decision whose sender reviewed something that has changed since. */

export const REVIEW_CHANGED = 'what you reviewed has changed; review it again before you decide';

/** The beginning of the refusal of a resume, whose whole text is in `domain/decisions/pauses.ts`. */
const PAUSES_CHANGED = 'the pauses have changed since you reviewed them';

/** Returns whether a decision was refused because what its sender reviewed has changed. */
export const isReviewChanged = ({ text }: { readonly text: string }): boolean =>
  text === REVIEW_CHANGED || text.startsWith(PAUSES_CHANGED);
