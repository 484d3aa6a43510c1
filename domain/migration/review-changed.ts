/** The refusal of a decision whose sender reviewed something that has changed since. */

export const REVIEW_CHANGED = 'what you reviewed has changed; review it again before you decide';

/** Returns whether a decision was refused because what its sender reviewed has changed. */
export const isReviewChanged = ({ text }: { readonly text: string }): boolean => text === REVIEW_CHANGED;
