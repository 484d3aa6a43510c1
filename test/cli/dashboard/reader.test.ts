/** Tests what the dashboard reads while the ledger does not answer. No worker is running. */
import { openReader } from '../../../cli/dashboard/reader';
import type { LedgerClient } from '../../../client';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { startTestMigration } from '../../workflows/running-migration';

const orchestrator = useOrchestrator();

/** A ledger that never answers, like a stopped Postgres. */
const silent: unknown = new Proxy(() => silent, {
  get: (_, name) => (/^execute/.test(String(name)) ? () => new Promise(() => undefined) : silent),
});

test('the dashboard lists the open migrations although the ledger does not answer', async () => {
  const { id } = await startTestMigration(orchestrator, 'silent-ledger', ['sbx-ok-1.sl1']);
  const read = openReader({ ...orchestrator.ferry, db: silent as LedgerClient['db'] });
  const { rows = [], connectionError } = await read({ visibleRows: (all) => all, shownMigrationId: null });
  expect(connectionError).toBe('cannot reach the database');
  expect(rows).toMatchObject([{ migrationId: id, overview: null }]);
});
