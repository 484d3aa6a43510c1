/** Tests which migrations `ferry list` shows in addition to those that Temporal lists. */
import { createHash } from 'node:crypto';
import { stripVTControlCharacters } from 'node:util';
import { createInvitation, markKeyConfirmed, revokeInvitation } from '../../../store';
import { startTestMigration } from '../../workflows/running-migration';
import { until } from '../../support/async';
import { updateRow } from '../../support/migrations/ledger';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';
import { runJson } from '../command-line';

interface Line {
  readonly migrationId: string;
  readonly onlyInLedger: boolean;
}

const orchestrator = useOrchestrator();

/** Deletes a workflow from Temporal, as Temporal does when the retention period of an ended workflow is over. */
async function forget(workflowId: string): Promise<void> {
  const { workflowService, options } = orchestrator.ferry.temporal;
  await workflowService.deleteWorkflowExecution({ namespace: options.namespace, workflowExecution: { workflowId } });
}

test('list shows migrations that only the ledger has, and says whether they have ended', async () => {
  const { db } = orchestrator.ferry;
  const [ended, lost, recent] = await Promise.all(
    ['list-ended', 'list-lost', 'list-recent'].map((client) =>
      startTestMigration(orchestrator, client, ['sbx-ok-1', 'sbx-ok-1']),
    ),
  );
  const ids = [ended, lost, recent].map((migration) => migration?.id ?? '');
  const [endedId = '', lostId = '', recentId = ''] = ids;
  await db
    .updateTable('migrations')
    .set({ supplied_at: new Date(Date.now() - 120_000) })
    .where('id', 'in', [endedId, lostId])
    .execute();
  await db.updateTable('migrations').set({ state: 'closed', ending: 'completed' }).where('id', '=', endedId).execute();
  for (const id of ids) await forget(id);

  const linesOf = async () => {
    const { json } = await runJson(orchestrator, 'list');
    return (json['migrations'] as Line[]).filter(({ migrationId }) => ids.includes(migrationId));
  };
  await until(async () => (await linesOf()).every(({ onlyInLedger }) => onlyInLedger));
  const lines = await linesOf();
  expect(lines).toContainEqual(
    expect.objectContaining({ migrationId: endedId, state: 'completed', onlyInLedger: true, total: 2, done: 2 }),
  );
  const interrupted = await ferry(['show', endedId], undefined, orchestrator.env);
  expect(interrupted.err).toContain(
    `Temporal has deleted ${endedId}, and its closing was interrupted, so its credentials still exist; to destroy the credentials, run: ferry sweep --close ${endedId}\n`,
  );
  await db.updateTable('migrations').set({ vault_destroyed_at: new Date() }).where('id', '=', endedId).execute();
  const endedShow = await ferry(['show', endedId], undefined, orchestrator.env);
  expect(endedShow.err).toContain(
    `${endedId} has ended, and Temporal has deleted it; to see what was moved, run: ferry report`,
  );
  await db.updateTable('migrations').set({ state: 'open' }).where('id', '=', lostId).execute();
  expect(await linesOf()).toContainEqual(expect.objectContaining({ migrationId: lostId, state: 'not in Temporal' }));
  const lostShow = await ferry(['show', lostId], undefined, orchestrator.env);
  expect(lostShow.err).toContain(
    `${lostId} is in the ledger, but not in Temporal; check that TEMPORAL_ADDRESS names the Temporal of this migration; if Temporal's database was lost or restored`,
  );
  // The migration can be running in another Temporal, so a pause must not report that it is closed.
  const pause = await ferry(['pause', lostId, '--by', 'Sam'], undefined, orchestrator.env);
  expect(pause.err).toBe(lostShow.err);
  await db.updateTable('migrations').set({ state: 'supplied' }).where('id', '=', lostId).execute();
  const unstarted = await ferry(['show', lostId], undefined, orchestrator.env);
  expect(unstarted.err).toBe(
    `ferry: ${lostId} was stored, but is not in Temporal, and no worker has begun it; run the same ferry start command again\n`,
  );
  expect(await linesOf()).toContainEqual(expect.objectContaining({ migrationId: lostId, state: 'not started' }));
  const listed = (await ferry(['list'], undefined, orchestrator.env)).out;
  expect(listed).toContain(
    `${lostId} was stored, but Temporal does not have it, and no worker has begun it.\n  Run the same ferry start or ferry self-service command again.\n`,
  );
  expect(listed).not.toContain('docs/backup.md');
  await db.updateTable('migrations').set({ state: 'open' }).where('id', '=', lostId).execute();
  // A migration that was supplied less than a minute ago is left out, because Temporal lists a new workflow with a
  // delay.
  expect(lines.map(({ migrationId }) => migrationId)).not.toContain(recentId);

  await db
    .updateTable('companies')
    .set({ state: 'failed' })
    .where('migration_id', '=', endedId)
    .where('row', '=', 1)
    .execute();
  await db
    .updateTable('companies')
    .set({ state: 'moved' })
    .where('migration_id', '=', endedId)
    .where('row', '=', 2)
    .execute();
  const { out } = await ferry(['list'], 80, orchestrator.env);
  // Of the two companies of the ended migration, one is done, none is open, and one was not moved.
  const plain = stripVTControlCharacters(out);
  expect(plain.replace(/\s+/g, ' ')).toContain(
    ' Done: companies that have moved or were left out. Not moved: also includes companies that must reconnect. ',
  );
  // The column of the step is left out if another test file has migrations with longer ids.
  expect(plain).toMatch(new RegExp(`${endedId} +\\S+ +(- +)?- +1/2 +0 +1`));
  expect(plain).toMatch(new RegExp(`${lostId} .* 0/2 +2 +0`));
  // Lines are wrapped at the width of the terminal.
  expect(out.replace(/\s+/g, ' ')).toContain(
    'The list has 1 ended migration that Temporal has deleted and the ledger still has (step "-").',
  );
  expect(out.replace(/\s+/g, ' ')).toContain(
    `To see what was moved, use the report, for example: ferry report ${endedId}`,
  );
  expect(out).toContain(`\nThe ledger has ${lostId}, but Temporal does not.\n`);
  expect(out.replace(/\s+/g, ' ')).toContain(
    "Check that TEMPORAL_ADDRESS names the Temporal of this migration. If Temporal's database was lost or restored, docs/backup.md says what to do.",
  );
});

