/**
 * Prints who has to act in each open migration, one line each: a starting point for a chat bot or a status page. It
 * reads the same variables as `ferry` and changes nothing. In a clone: `node examples/client/waiting.mjs`
 */
import { listMigrations, loadConfig, openMigrationClient } from 'tokenferry';

const config = loadConfig(['temporal', 'payloadKeys'], process.env, ['databaseUrl']);
const ferry = await openMigrationClient(config);
try {
  for await (const { migrationId, state, step, waitingFor } of listMigrations(ferry, 'open')) {
    console.log(`${migrationId}: ${state}, step ${step}, waiting for ${waitingFor}`);
  }
} finally {
  await ferry.close();
}
