/** A company as the portal reads it from the ledger: confirmed, with a credential, and waiting for its first try. */
import type { companyOf } from '../../portal/server/companies';

export const WAITING_ROW: Parameters<typeof companyOf>[0] = {
  ...{ row: 1, reference: 'C-1', name: 'One', organization: '9130', wave: null, state: 'waiting', tries: 0 },
  ...{ failure: null, failureText: null, heldBack: null, leftOutReason: null },
  ...{ isDeferred: false, retryAt: null, hasEnded: false, dependsOnReplaced: false },
  ...{ confirmedAt: new Date('2026-11-20T10:00:00Z'), credential: 'supplied' },
  ...{ movedAt: null, crossedAt: null, linkUrl: null },
};
