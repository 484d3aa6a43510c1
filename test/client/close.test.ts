import { sql } from 'kysely';
import { openLedgerClient } from '../../client';
import { loadConfig } from '../../config';
import { until } from '../support/async';
import { useOrchestrator } from '../support/servers/orchestrator';

const orchestrator = useOrchestrator();

/** Closes a client while a statement takes two seconds, and returns whether the statement succeeds. */
async function closeDuringStatement(...options: [{ closeWithinMs: number }?]): Promise<boolean> {
  const config = loadConfig(['temporal', 'payloadKeys', 'databaseUrl'], orchestrator.env);
  const ferry = await openLedgerClient(config, ...options);
  const succeeds = sql`select pg_sleep(2)`.execute(ferry.db).then(
    () => true,
    () => false,
  );
  await until(async () => {
    const running = sql`select from pg_stat_activity where state = 'active' and query = 'select pg_sleep(2)'`;
    return (await running.execute(orchestrator.ferry.db)).rows.length > 0;
  });
  await ferry.close();
  return succeeds;
}

test('closing a client waits for the statements of a program, unless it has a time limit', async () => {
  expect(await closeDuringStatement()).toBe(true);
  expect(await closeDuringStatement({ closeWithinMs: 100 })).toBe(false);
});
