/**
 * Tests `ferry exceptions`, which lists companies that were not moved and suggests commands for them. Also runs these
 * commands.
 */
import { localTime } from '../../../cli/terminal/times';
import { WEEKDAYS } from '../../../domain/planning/windows';
import { findCompany, readMigration } from '../../../store';
import { changeLimits } from '../../../store/migrations/migrations';
import { until } from '../../support/async';
import { readRow, updateRow } from '../../support/migrations/ledger';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { startTestMigration, type TestMigration } from '../../workflows/running-migration';
import { ferry } from '../captured-terminal';
import { runJson } from '../command-line';
import { writeCredentials, type CredentialToken } from './credential-file';
import { temporaryFolder } from '../../support/temporary-folder';

const orchestrator = useOrchestratorWithWorker();
let migration: TestMigration;
const folder = temporaryFolder();
beforeAll(async () => {
  migration = await startTestMigration(
    orchestrator,
    'excepted',
    ['sbx-ok-10.e1', 'sbx-revoked.e2', 'sbx-short-3-of-10.e3', 'sbx-ok-10.e4'],
    10,
  );
  await migration.readyToComplete();
  await migration.until(({ counts }) => counts.failed === 2 && counts.moved === 2);
});

const run = (...args: string[]) => ferry(args, undefined, orchestrator.env);
const company = (reference: string) => findCompany(orchestrator.ferry.db, migration.id, { reference });

/** Returns the remedies that `ferry exceptions` suggests for the company at the top of its list. */
const remediesOf = async () => {
  const { json } = await runJson(orchestrator, 'exceptions', migration.id);
  const [first] = json['exceptions'] as readonly { readonly remedies: readonly { readonly remedy: string }[] }[];
  return first?.remedies.map(({ remedy }) => remedy);
};

const credentials = (...tokens: readonly CredentialToken[]) =>
  writeCredentials(folder, orchestrator.ferry.db, migration.id, tokens);

test('each exception is listed with its remedies as commands', async () => {
  const { exitCode, json } = await runJson(orchestrator, 'exceptions', migration.id);
  expect(exitCode).toBe(0);
  expect(json).toMatchObject({
    schema: 'ferry.exceptions/1',
    exceptions: [
      {
        reference: 'R-2',
        failure: 'reauthorization-required',
        correlationId: expect.any(String) as string,
        remedies: [
          { remedy: 'relink', command: `ferry relink ${migration.id} R-2` },
          { remedy: 'replace-credential', command: `ferry replace-credential ${migration.id} new-credentials.csv` },
          { remedy: 'retry', command: `ferry retry ${migration.id} R-2` },
          { remedy: 'skip', command: `ferry skip ${migration.id} R-2 --reason "why"` },
        ],
      },
      { reference: 'R-3', failure: 'incomplete', remedies: [{ remedy: 'retry' }, { remedy: 'amend' }, {}, {}] },
    ],
  });
  const { out } = await run('exceptions', migration.id);
  expect(out).toContain(`ferry retry ${migration.id} R-3`);
  expect(out).toMatch(/R-2 reconnects at http/);
  expect(out).toContain('2 exceptions');
});

test('a retry is not suggested if the grant of an accepted credential has ended', async () => {
  const { db } = orchestrator.ferry;
  const { crossed_at } = await readRow(db, migration.id, 2);
  await updateRow(db, migration.id, 2, { crossed_at: new Date() });
  expect(await remediesOf()).toEqual(['relink', 'replace-credential', 'skip']);
  expect((await run('exceptions', migration.id)).out).toMatch(
    /^must reconnect: .* \(the service accepted the credential earlier, so a retry does not help\): 1 company$/m,
  );
  await updateRow(db, migration.id, 2, { crossed_at });
  expect(await remediesOf()).toContain('retry');
});

