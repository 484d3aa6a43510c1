/** Checks the invariants `outcome`, `lost` and `unknown`: the ledger state of each row agrees with the service. */
import type { Findings, Invariant, UnknownRow, Violation } from './evidence';
import { hasGrantEnded, isComplete, isLinkedTo, isUsedByService, type RowFacts } from './facts';
import type { ServiceConnection } from './service';

/** The failures after which the service must not hold a grant for the row. */
const WITHOUT_GRANT = ['refused', 'credential-unreadable', 'wrong-organization', 'application-refused'];
const OPEN_STATES = ['waiting', 'importing', 'syncing', 'outcome-unknown'];

/** Returns at most one violation for each row, and the truth about each row whose outcome is unknown. */
export function checkOutcomes(rows: readonly RowFacts[]): Findings & { readonly unknown: readonly UnknownRow[] } {
  const violations: Violation[] = [];
  const unknown: UnknownRow[] = [];
  for (const facts of rows) {
    const { migration, reference, state } = facts.row;
    if (state === 'outcome-unknown') unknown.push({ migration, reference, truth: truthOf(facts).text });
    const found = firstProblem(facts);
    if (found) violations.push({ migration, reference, ...found });
  }
  return { violations, unknown, checked: { outcome: rows.length, lost: rows.length, unknown: unknown.length } };
}

interface Problem {
  readonly invariant: Invariant;
  readonly detail: string;
}

function firstProblem(facts: RowFacts): Problem | null {
  const isCompleted = facts.migration.ending === 'completed';
  if (facts.row.state === 'outcome-unknown' && !isCompleted) {
    const { text, retryMovesIt } = truthOf(facts);
    return retryMovesIt && facts.migration.state === 'open' ? { invariant: 'unknown', detail: text } : null;
  }
  if (isLost(facts)) {
    return { invariant: 'lost', detail: `the service used its token, but ${connectionText(facts)}` };
  }
  if (isCompleted && OPEN_STATES.includes(facts.row.state)) {
    return { invariant: 'outcome', detail: `the migration was completed while the row was ${facts.row.state}` };
  }
  const detail = contradiction(facts);
  return detail === null ? null : { invariant: 'outcome', detail: `${stateText(facts)}, but ${detail}` };
}

/**
 * Returns what happened to a row whose outcome is unknown, and whether a retry would move the row. A row without a
 * connection at the service is not moved by a retry. A row with a connection is moved if the connection is linked, or
 * if the token of the row can still be used or exchanged.
 */
function truthOf(facts: RowFacts): { readonly text: string; readonly retryMovesIt: boolean } {
  const { connections, platformTokens, row } = facts;
  if (connections.some((each) => isLinkedTo(row, each)))
    return { text: 'its connection is linked', retryMovesIt: true };
  if (connections.length === 0) return { text: 'the service has no connection for it', retryMovesIt: false };
  if (connections.some((each) => each.exchangePending)) {
    return { text: 'its token was used, and sending it again continues the exchange', retryMovesIt: true };
  }
  if (connections.some((each) => each.errors.some(({ statusText }) => statusText === 'GrantRefused'))) {
    return { text: 'the platform has refused its token', retryMovesIt: false };
  }
  if (platformTokens.some((each) => each.usedByService)) return { text: 'its token was used', retryMovesIt: false };
  return { text: 'its token was not used', retryMovesIt: true };
}

/**
 * Returns whether the service has used the token of the row, but no connection is linked and no grant has ended. A row
 * that the product can still finish without a person is not lost.
 */
function isLost(facts: RowFacts): boolean {
  const { row, migration, connections, platformTokens } = facts;
  if (!platformTokens.some(({ usedByService }) => usedByService)) return false;
  const isRecovering = row.state === 'importing' || (row.state === 'waiting' && row.sentAt !== null);
  if (isRecovering && migration.state === 'open') return false;
  return !connections.some((each) => each.status === 'Linked' || hasGrantEnded(each));
}

