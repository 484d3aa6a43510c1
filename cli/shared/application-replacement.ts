import {
  applicationName,
  isSameApplication,
  replacementText,
  type ApplicationFacts,
} from '../../domain/preflight/applications';
import { dependentsText } from '../../domain/preflight/dependents';
import { counted } from '../../domain/text/sentences';
import type { LedgerClient } from '../../client';
import { readApplicationsInUse, readDependentCompanies, readNamespace, type StoredMigration } from '../../store';

/**
 * Says what happens to companies that were connected with an application other than this one. Names their migrations,
 * unless all are companies of this migration. Returns one text to show before this application is registered, and one
 * to show after that. Null if there are no such companies. If there are several other applications, describes the one
 * with the most companies.
 */
export async function effectOnMoved(
  application: ApplicationFacts,
  { db }: LedgerClient,
  { id, platformKey }: StoredMigration,
): Promise<{ readonly before: string; readonly after: string } | null> {
  const other = (await readApplicationsInUse(db, id)).find((used) => !isSameApplication(used.application, application));
  if (!other) return null;
  const inUse = await readDependentCompanies(db, {
    ...{ platformKey, namespace: await readNamespace(db, id), except: null },
  });
  const theirs = inUse.filter((each) => isSameApplication(each.application, other.application));
  const [only, ...others] = theirs;
  // The number of companies is not repeated for a single migration.
  const named =
    only && others.length === 0 ? only.migrationId + (only.hasEnded ? ' (ended)' : '') : dependentsText(theirs);
  const whose = theirs.some(({ migrationId }) => migrationId !== id) ? `, of ${named},` : '';
  const companies = counted(other.companies, 'company');
  const isOwn = theirs.some(({ migrationId }) => migrationId === id);
  const [were, their] = other.companies === 1 ? ['was', 'its'] : ['were', 'their'];
  const connected = `${companies}${whose} ${were} connected with ${applicationName(other.application)}`;
  return {
    before: `${connected}; if ${applicationName(application)} is registered instead, the service cannot refresh ${their} tokens`,
    after: `${connected}, but ${replacementText(application, other.companies)}.${isOwn ? ` To see what helps, run: ferry show ${id}` : ''}`,
  };
}
