/** The head of a handover report, for tests that change parts of it. */
import type { ReportHead } from '../../../presentation/handover/report-facts';
import { NO_COUNTS } from '../../../domain/companies/counts';
import type { Decision } from '../../../domain/migration/decision';

/** Returns a decision with its outcome, as the ledger records it. */
export const recorded = (decision: Decision, outcome: { applied: boolean; text: string }, at: string) => ({
  decision,
  outcome: { decisionId: decision.decisionId, at, ...outcome },
});
/** Returns the facts that every decision has. */
export const sender = (decisionId: string, role: 'client' | 'support') => ({
  decisionId,
  role,
  by: role === 'client' ? 'Cleo' : 'Sam',
});

const PAUSED = recorded(
  { kind: 'pause', ...sender('1', 'support'), reason: 'tea' },
  { applied: true, text: 'paused' },
  '2026-11-20T22:01:00.000Z',
);
const REFUSED = recorded(
  { kind: 'step', ...sender('2', 'client'), step: 'supply-details', verdict: 'approve' },
  { applied: false, text: 'not by client' },
  '2026-11-20T22:02:00.000Z',
);

/** The head of a report on a migration that is in progress. */
export const HEAD: ReportHead = {
  migrationId: 'acme.quickbooks-online',
  route: 'managed',
  client: 'acme',
  platformKey: 'qhyg',
  contact: 'Sam, +44 20 7946 0000',
  ending: null,
  endedInTemporal: null,
  isFinishing: false,
  ledgerBehind: false,
  paused: false,
  suppliedAt: '2026-11-20T22:00:00.000Z',
  suppliedBy: 'Cleo',
  closedAt: null,
  vaultDestroyedAt: null,
  counts: { ...NO_COUNTS, total: 9, moved: 3, failed: 2, waiting: 1, excluded: 2, outcomeUnknown: 1 },
  figures: {
    crossed: 4,
    crossingUnknown: 1,
    movable: 2,
    mustReconnect: 1,
    mustReconnectNotCrossed: 1,
    leftOutUnauthorized: 0,
    reconnectionsCheckedAt: null,
    leftOutAtService: 0,
    firstStartedAt: '2026-11-20T23:00:00.000Z',
    lastMovedAt: '2026-11-21T01:30:00.000Z',
    movingMs: 9_000_000,
    longestStaleHours: 6.21,
    medianStaleHours: 2,
    credentialsLeft: 0,
  },
  applications: { moved: [], replaced: [], registered: null },
  planned: null,
  unproven: null,
  changedSinceSignOff: [],
  stoppages: [],
  decisions: [PAUSED, REFUSED],
};
