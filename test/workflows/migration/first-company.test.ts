import { sql } from 'kysely';
import { reopenedText } from '../../../domain/progress/progress';
import { readCompanies, readDecisions, type LedgerCompany } from '../../../store';
import { NOT_CHECKED } from '../../../domain/companies/company-state';
import { until } from '../../support/async';
import { updateRow } from '../../support/migrations/ledger';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { CLIENT, startTestMigration, SUPPORT } from '../running-migration';

const orchestrator = useOrchestratorWithWorker();

async function statesOf(id: string): Promise<Record<string, string>> {
  const companies: LedgerCompany[] = [];
  for await (const company of readCompanies(orchestrator.ferry.db, id)) companies.push(company);
  return Object.fromEntries(companies.map(({ reference, state }) => [reference, state]));
}

async function triesOf(id: string): Promise<number> {
  const { tries } = await orchestrator.ferry.db
    .selectFrom('companies')
    .select('tries')
    .where('migration_id', '=', id)
    .executeTakeFirstOrThrow();
  return tries;
}

/** Returns whether the workflow has looked for a first company since the last check of the details began. */
async function hasChosenSinceCheck(id: string): Promise<boolean> {
  const { events } = await orchestrator.ferry.temporal.workflow.getHandle(id).fetchHistory();
  let choices: readonly string[] = [];
  let isCompleted = false;
  for (const { eventId, activityTaskScheduledEventAttributes, activityTaskCompletedEventAttributes } of events ?? []) {
    const scheduled = activityTaskScheduledEventAttributes?.activityType?.name;
    if (scheduled === 'preflight') [choices, isCompleted] = [[], false];
    if (scheduled === 'chooseFirstCompany') choices = [...choices, String(eventId)];
    isCompleted ||= choices.includes(String(activityTaskCompletedEventAttributes?.scheduledEventId));
  }
  return isCompleted;
}

test('if the first company is not moved, support chooses another company before the other companies are moved', async () => {
  const migration = await startTestMigration(orchestrator, 'another', [
    'sbx-revoked.another',
    'sbx-ok-3.another2',
    'sbx-ok-3.another3',
  ]);
  await migration.readyToMove();
  const failed = await migration.until(({ firstCompany }) => firstCompany?.stage === 'failed');
  expect(failed.firstCompany).toMatchObject({ reference: 'R-1', failure: 'reauthorization-required' });
  expect(failed.waitingFor.roles).toEqual(['support']);
  expect(await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT })).toBe(
    'refused: the first company, R-1, was not moved, so it cannot be approved; decide what to try next',
  );
  expect(await statesOf(migration.id)).toEqual({ 'R-1': 'failed', 'R-2': 'waiting', 'R-3': 'waiting' });

  const next = { step: 'migrate-first-company', reason: 'dead', next: 'another-company', company: 'R-3', ...SUPPORT };
  expect(await migration.send('reject', next)).toBe('applied');
  const verified = await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  expect(verified.firstCompany).toMatchObject({ reference: 'R-3' });
  expect(await statesOf(migration.id)).toMatchObject({ 'R-2': 'waiting' });
  expect(failed.estimate).toMatchObject({ basis: 'assumed', volume: { companies: 3 } });
  const measured = await migration.until(({ estimate }) => estimate?.basis === 'migration');
  expect(measured.estimate).toMatchObject({ measuredOn: 1, volume: { companies: 1 } });
});

test('support chooses the first company, and people see which company the migration is waiting for', async () => {
  const migration = await startTestMigration(orchestrator, 'chosen', ['sbx-ok-2.chosen', 'sbx-ok-2.chosen2']);
  expect(await migration.send('chooseFirstCompany', { company: 'R-9', ...SUPPORT })).toBe('applied');
  await migration.readyToMove();
  const waiting = await migration.until(({ waitingFor }) => waitingFor.what.includes('R-9'));
  expect(waiting.waitingFor.roles).toEqual(['client', 'support']);
  expect(await migration.send('chooseFirstCompany', { company: 'R-2', reason: 'small', ...SUPPORT })).toBe('applied');
  const verified = await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  expect(verified.firstCompany).toMatchObject({ reference: 'R-2' });
  expect(await statesOf(migration.id)).toEqual({ 'R-1': 'waiting', 'R-2': 'moved' });

  expect(await migration.send('chooseFirstCompany', { company: 'R-1', reason: 'larger', ...SUPPORT })).toBe('applied');
  await migration.until(({ firstCompany }) => firstCompany?.reference === 'R-1' && firstCompany.stage === 'verified');
  const trail = await readDecisions(orchestrator.ferry.db, migration.id);
  expect(trail.flatMap(({ decision }) => (decision.kind === 'first-company' ? [decision] : []))).toMatchObject([
    { reference: 'R-9', by: 'Sam' },
    { reference: 'R-2', reason: 'small' },
    { reference: 'R-1', reason: 'larger' },
  ]);
});

