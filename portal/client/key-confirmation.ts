/** The task of a person whose key has not been confirmed by support. The page and `ferry --portal` show it. */

/** The task of this person, if no other task is due. */
export const CONFIRM_KEY = 'Call your contact to confirm your key.';

/**
 * Returns the headline for a person. While a key has to be confirmed, the person has something to do, so the task takes
 * the place of "Nothing for you to do".
 */
export function headlineFor(headline: string, mustConfirm: boolean): string {
  return mustConfirm ? headline.replace(/Nothing for you to do(?: now)?\./, CONFIRM_KEY) : headline;
}
