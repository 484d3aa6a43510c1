/** The problems and warnings of the supplied details, as the portal and `ferry --portal` show them to the client. */
import { withPlace, type Preflight } from '../../domain/migration/preflight-result';

/**
 * Says, after each problem that stands for several companies, where the portal and `ferry --portal` list them all. The
 * command names the migration, because a person can be signed in to several migrations.
 */
export function problemsInPortal(problems: readonly string[], migrationId: string): readonly string[] {
  return withPlace(
    problems,
    `"Companies that need attention" lists all of them (or run: ferry --portal '<link>' exceptions ${migrationId})`,
  );
}

/**
 * Returns the problems and warnings. If one stands for several companies, says where the client can see all of them.
 *
 * @param progress its preflight is null to show none
 * @param text makes a text safe to show
 */
export function detailsInPortal(
  { preflight, migrationId }: { readonly preflight: Preflight | null; readonly migrationId: string },
  text: (untrusted: string) => string,
): { readonly problems: string[]; readonly warnings: string[] } {
  if (preflight === null) return { problems: [], warnings: [] };
  const { problems, clientProblems = problems, warnings, clientWarnings = warnings } = preflight;
  return {
    problems: problemsInPortal(clientProblems, migrationId).map(text),
    warnings: withPlace(clientWarnings, 'look at the other rows of your manifest file').map(text),
  };
}
