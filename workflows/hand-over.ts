import { ActivityFailure, allHandlersFinished, condition, log, sleep } from '@temporalio/workflow';
import type { Counts } from '../domain/company-state';
import type { Ending } from '../domain/migration-state';
import { records, tidying } from './activity-proxies';
import type { Desk } from './desk';

/** How a migration ended. The companies are in the ledger, and `ferry report` reads them there. */
export interface Handover {
  readonly ending: Ending;
  readonly counts: Counts;
}

/** The ledger is closed, the credentials that are left are destroyed with the key that opened them. */
export async function handOver(desk: Desk): Promise<Handover> {
  const { migrationId } = desk.plan;
  const ending = desk.state().closed ?? 'completed';
  await interruptedSettled(desk);
  const counts = await records.closeMigration({ migrationId, ending });
  desk.change((state) => ({ ...state, counts }));
  if (desk.state().schedule !== 'none') await records.deleteSchedule({ migrationId });
  await unusedRemoved(desk);
  await condition(allHandlersFinished);
  return { ending, counts };
}

/** Companies whose attempt died just before the end: what became of their credentials is found out, not left open. */
async function interruptedSettled({ plan: { migrationId } }: Desk): Promise<void> {
  for (;;) {
    const { againInMs } = await records.settleInterrupted({ migrationId });
    if (againInMs === null) return;
    await sleep(againInMs, { summary: 'Until nothing of an interrupted company can be on its way' });
  }
}

/** What was created at the service for companies that were not moved goes; what cannot be removed, the report lists. */
async function unusedRemoved({ plan: { migrationId } }: Desk): Promise<void> {
  try {
    await tidying.removeUnused({ migrationId });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn('companies that were created and not used are left at the service', { migrationId });
  }
}
