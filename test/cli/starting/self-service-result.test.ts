/** Tests what `ferry self-service` says about the file of the credentials. */
import { sql } from 'kysely';
import type { LedgerClient, SelfServiceStart } from '../../../client';
import type { WatchEnd } from '../../../cli/reporting/watch';
import type { CheckOutcome } from '../../../cli/starting/check';
import { printStarted, selfServiceResult, withLatestOutcome } from '../../../cli/starting/self-service-result';
import { Output } from '../../../cli/terminal/output';
import { PLATFORMS } from '../../../platforms/platforms';
import { acceptedText } from '../../../domain/migration/partial-outcome';
import { progressOf } from '../../../domain/progress/progress';
import { openDatabase, recordDecisions, supplyMigration } from '../../../store';
import { manifestRows, suppliedMigration, useLedger } from '../../support/migrations/ledger';
import { AT, migrationPlan, preflight, stateAt } from '../../support/migrations/migration-states';
import { capturedStream } from '../captured-terminal';

const ledger = useLedger();
const ID = 'acme.wave';
const FILE = 'companies.csv';

const check = {
  files: { manifest: FILE },
  manifest: { withCredential: 12, totals: { companies: 12 } },
  platform: PLATFORMS[0],
  findings: { listed: [], errors: 0, warnings: 0 },
} as unknown as CheckOutcome;

const RECORDED = 'the migration has accepted the decision, but it is not in the ledger yet, so it can still be refused';

function started(outcome: 'applied' | 'recorded' | 'refused', text: string, stored: number): SelfServiceStart {
  const decision = { outcome, decisionId: 'd', text, signedBy: null };
  return { migrationId: ID, stored, staged: 12, decision, preflight: preflight(), retriedErrors: [] };
}

/** Returns the end of a watch in this state. */
function watchEnd(state: string): WatchEnd {
  const plan = migrationPlan({ migrationId: ID, route: 'self-service' });
  const progress = { ...progressOf(plan, stateAt('complete-migration')), state };
  return { progress: progress as WatchEnd['progress'], print: () => undefined, keysToConfirm: [], ledgerBehind: false };
}

function printed(start: SelfServiceStart, end: WatchEnd | null, refusedSince: string | null = null) {
  const result = selfServiceResult(check, { ...start, by: 'Cleo', clientPage: null, refusedSince }, end);
  const stdout = capturedStream();
  result.print(new Output({ stdout, stderr: capturedStream() }, false));
  return { failed: result.failed, out: stdout.text };
}

test.each([
  [0, '12 credentials did not arrive, or the state of their companies does not allow a new credential'],
  [11, '1 other credential did not arrive, or the state of its company does not allow a new credential'],
])('the client keeps the file, and the command fails, if only %i of 12 credentials are in use', (accepted, why) => {
  const { failed, out } = printed(started('applied', acceptedText(accepted, 12), accepted), null);
  expect(out).toContain(
    `  Keep ${FILE}: ${accepted} credentials supplied, although the decision says 12: ${why}\n  See which companies have no credential with: ferry companies ${ID} --without-credential\n  Supply their credentials with: ferry credentials ${ID} ${FILE} --as client --by Cleo\n`,
  );
  expect(out).not.toContain('Delete it');
  expect(failed).toBe(true);
});

test('no credentials are asked for if the migration has ended', () => {
  const { failed, out } = printed(started('applied', acceptedText(11, 12), 11), watchEnd('completed'));
  expect(out).toContain(`  Keep ${FILE}: 11 credentials supplied, although the decision says 12`);
  expect(out).not.toContain('Supply their credentials');
  expect(failed).toBe(true);
});

test('the file is no longer needed if all of its credentials are in use', () => {
  const { failed, out } = printed(started('applied', '12 credentials supplied', 12), watchEnd('completed'));
  expect(out).toContain('Delete it and all copies.');
  expect(failed).toBe(false);
});

test.each(['cancelled', 'terminated', 'completed'])(
  'no use of the credentials is promised if no decision is possible any more before the outcome was known: %s',
  (state) => {
    const { out } = printed(started('recorded', RECORDED, 12), watchEnd(state));
    expect(out).toContain(
      `  Keep ${FILE}: no more moves will begin, and it is not known whether these credentials were used. If the decision that supplied them was refused, or is missing from the audit trail, they were not used. See the audit trail with: ferry audit ${ID}\n`,
    );
    expect(out).not.toMatch(/takes effect|the migration has ended/);
  },
);

