/** Adapts the texts of the view, whose reader is the client ("you"), to the person who reads it. */
import type { MigrationView } from '../contract/migration-view';
import type { PortalSession } from '../contract/session';

/** Tells a viewer who "you" is in the texts of the view. */
export const VIEWER_NOTICE =
  'You can read this migration, but you cannot decide. In its texts, "you" means the client.';

/** Returns a text about who acts, such as `you and support`. For a viewer, "the client" takes the place of "you". */
export function namedFor(role: PortalSession['role'], text: string): string {
  return role === 'viewer' ? text.replace(/\byou(?= and support\b)|^you$/g, 'the client') : text;
}

/** The task of a person whose key has not been confirmed by support, if no other task is due. */
export const CONFIRM_KEY = 'Call your contact to confirm your key.';

/**
 * Returns the headline for a person. While a key has to be confirmed, the person has something to do, so the task takes
 * the place of "Nothing for you to do".
 */
export function headlineFor(headline: string, mustConfirm: boolean): string {
  return mustConfirm ? headline.replace(/Nothing for you to do(?: now)?\./, CONFIRM_KEY) : headline;
}

/** Returns whether the four-eyes rule excludes a person from a decision. */
export const isExcluded = (
  { person }: Pick<PortalSession, 'person'>,
  { excludedPeople = [] }: Pick<MigrationView['actions'][number], 'excludedPeople'>,
): boolean => excludedPeople.includes(person);

/** Returns the view without the decisions from which the four-eyes rule excludes the person. */
export function viewFor(session: Pick<PortalSession, 'person'>, view: MigrationView): MigrationView {
  return { ...view, actions: view.actions.filter((action) => !isExcluded(session, action)) };
}
