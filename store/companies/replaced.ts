/** The condition that the application with which a company was connected was replaced later. */
import { sql } from 'kysely';

/**
 * Builds the condition that a company of this migration was last connected with an application that was replaced later.
 * The condition uses the columns of a table of companies without a qualifier. Postgres computes the times of the
 * replaced applications once per statement. As a filter, the condition reads no company if no application was replaced.
 */
export function dependsOnReplaced(migrationId: string) {
  const times = (which: 'crossed' | 'authorized') =>
    sql`(select ${sql.ref(which)} from times_of_replaced_applications(${migrationId}))`;
  return sql<boolean>`(
    (select not isempty(crossed + authorized) from times_of_replaced_applications(${migrationId}))
    and depends_on_replaced(crossed_at, authorized_at, ${times('crossed')}, ${times('authorized')}))`;
}
