/** Checks that no open migration has a ledger that was restored to an older state. Changes nothing. */
import { isLedgerBehind, NoSuchMigration, openLedgerClient } from '../../client';
import { counted } from '../../domain/text/sentences';
import { listOpenMigrations } from '../../store';
import { loadConfig } from '../../config';
import type { CheckResult } from './check-result';
import { check, notChecked, ok, problem } from './check-result';

const LEDGER = 'ledger';

/** @param isReady whether the checks of Temporal, the payload key, the database and its schema have succeeded */
export async function checkLedger(env: NodeJS.ProcessEnv, isReady: boolean): Promise<readonly CheckResult[]> {
  if (!isReady) return [notChecked(LEDGER, 'needs Temporal, the payload key, the database and its schema first')];
  return check(LEDGER, 'run again', async () => {
    const config = loadConfig(['temporal', 'payloadKeys', 'databaseUrl'], env);
    const ferry = await openLedgerClient(config);
    try {
      const open = await listOpenMigrations(ferry.db, config.temporal.namespace);
      const states = await Promise.all(
        open.map(async (id) => {
          try {
            return (await isLedgerBehind(ferry, id)) ? 'behind' : 'current';
          } catch (error) {
            if (error instanceof NoSuchMigration) return 'unknown';
            throw error;
          }
        }),
      );
      const inState = (state: (typeof states)[number]) => open.filter((_, index) => states[index] === state);
      const [behind] = inState('behind');
      const unknown = inState('unknown');
      if (behind !== undefined)
        return [
          problem(
            LEDGER,
            `older than the migration or the service for ${inState('behind').join(', ')}: it was restored to an older state`,
            `no company moves until you run: ferry reconcile ${behind}`,
          ),
        ];
      if (unknown.length > 0)
        return [
          problem(
            LEDGER,
            `${unknown.join(', ')}: open in the ledger, but Temporal does not know it`,
            'if Temporal was restored, run ferry reconcile for each; to close them, run: ferry sweep --close',
          ),
        ];
      return [ok(LEDGER, `current for ${counted(open.length, 'open migration')}`)];
    } finally {
      await ferry.close();
    }
  });
}