test('a requested first company that a check of changed details releases is moved without another decision', async () => {
  const migration = await startTestMigration(orchestrator, 'released', ['sbx-ok-1.released', 'sbx-ok-1.released2']);
  await migration.until(({ preflight }) => preflight !== null);
  expect(await migration.send('chooseFirstCompany', { company: 'R-2', ...SUPPORT })).toBe('applied');
  await updateRow(orchestrator.ferry.db, migration.id, 2, { held_back: NOT_CHECKED });
  await migration.readyToMove();
  await migration.until(({ waitingFor }) => waitingFor.what.startsWith('R-2 was chosen to go first but is not ready'));
  // The check waits for this lock, so the migration finds that the company is still not ready.
  const locking = await orchestrator.ferry.db.startTransaction().execute();
  await sql`select from companies where migration_id = ${migration.id} and row = 2 for update`.execute(locking);
  expect(await migration.send('manifestAmended', { added: 0, corrected: 1, ...CLIENT })).toBe('applied');
  await until(() => hasChosenSinceCheck(migration.id));
  await locking.commit().execute();
  const verified = await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  expect(verified.firstCompany).toMatchObject({ reference: 'R-2' });
});

test('the same first company can be retried, even if no other company is left', async () => {
  const migration = await startTestMigration(orchestrator, 'same', ['sbx-revoked.same']);
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'failed');
  const before = await triesOf(migration.id);
  const next = { step: 'migrate-first-company', reason: 'once more', next: 'same-company', ...SUPPORT };
  expect(await migration.send('reject', next)).toBe('applied');
  const again = await migration.until(({ firstCompany }) => firstCompany?.stage === 'failed');
  expect(again.firstCompany).toMatchObject({ failure: 'reauthorization-required' });
  expect(await triesOf(migration.id)).toBe(before + 1);
});

test('a company with an unusable credential is moved with a new credential', async () => {
  const migration = await startTestMigration(orchestrator, 'replaced', [
    'sbx-revoked.replaced',
    'sbx-revoked.replaced2',
  ]);
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'failed');
  expect(await migration.replace('R-1', 'sbx-ok-2.replaced')).toBe('applied');
  const verified = await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  expect(verified.firstCompany).toMatchObject({ reference: 'R-1' });

  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  await migration.until(({ counts, waitingFor }) => counts.failed === 1 && waitingFor.roles.length === 2);
  expect(await migration.send('approve', { step: 'complete-migration', ...SUPPORT })).toBe('applied');
  expect(await migration.replace('R-2', 'sbx-ok-2.replaced2')).toBe('applied');
  await migration.until(({ counts }) => counts.moved === 2);
});

test('rejecting step 4 withdraws all confirmations, and nothing is moved until they are repeated', async () => {
  const migration = await startTestMigration(orchestrator, 'taken-back', ['sbx-ok-1.taken-back']);
  await migration.until(({ preflight }) => preflight !== null);
  await migration.send('approve', { step: 'supply-details', ...SUPPORT });
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  await migration.send('proposeTime', { startAt: tomorrow, ...SUPPORT });
  for (const step of ['schedule', 'update-application']) {
    await migration.send('approve', { step, ...SUPPORT });
    await migration.send('approve', { step, ...CLIENT });
  }
  await migration.send('confirmSyncDisabled', { companies: 'all', ...CLIENT });
  await migration.until(({ step }) => step === 'migrate-first-company');
  expect(await migration.send('reject', { step: 'disable-syncing', reason: 'it still syncs', ...CLIENT })).toBe(
    'applied',
  );
  const open = await migration.until(({ counts }) => counts.unconfirmed === 1);
  expect(open).toMatchObject({ step: 'disable-syncing', waitingFor: { roles: ['client'] } });
  expect(await migration.send('confirmSyncDisabled', { companies: 'all', ...CLIENT })).toBe('applied');
  await migration.until(({ step }) => step === 'migrate-first-company');
});

