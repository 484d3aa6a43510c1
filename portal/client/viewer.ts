/** Adapts the texts of the view, whose reader is the client ("you"), to a viewer, who can read but not act. */
import type { PortalSession } from '../contract/session';

/** Tells a viewer who "you" is in the texts of the view. */
export const VIEWER_NOTICE =
  'You can read this migration, but you cannot decide. In its texts, "you" means the client.';

/** Returns a text about who acts, such as `you and support`. For a viewer, "the client" takes the place of "you". */
export function namedFor(role: PortalSession['role'], text: string): string {
  return role === 'viewer' ? text.replace(/\byou(?= and support\b)|^you$/g, 'the client') : text;
}