/** Returns how the service contradicts the state in the ledger; null if it does not. */
function contradiction(facts: RowFacts): string | null {
  const { row, connections, own, migration } = facts;
  const linked = connections.find((each) => isLinkedTo(row, each));
  switch (row.state) {
    case 'moved':
      return own === undefined ? 'the service does not have its connection' : whyNotMoved(facts, own);
    case 'syncing':
      if (own === undefined) return 'the service does not have its connection';
      return own.acceptedDigest === null ? 'the service has not accepted a credential for it' : null;
    case 'failed':
      return whyNotFailed(facts);
    case 'skipped':
      return linked && row.crossedAt === null && row.sentAt === null
        ? 'its connection is linked, although the ledger shows that no token was sent'
        : null;
    case 'excluded':
      if (row.existedBefore) return null;
      return isUsedByService(facts) ? 'the service holds its grant' : null;
    case 'waiting':
      if (linked === undefined || row.existedBefore) return null;
      return row.sentAt === null || migration.state !== 'open' ? 'its connection is linked' : null;
    case 'importing':
      return migration.state === 'closed' ? 'the migration has ended' : null;
    default:
      return null;
  }
}

/** Returns how the connection contradicts the state `moved`; null if it does not. */
function whyNotMoved({ row }: RowFacts, own: ServiceConnection): string | null {
  if (hasGrantEnded(own)) return null;
  if (own.status !== 'Linked') return `its connection is ${own.status}`;
  if (own.organizationId !== row.organization) return `its connection belongs to organization ${own.organizationId}`;
  if (own.companyId !== row.companyId) return `its connection belongs to company ${own.companyId}`;
  if (!isComplete(own)) return `${own.incomplete} of ${own.dataTypes} data sets have no successful sync`;
  const expected = row.expectedInvoices ?? 0;
  return own.invoices < expected ? `the service has ${own.invoices} of ${expected} invoices` : null;
}

function whyNotFailed(facts: RowFacts): string | null {
  const { row, connections, own } = facts;
  const linked = connections.find((each) => isLinkedTo(row, each) && each.acceptedDigest !== null);
  const { failure } = row;
  if (failure === 'reauthorization-required') {
    if (own === undefined) return 'the service has no connection with which it could reconnect';
    if (connections.some(hasGrantEnded)) return null;
    const refusals = connections
      .flatMap(({ errors }) => errors)
      .filter(({ statusText }) => statusText === 'GrantRefused');
    if (refusals.length === 0) return wasForgotten(facts) ? null : 'the platform has not refused its grant';
    const isLinked = linked && !linked.errors.some((error) => refusals.includes(error) && error.status === 'Active');
    return isLinked ? 'its connection is linked, and accepted a credential after the refusal' : null;
  }
  if (failure !== null && WITHOUT_GRANT.includes(failure)) return linked ? 'the service holds its grant' : null;
  if (linked === undefined || !isComplete(linked)) return null;
  if (failure === 'incomplete') {
    const { expectedInvoices } = row;
    return expectedInvoices !== null && linked.invoices >= expectedInvoices ? 'no invoice is missing' : null;
  }
  return failure === 'sync-failed' && !linked.syncErrors ? 'all its data sets are complete' : null;
}

/**
 * Returns whether the service has accepted an authorization that it has since forgotten, because it was restored to an
 * older state. The token might have been used, so the company must reconnect.
 */
function wasForgotten({ sends, connections }: RowFacts): boolean {
  return sends.some(({ connectionId, status }) => {
    const connection = connections.find(({ id }) => id === connectionId);
    return (
      status === 200 && (connection === undefined || connection.errors.length === 0) && !connection?.acceptedDigest
    );
  });
}

function stateText({ row: { state, failure } }: RowFacts): string {
  return failure === null ? `the ledger says ${state}` : `the ledger says ${state} (${failure})`;
}

function connectionText({ connections, row }: RowFacts): string {
  const statuses = connections.map(({ status }) => status).join(', ');
  return `its connection is ${statuses || 'missing'}; the ledger says ${row.state}`;
}