test('an abandoned migration ends and destroys its credentials', async () => {
  const migration = await startTestMigration(orchestrator, 'abandoned', [
    'sbx-revoked.abandoned',
    'sbx-ok-3.abandoned2',
  ]);
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'failed');
  await migration.send('reject', { step: 'migrate-first-company', reason: 'no', next: 'abandon', ...SUPPORT });
  const ended = (await orchestrator.ferry.temporal.workflow.getHandle(migration.id).result()) as { ending: string };
  expect(ended.ending).toBe('abandoned');
  expect(
    await orchestrator.ferry.db
      .selectFrom('credentials')
      .select('row')
      .where('migration_id', '=', migration.id)
      .execute(),
  ).toEqual([]);
});

test('a first company that has moved and is rejected is checked again, and the second check is visible', async () => {
  const migration = await startTestMigration(orchestrator, 'checked-twice', ['sbx-ok-2.twice1', 'sbx-ok-2.twice2']);
  await migration.readyToMove();
  const { firstCompany } = await migration.until((progress) => progress.firstCompany?.stage === 'verified');
  const rejection = { step: 'migrate-first-company', next: 'same-company', reason: 'count again', ...SUPPORT };
  expect(await migration.send('reject', rejection)).toBe('applied');
  const again = await migration.until(
    (progress) => (progress.firstCompany?.checkedAt ?? '') > (firstCompany?.checkedAt ?? '9'),
  );
  expect(again.firstCompany?.stage).toBe('verified');
  expect(reopenedText(again)).toMatch(/^First company R-1 rejected by .+: count again; checked again at .+ UTC$/);
  const { outcome } = (await readDecisions(orchestrator.ferry.db, migration.id)).at(-1) ?? {};
  expect(outcome?.text).toBe('R-1 will be checked again; it has moved, so no data is synced again for the checks');
});

test('a migration whose application is refused by the platform pauses itself, and continues after a resume', async () => {
  const migration = await startTestMigration(orchestrator, 'application', ['sbx-other-application.application']);
  await migration.readyToMove();
  const paused = await migration.until(({ state }) => state === 'paused');
  expect(paused.pause).toMatchObject({ by: null, stopReason: 'application-refused' });
  expect(paused.pause?.reason).toMatch(/ \(affected: company R-1\)$/);
  expect(paused.waitingFor.what).toContain('(affected: company R-1)');
  expect(await statesOf(migration.id)).toEqual({ 'R-1': 'waiting' });

  await migration.supply('R-1', 'sbx-ok-2.application');
  expect(await migration.send('resume', SUPPORT)).toBe('applied');
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
});

test('a paused migration moves no company and refuses the sign-off until it is resumed', async () => {
  const migration = await startTestMigration(orchestrator, 'paused', ['sbx-ok-2.paused1', 'sbx-ok-2.paused2']);
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  expect(await migration.send('pause', { reason: 'tea', ...SUPPORT })).toBe('applied');
  expect(await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT })).toBe('applied');
  expect(await migration.send('approve', { step: 'complete-migration', ...CLIENT })).toBe(
    'refused: 1 company has no final outcome yet',
  );
  expect(await statesOf(migration.id)).toEqual({ 'R-1': 'moved', 'R-2': 'waiting' });
  expect(await migration.send('resume', SUPPORT)).toBe('applied');
  await migration.until(({ counts }) => counts.moved === 2);
});

test('a pause and a resume in step 5 keep the first company that has been moved', async () => {
  const migration = await startTestMigration(orchestrator, 'interrupted', ['sbx-ok-2.first', 'sbx-ok-2.second']);
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  expect(await migration.send('pause', { reason: 'tea', ...SUPPORT })).toBe('applied');
  expect(await migration.send('resume', SUPPORT)).toBe('applied');
  expect(await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT })).toBe('applied');
  await migration.until(({ counts }) => counts.moved === 2);
});