test('the credentials are used once the decision takes effect while the migration has not ended', () => {
  const { out } = printed(started('recorded', RECORDED, 12), null);
  expect(out).toContain(`  Keep ${FILE} until the credentials are used: ${RECORDED}\n`);
});

test('a refusal after the start says that nothing was stored, and why', () => {
  const start = started('refused', 'the migration is cancelled', 0);
  const { failed, out } = printed(start, watchEnd('cancelled'), 'the migration is cancelled');
  expect(out).toContain('  Not stored: 12 credentials. The migration is cancelled\n');
  expect(out).not.toMatch(/Keep|Delete/);
  expect(failed).toBe(true);
});

function printedStart(start: SelfServiceStart, isWatched: boolean): string {
  const stdout = capturedStream();
  const output = new Output({ stdout, stderr: capturedStream() }, false);
  printStarted(output, check, start, { by: 'Cleo', clientPage: null, isWatched });
  return stdout.text;
}

const NOT_STAGED = `  Not stored: 2 credentials, because their companies are no longer waiting to be moved. See the states with: ferry companies ${ID}\n`;

test('the start names the credentials that were not sent and those that the decision does not use', () => {
  const start = { ...started('applied', acceptedText(9, 10), 9), staged: 10 };
  const out = printedStart(start, true);
  expect(out).toContain(NOT_STAGED);
  expect(out).toContain('  9 credentials supplied, although the decision says 10: 1 other credential did not arrive');
  // Without a watch, the start omits the decision's text, because the advice about the file follows and contains it.
  const unwatched = printedStart(start, false);
  expect(unwatched).toContain(NOT_STAGED);
  expect(unwatched).not.toContain('9 credentials supplied');
});

test('the start says that a refused decision stores no credential', () => {
  const out = printedStart({ ...started('refused', 'the migration is cancelled', 0), staged: 10 }, true);
  expect(out).toContain('  Not stored: 12 credentials. The migration is cancelled\n');
});

test('the outcome stays unknown if the ledger does not answer after the watch', async () => {
  const db = await openDatabase({ url: ledger.url, connections: 1 });
  await db.destroy();
  const start = started('recorded', RECORDED, 12);
  expect(await withLatestOutcome({ db } as LedgerClient, start)).toBe(start);
});

test('the outcome stays unknown, and the ledger can be closed, if the ledger stops answering', async () => {
  const other = await openDatabase({ url: ledger.url, connections: 1 });
  const db = await openDatabase({ url: ledger.url, connections: 1, closeWithinMs: 100 });
  const start = started('recorded', RECORDED, 12);
  // The lock keeps the query from ending, like a stopped Postgres that keeps its connections open.
  await other.transaction().execute(async (lock) => {
    await sql`lock table decisions`.execute(lock);
    expect(await withLatestOutcome({ db } as LedgerClient, start)).toBe(start);
    await db.destroy();
  });
  await other.destroy();
}, 20_000);

test.each([
  [true, acceptedText(11, 12), 'applied', 11],
  [true, '12 credentials supplied', 'applied', 12],
  [false, 'the migration is cancelled', 'refused', 0],
] as const)('the outcome after the watch counts the credentials that are in use: %s, %s', async (...each) => {
  const [applied, text, outcome, stored] = each;
  const migration = suppliedMigration();
  await supplyMigration(ledger.db, migration, manifestRows(1));
  const base = { decisionId: 'd', by: 'Cleo', role: 'client', at: AT } as const;
  const decision = { ...base, kind: 'credentials-supplied', companies: 12 } as const;
  await recordDecisions(ledger.db, migration.id, [
    { decision, outcome: { decisionId: 'd', applied, text, at: AT }, verified: true },
  ]);
  const start = { ...started('recorded', RECORDED, 12), migrationId: migration.id };
  expect(await withLatestOutcome(ledger as unknown as LedgerClient, start)).toMatchObject({
    stored,
    decision: { outcome, text },
  });
});
