import { startPostgres } from '../../dev/postgres';
import { createTemporaryFolder } from '../../dev/temporary-folder';
import { servers } from './servers';

/** Starts what the tests share, once for a whole run: a real Postgres. */
export default async function globalSetup(): Promise<void> {
  const dataFolder = createTemporaryFolder();
  const postgres = await startPostgres({ dataFolder, port: 0, ephemeral: true, log: console.log });
  servers.push(postgres);
  process.env['TOKENFERRY_TEST_POSTGRES'] = postgres.url;
}
