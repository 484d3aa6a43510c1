import { loadConfig } from '../../config';
import { abnormalStatus, type MigrationClient } from '../../client';

/**
 * Returns the link to the page of a migration in the read-only Temporal UI for clients. Returns null if no such UI is
 * configured, or if the workflow has ended abnormally, because its page then still shows a running migration.
 *
 * Only the UI of `ferry up` finds the current run of a migration itself, and only in the namespace of `ferry up`. All
 * other links contain the id of the run.
 */
export async function clientPageOf(
  env: NodeJS.ProcessEnv,
  { temporalWithoutCodec: { workflow, options } }: MigrationClient,
  migrationId: string,
): Promise<string | null> {
  const { clientUi } = loadConfig([], env, ['clientUi']);
  if (clientUi === undefined) return null;
  const { runId, status } = await workflow.getHandle(migrationId).describe();
  if (abnormalStatus(status.name) !== null) return null;
  if (clientUi.hasMigrationLinks) return `${clientUi.url}/m/${migrationId}`;
  const namespace = encodeURIComponent(options.namespace);
  return `${clientUi.url}/namespaces/${namespace}/workflows/${migrationId}/${runId}/user-metadata`;
}
