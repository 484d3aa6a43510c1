import { loadConfig } from '../../config';
import type { MigrationClient } from '../../client';

/**
 * Returns the link to the page of a migration in the read-only Temporal UI for clients; null if no such UI is
 * configured. Only the UI of `ferry up` finds the current run of a migration itself, and only in the namespace of
 * `ferry up`. All other links contain the id of the run.
 */
export async function clientPageOf(
  env: NodeJS.ProcessEnv,
  { temporalWithoutCodec: { workflow, options } }: MigrationClient,
  migrationId: string,
): Promise<string | null> {
  const { clientUi } = loadConfig([], env, ['clientUi']);
  if (clientUi === undefined) return null;
  if (clientUi.hasMigrationLinks) return `${clientUi.url}/m/${migrationId}`;
  const { runId } = await workflow.getHandle(migrationId).describe();
  const namespace = encodeURIComponent(options.namespace);
  return `${clientUi.url}/namespaces/${namespace}/workflows/${migrationId}/${runId}/user-metadata`;
}
