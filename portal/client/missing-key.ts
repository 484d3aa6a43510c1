/** Says why nothing can be sealed while the portal shows no migration key. The page and `ferry --portal` show it. */
import { isEnding } from '../../domain/migration/migration-state';
import { isOver } from '../../domain/migration/terminated';

/**
 * @param migration the subject of the message: the id of the migration, or `this migration`
 * @param state the state of the migration, which has no key once it or its workflow has ended
 */
export function missingKeyTexts(
  migration: string,
  state: string,
): { readonly message: string; readonly advice: string } {
  if (!isOver(state))
    return {
      message: `${migration} has no signed migration key at the moment`,
      advice: 'nothing was sent; try again in a minute, and if this happens again, tell your contact',
    };
  return {
    message: `${migration} was ${state}, so it no longer accepts credentials or client secrets`,
    advice: isEnding(state)
      ? 'nothing was sent; to move more companies, ask your contact for a new migration'
      : 'nothing was sent; ask your contact what happens next',
  };
}