test('only remedies that the migration accepts now are suggested', async () => {
  const { db } = orchestrator.ferry;
  const released = (step: 'first-company' | 'all', firstRow: number | null) =>
    db.updateTable('migrations').set({ released: step, first_row: firstRow }).where('id', '=', migration.id).execute();
  const firstRow = (await readMigration(db, migration.id))?.firstRow ?? null;
  try {
    // Another company has been chosen as the first company.
    await released('first-company', 1);
    expect(await remediesOf()).toEqual(['replace-credential']);
    await released('first-company', 2);
    expect(await remediesOf()).toEqual(['replace-credential', 'retry']);
    const { out } = await run('exceptions', migration.id);
    expect(out).not.toContain(`ferry skip ${migration.id}`);
    expect(out).toContain(
      `To choose another first company, or to see what else you can do, run: ferry show ${migration.id}`,
    );
  } finally {
    await released('all', firstRow);
  }
  expect(await remediesOf()).toContain('skip');
});

test('exceptions and companies show support the names of other clients that the client does not see', async () => {
  const { id, until: reached } = await startTestMigration(orchestrator, 'named', ['sbx-ok-1.named']);
  await reached(({ preflight }) => preflight !== null);
  await updateRow(orchestrator.ferry.db, id, 1, { held_back: 'in use elsewhere', held_back_details: 'in kite.xero' });
  for (const command of ['exceptions', 'companies']) expect((await run(command, id)).out).toContain('in kite.xero');
  expect((await run('report', id, '--format', 'json')).out).not.toContain('kite');
});

test('a company that is waiting for its end customer to reconnect is shown as waiting', async () => {
  const { db } = orchestrator.ferry;
  const relinking = (relinking_since: Date | null) => updateRow(db, migration.id, 2, { relinking_since });
  await relinking(new Date());
  try {
    expect((await run('exceptions', migration.id)).out).toMatch(/R-2 .* \(waiting for the end customer since /);
  } finally {
    await relinking(null);
  }
});

test('the state of a company that must reconnect is not repeated in its explanation', async () => {
  const shown = await run('companies', migration.id, '--state', 'must-reconnect');
  expect(shown.out).toMatch(/R-2 .* must reconnect +the authorization no longer works/);
});

/** Stores a credential of R-4, because its own credential was deleted when it moved. */
async function storeCredential(): Promise<void> {
  const values = { migration_id: migration.id, row: 4, sealed: Buffer.alloc(1), supplied_by: 'Cleo', crossed_at: null };
  await orchestrator.ferry.db
    .insertInto('credentials')
    .values({ ...values, obtained_at: new Date() })
    .execute();
}

/** Makes R-4 a company that was deferred twice, and returns a function that undoes this. */
async function deferTwice(nextTryAt: Date): Promise<() => Promise<void>> {
  const { db } = orchestrator.ferry;
  const { id } = migration;
  const { tries } = await readRow(db, id, 4);
  await updateRow(db, id, 4, { state: 'waiting', tries: 2, failure_text: 'no access', not_before: nextTryAt });
  return async () => {
    await db.deleteFrom('credentials').where('migration_id', '=', id).where('row', '=', 4).execute();
    await updateRow(db, id, 4, { state: 'moved', tries, failure_text: null, not_before: null });
  };
}

test('show and exceptions list a company that was deferred twice, with the commands that help', async () => {
  const { id } = migration;
  const undo = await deferTwice(new Date(Date.now() + 3_600_000));
  expect((await run('show', id)).out).toMatch(/1 company deferred: R-4\n.*ferry exceptions/);
  const lacking = await runJson(orchestrator, 'companies', id, '--state', 'not-moved-yet');
  expect(lacking.json).toMatchObject({ companies: [{ reference: 'R-4', deferred: true, retryAt: null }] });
  await storeCredential();
  const { out } = await run('exceptions', id);
  await undo();
  expect(out).toMatch(/deferred by the service[^]*R-4 [^]*tried 2 times; next try/);
  expect(out).toMatch(/ferry retry \S+ R-4[^]*? ferry replace-credential [^]*? ferry skip \S+ R-4/);
});

test('exceptions says that a deferred company waits for the next window, and shows no next try in the past', async () => {
  const { db } = orchestrator.ferry;
  const { id } = migration;
  const [anHourAgo, inAMinute] = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 60_000)];
  const undo = await deferTwice(anHourAgo);
  await storeCredential();
  try {
    expect((await run('exceptions', id)).out).toContain('tried 2 times; next try is due now)');
    const opensAt = new Date(Math.ceil((Date.now() + 3 * 3_600_000) / 3_600_000) * 3_600_000);
    const [from, to] = [0, 1].map((hours) => `${String((opensAt.getUTCHours() + hours) % 24).padStart(2, '0')}:00`);
    const windows = [{ days: WEEKDAYS, from: from ?? '', to: to ?? '', timeZone: 'UTC' }];
    await changeLimits(db, id, { windows });
    for (const notBefore of [anHourAgo, inAMinute]) {
      await updateRow(db, id, 4, { not_before: notBefore });
      expect((await run('exceptions', id)).out).toContain(`tried 2 times; next try ${localTime(opensAt)})`);
    }
  } finally {
    await changeLimits(db, id, { windows: [] });
    await undo();
  }
});