test('list counts the companies of running migrations from the ledger, because the counts in Temporal are older', async () => {
  const { id } = await startTestMigration(orchestrator, 'list-current', ['sbx-ok-1', 'sbx-ok-1', 'sbx-ok-1']);
  await updateRow(orchestrator.ferry.db, id, 1, { state: 'moved' });
  await updateRow(orchestrator.ferry.db, id, 2, { state: 'failed' });
  const line = async () => {
    const { json } = await runJson(orchestrator, 'list');
    return (json['migrations'] as Line[]).find(({ migrationId }) => migrationId === id);
  };
  await until(async () => (await line()) !== undefined);
  expect(await line()).toMatchObject({ total: 3, done: 2, failed: 1 });
});

test('list names only the people whose keys support has to confirm', async () => {
  const { db } = orchestrator.ferry;
  const { id } = await startTestMigration(orchestrator, 'list-keys', ['sbx-ok-1']);
  for (const person of ['Cleo', 'Dana', 'Eve', 'Finn', 'Gus']) {
    const invitation = { migrationId: id, person, role: 'client', email: null, createdBy: 'Sam' } as const;
    const created = await createInvitation(db, { ...invitation, expiresAt: new Date(Date.now() + 3_600_000) });
    if (person === 'Gus') continue; // Gus has not signed in.
    const change = { public_key: createHash('sha256').update(person).digest('hex'), redeemed_at: new Date() };
    await db.updateTable('portal_invitations').set(change).where('id', '=', created.id).execute();
    if (person === 'Eve') await revokeInvitation(db, created.id, 'Sam');
    if (person === 'Finn') await markKeyConfirmed(db, created.id);
  }
  const listed = async () => (await ferry(['list'], undefined, orchestrator.env)).out;
  await until(async () => (await listed()).includes(id));
  const text = await listed();
  expect(text).toMatch(
    new RegExp(`Support has not confirmed the keys of (Cleo and Dana|Dana and Cleo) for ${id}\\.\n`),
  );
  expect(text).toContain(`  To see how to confirm these keys, run: ferry invite --list ${id}\n`);
  const { json } = await runJson(orchestrator, 'list');
  const line = (json['migrations'] as Line[]).find(({ migrationId }) => migrationId === id);
  expect(line).toMatchObject({ waitingFor: expect.stringMatching(/support$/) as unknown });
});

test('list --client shows only the migrations of one client, in every format', async () => {
  const { db } = orchestrator.ferry;
  const [{ id: one }, { id: stored }, { id: other }] = await Promise.all([
    startTestMigration(orchestrator, 'fjord', ['sbx-ok-1'], null, { label: 'one' }),
    startTestMigration(orchestrator, 'fjord', ['sbx-ok-1'], null, { label: 'stored' }),
    startTestMigration(orchestrator, 'fjord-east', ['sbx-ok-1']),
  ]);
  const longAgo = new Date(Date.now() - 120_000);
  await db.updateTable('migrations').set({ supplied_at: longAgo }).where('id', 'in', [stored, other]).execute();
  for (const id of [stored, other]) await forget(id);
  const listed = async (...args: string[]) => (await ferry(['list', ...args], undefined, orchestrator.env)).out;
  await until(async () => (await listed('--client', 'fjord', '--quiet')) === `${one}\n${stored}\n`);
  const { json } = await runJson(orchestrator, 'list', '--client', 'fjord');
  expect((json['migrations'] as Line[]).map(({ migrationId }) => migrationId)).toEqual([one, stored]);
  expect(stripVTControlCharacters(await listed('--client', 'fjord'))).not.toContain(other);
  expect(await listed('--client', 'nobody')).toBe('No migrations of nobody yet. Start a migration with: ferry start\n');
});
