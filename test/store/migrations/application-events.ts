/** Migrations whose applications are supplied and replaced, with the times of these events. */
import { randomUUID } from 'node:crypto';
import type { Decision } from '../../../domain/migration/decision';
import { readApplicationsOfMoved, recordDecisions, type Database } from '../../../store';

/** Returns a platform that no other migration uses. */
export const PLATFORM = () => ({ platformKey: randomUUID() });

// Begins in the past, because a time in the future counts as now.
let moment = Date.now() - 7_200_000;
/** Returns a time for the next event, one second after the previous event. */
export function nextMoment(): string {
  moment += 1_000;
  return new Date(moment).toISOString();
}

/** Lets the next events happen after this time, in epoch milliseconds. */
export function continueAt(time: number): void {
  moment = time;
}

export async function decide(db: Database, id: string, decision: Partial<Decision>, applied = true): Promise<void> {
  const decisionId = randomUUID();
  const sent = { decisionId, role: 'client', by: 'Cleo', ...decision } as Decision;
  const outcome = { decisionId, applied, text: '', at: nextMoment() };
  await recordDecisions(db, id, [{ decision: sent, outcome }]);
}

export const supplied = (clientId: string) =>
  ({ kind: 'application-supplied', clientId, environment: 'production' }) as const;
export const app = (clientId: string) => ({ clientId, environment: 'production' });

/** Reads the replaced applications on which companies still depend. */
export const replacedIn = async (db: Database, id: string) => (await readApplicationsOfMoved(db, id)).replaced;