test.each([
  ['retry', 'R-1', 'R-1 (moved)'],
  ['relink', 'R-3', 'R-3 (not moved)'],
  ['exclude', 'R-2', 'R-2 (must reconnect)'],
])('%s refuses a company that it does not apply to, and names the company', async (remedy, reference, description) => {
  const reason = remedy === 'exclude' ? ['--reason', 'any'] : [];
  const { exitCode, err } = await run(remedy, migration.id, reference, ...reason);
  expect(exitCode).toBe(1);
  expect(err).toBe(
    `ferry: ${remedy} does not apply to ${description}; nothing was decided; to see which commands resolve problems of companies, run: ferry exceptions ${migration.id}\n`,
  );
});

test('skip names the companies and asks before it gives up on them, and needs --yes without a terminal', async () => {
  const skip = ['skip', migration.id, 'R-2', '--reason', 'any', '--by', 'Sam'];
  const lost = '1 company will not be tried again, not even if an end customer reconnects: R-2 (';
  for (const more of [[], ['--json'], ['--quiet']]) {
    const { exitCode, out, err } = await run(...skip, ...more);
    expect(exitCode).toBe(1);
    expect(out + err).toContain(`this cannot be undone: ${lost}`);
    expect(out + err).toContain('must reconnect)');
  }
  const questions: string[] = [];
  const confirm = async (question: string) => (questions.push(question), false);
  const declined = await ferry(skip, undefined, orchestrator.env, { confirm, secret: async () => '' });
  expect(declined).toMatchObject({ exitCode: 1 });
  expect(declined.out).toContain(`This cannot be undone: ${lost}`);
  expect(questions).toEqual([`Give up on 1 company of ${migration.id} for good?`]);
  expect((await company('R-2'))?.state).toBe('failed');
});

test('credentials refuses the credentials of companies that have already been tried, and suggests replace-credential', async () => {
  const file = await credentials(['R-1', 'sbx-ok-10.late'], ['R-2', 'sbx-ok-10.new']);
  const { exitCode, out } = await run('credentials', migration.id, file, '--as', 'client', '--by', 'Cleo');
  expect(exitCode).toBe(1);
  expect(out).toContain('1 credential refused (R-1): a company that has moved needs no credential');
  expect(out).toContain('1 credential refused (R-2): a company that was tried needs a replacement');
  expect(out).toContain(`to replace the credentials, run: ferry replace-credential ${migration.id} ${file}`);
  expect((await company('R-2'))?.state).toBe('failed');
});

test('a refused replace-credential leaves the vault unchanged, and moves no company', async () => {
  const rowsOf = (table: 'credentials' | 'staged_credentials') =>
    orchestrator.ferry.db.selectFrom(table).selectAll().where('migration_id', '=', migration.id).execute();
  const before = await rowsOf('credentials');
  const file = await credentials(['R-2', 'sbx-ok-10.new']);
  const late = ['--valid-until', '2026-11-01T12:00Z'];
  const { exitCode, out } = await run('replace-credential', migration.id, file, ...late, '--by', 'Sam');
  expect(exitCode).toBe(1);
  expect(out).toContain('this decision expired');
  expect(out).toContain('no credential was stored');
  expect(out).not.toContain('sealed and stored');
  expect(await rowsOf('credentials')).toEqual(before);
  expect(await rowsOf('staged_credentials')).toEqual([]);
  expect((await company('R-2'))?.state).toBe('failed');
});

test('companies are moved with their replaced credentials, even an incomplete company', async () => {
  const file = await credentials(['R-1', 'sbx-ok-10.late'], ['R-2', 'sbx-ok-10.new'], ['R-3', 'sbx-ok-10.new3']);
  const { exitCode, json } = await runJson(orchestrator, 'replace-credential', migration.id, file, '--by', 'Sam');
  // The credential of R-1 was not stored, because R-1 has already moved.
  expect(exitCode).toBe(1);
  expect(json).toMatchObject({ stored: ['R-2', 'R-3'], wrongState: ['R-1'], decision: { outcome: 'applied' } });
  for (const moved of ['R-2', 'R-3']) await until(async () => (await company(moved))?.state === 'moved');
  expect((await run('exceptions', migration.id)).out).toBe('No exceptions.\n');
  const { json: report } = await runJson(orchestrator, 'report', migration.id);
  const decision: unknown = expect.objectContaining({
    kind: 'replace-credential',
    by: 'Sam',
    companies: ['R-2', 'R-3'],
  });
  expect(report['decisions']).toContainEqual(expect.objectContaining({ decision }));
});

test('after the migration has ended, nothing is retried, and no command is suggested', async () => {
  const { id } = migration;
  const { db } = orchestrator.ferry;
  await deferTwice(new Date(Date.now() + 3_600_000));
  const link = { link_url: 'http://example.com/link', relinking_since: new Date() };
  await updateRow(db, id, 2, { state: 'failed', failure: 'reauthorization-required', ...link });
  expect((await run('show', id)).out).toMatch(/1 company deferred: R-4\n/);
  expect((await run('cancel', id, '--by', 'Sam', '--reason', 'over', '--yes')).exitCode).toBe(0);
  await until(async () => (await readMigration(db, id))?.state === 'closed');

  const readListed = async (): Promise<{ migrationId: string; total: number; done: number; failed: number }> => {
    const { json } = await runJson(orchestrator, 'list');
    const all = json['migrations'] as Awaited<ReturnType<typeof readListed>>[];
    return all.find(({ migrationId }) => migrationId === id) ?? { migrationId: id, total: 0, done: 0, failed: 0 };
  };
  // Temporal lists the end a moment after the ledger has it.
  await until(async () => {
    const { done, total } = await readListed();
    return done === total;
  });
  const listed = await readListed();
  expect((await run('companies', id, '--state', 'not-moved')).out).toMatch(/^R-4 .* not moved /m);
  expect((await run('companies', id, '--state', 'not-moved-yet')).out).toContain('0 companies');
  const { counts } = (await runJson(orchestrator, 'report', id)).json as { counts: Record<string, number> };
  expect(listed.failed).toBe((counts['failed'] ?? 0) + (counts['waiting'] ?? 0) + (counts['outcomeUnknown'] ?? 0));
  expect((await run('report', id)).out).toMatch(/^\| still being checked +\| 0 \|$/m);

  const shown = (await run('show', id)).out;
  expect(shown).not.toMatch(/deferred|ferry exceptions/);
  expect(shown).toMatch(/6 +Complete the migration +ended here/);
  const { out } = await run('exceptions', id);
  expect(out).toMatch(/^not moved when the migration ended: 1 company/m);
  expect(out).toContain('R-2 reconnects at http://example.com/link');
  expect(out).toContain(
    `The migration is cancelled and accepts no more decisions. To see what each company needs, run: ferry report ${id}`,
  );
  expect(out).not.toMatch(/retried automatically|next try|waiting for the end customer|ferry (?!report)/);
  const { json } = await runJson(orchestrator, 'exceptions', id);
  for (const each of json['exceptions'] as readonly object[])
    expect(each).toMatchObject({ deferred: false, retryAt: null, relinkingSince: null, remedies: [] });
  expect((await run('retry', id, 'R-4')).err).toContain('is cancelled and accepts no more decisions');
});
