import { sendCompanyDecision } from '../../../cli/shared/decisions';
import { MAX_COMPANIES_PER_MESSAGE } from '../../../domain/migration/decision-fields';
import { until } from '../../support/async';
import { createTestDatabase } from '../../support/servers/database';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { startTestMigration } from '../../workflows/running-migration';
import { ferry } from '../captured-terminal';
import { runJson, exportedCredentials, MANIFEST } from '../command-line';

const orchestrator = useOrchestratorWithWorker();
let started: Awaited<ReturnType<typeof ferry>>;
const ID = 'decider.quickbooks-online';
const CLIENT = ['--as', 'client', '--by', 'Cleo'];

beforeAll(async () => {
  started = await ferry(['start', MANIFEST, '--platform', 'quickbooks-online', '--client', 'decider'], undefined, {
    ...orchestrator.env,
    TOKENFERRY_CLIENT_UI_URL: 'https://ui.example/',
  });
});

const run = (...args: string[]) => ferry(args, undefined, orchestrator.env);

test('start refuses an id that already exists, with advice', async () => {
  const { exitCode, err } = await run('start', MANIFEST, '--platform', 'quickbooks-online', '--client', 'decider');
  expect(exitCode).toBe(1);
  expect(err).toBe(`ferry: migration ${ID} already exists; choose another --label\n`);
});

test('start refuses organizations of another open migration, and lists them', async () => {
  const { exitCode, err } = await run(
    ...['start', MANIFEST, '--platform', 'quickbooks-online', '--client', 'decider', '--label', 'again'],
  );
  expect(exitCode).toBe(1);
  expect(err).toContain(`C-1001: organization 9130350226405985 is already part of migration ${ID}`);
  expect((await runJson(orchestrator, 'companies', `${ID}.again`)).exitCode).toBe(1);
});

const NOBODY = 'there is no migration nobody.xero; list all migrations with: ferry list';
const WITHOUT_ARGUMENTS = ['approve', 'show', 'companies', 'report', 'migration-key'];
test.each<[string[], string]>([
  ...WITHOUT_ARGUMENTS.map((name): [string[], string] => [[name, 'nobody.xero'], NOBODY]),
  [['credentials', 'nobody.xero', MANIFEST], NOBODY],
  [['confirm-sync-disabled', 'nobody.xero', '--wave', '1', ...CLIENT], NOBODY],
  [['confirm-sync-disabled', 'nobody.xero', 'C-1001', ...CLIENT], NOBODY],
  [['first-company', 'nobody.xero', 'C-1001'], NOBODY],
  [['show', ID.slice(0, -7)], `there is no migration ${ID.slice(0, -7)}; did you mean ${ID}?`],
  [['approve', `${ID}x`], `there is no migration ${ID}x; did you mean ${ID}?`],
  [['approve', ID, 'shedule'], 'there is no step shedule; did you mean schedule?'],
  [
    ['confirm-sync-disabled', ID, '--wave', '7', ...CLIENT],
    `wave 7 of ${ID} has no company that is waiting to be moved; ` +
      `see the companies of this wave with: ferry companies ${ID} --wave 7; ` +
      `to see the wave of every company, run: ferry companies ${ID} --csv`,
  ],
  [
    ['confirm-sync-disabled', ID, ...CLIENT],
    'no company was specified; specify references, or use --file, --wave, or --all',
  ],
])('ferry %j fails with one line: %s', async (args, message) => {
  const { exitCode, out, err } = await run(...args);
  expect({ exitCode, out, err }).toEqual({ exitCode: 1, out: '', err: `ferry: ${message}\n` });
});

test('a decision that is not in the ledger is not reported as applied, and the missing ledger is named', async () => {
  const emptyLedger = await createTestDatabase('ledger');
  const runWith = (...args: string[]) => ferry(args, undefined, { ...orchestrator.env, DATABASE_URL: emptyLedger.url });
  const { exitCode, out } = await runWith('pause', ID, '--reason', 'lunch');
  expect({ exitCode, out }).toEqual({
    exitCode: 0,
    out: `… ${ID}: the migration has accepted the decision, but it is not in the ledger yet, so it can still be refused. To see the outcome, run: ferry audit ${ID}\n`,
  });
  expect((await runWith('first-company', ID, 'C-1001')).err).toBe(
    `ferry: ${ID} is in Temporal, but not in the ledger; check that DATABASE_URL names the ledger of this migration; if the ledger was restored from a backup, docs/backup.md says what to do next\n`,
  );
  await emptyLedger.drop();
  // In the real ledger, the migration is paused.
  expect((await run('resume', ID)).out).toContain('✓');
});

test('both sides can pause, and lifting the pause of the other side needs --yes', async () => {
  await run('pause', ID, '--reason', 'our office is flooded', ...CLIENT);
  expect((await run('pause', ID, '--reason', 'maintenance')).out).toContain('paused');
  expect((await run('pause', ID, '--reason', 'again')).out).toContain('support has already paused the migration');
  const shown = await run('show', ID);
  expect(shown.out).toMatch(/^Paused by .+ \(client\) since .+: our office is flooded\nPaused by .+ \(support\)/m);
  const refused = await run('resume', ID, '--json');
  expect(refused).toMatchObject({
    exitCode: 1,
    out: expect.stringMatching(
      /paused by .+ \(client\) since .+: our office is flooded; paused by .+ \(support\) since .+: maintenance.*--yes/s,
    ) as string,
  });
  expect((await run('show', ID)).out).toContain('(paused)');
  const { out } = await run('resume', ID, '--yes');
  expect(out).toMatch(/resumed \(lifted the pause by .+ \(client\) and the pause by .+ \(support\)\)/);
});

test('a decision by the wrong role is refused with exit code 1, and appears in the report', async () => {
  const { exitCode, out } = await run('approve', ID, 'supply-details', ...CLIENT);
  expect(exitCode).toBe(1);
  expect(out).toContain(`✗ refused: ${ID}: only support can approve step 1 (supply details)\n`);
  // Nothing is shown for review, because the approval is refused anyway.
  expect(out).toMatch(/^✗ refused/);
  expect(out).toContain(`  support approves the step with: ferry approve ${ID} supply-details\n`);
  const { json } = await runJson(orchestrator, 'report', ID);
  expect(json['decisions']).toContainEqual(
    expect.objectContaining({ outcome: expect.objectContaining({ applied: false }) as unknown }),
  );
});

test('a rejection with another company, but without a result to reject, names the command that chooses it', async () => {
  const reject = (...args: string[]) => run('reject', ID, ...args, '--company', 'C-1002', '--reason', 'too small');
  const choose = `ferry first-company ${ID} C-1002 --reason 'too small'`;
  expect(await reject('schedule')).toMatchObject({
    exitCode: 1,
    err: `ferry: --company belongs to a rejection of the first company, not of step 2 (schedule the migration); nothing was decided; to choose the company that moves first: ${choose}\n`,
  });
  // In step 1, a company can still be chosen.
  expect((await reject('complete-migration')).err).toContain(
    `not of step 6 (complete the migration); nothing was decided; to choose the company that moves first: ${choose}\n`,
  );
  const { exitCode, out } = await reject('migrate-first-company');
  expect(exitCode).toBe(1);
  expect(out).toMatch(/^✗ refused: /);
  expect(out).toContain(`\n  to choose the company that moves first: ${choose}\n`);
});

test('a rejection that does not say what to try next names the options, with complete commands', async () => {
  const missing = await run('reject', ID, 'migrate-first-company', '--next', 'another-company', '--reason', 'odd');
  expect(missing).toMatchObject({
    exitCode: 1,
    err: `ferry: --next another-company does not say which company to try: add --company; no other company is ready to go first (each needs a usable credential and the confirmation that syncing is off, and must not be held back); to see the companies that have not moved yet, run: ferry companies ${ID} --state not-moved-yet\n`,
  });
  for (const next of ['same-company', 'abandon']) {
    const args = ['migrate-first-company', '--next', next, '--company', 'C-1002', '--reason', 'odd', '--yes'];
    expect(await run('reject', ID, ...args)).toMatchObject({
      exitCode: 1,
      err: `ferry: --company is only for another company, but --next is ${next}; nothing was decided; leave out --company, or name another company and leave out --next\n`,
    });
  }
  const { id, ...migration } = await startTestMigration(orchestrator, 'undecided', ['sbx-ok-1.u1', 'sbx-ok-1.u2']);
  await migration.firstCompanyMoved();
  const command = `ferry reject ${id} migrate-first-company --reason 'too small'`;
  expect(await run('reject', id, '--reason', 'too small')).toMatchObject({
    exitCode: 1,
    err: `ferry: the rejection does not say what to try next: add --next or --company; to try the same company again: ${command} --next same-company; to try another company: ${command} --company R-2\n`,
  });
  for (const next of [[], ['--next', 'another-company']])
    expect(await run('reject', id, ...next, '--company', 'R-1', '--reason', 'too small')).toMatchObject({
      exitCode: 1,
      err: `ferry: R-1 is the company that you reject, so it cannot be the other company to try; to try the same company again: ${command} --next same-company\n`,
    });
  expect((await runJson(orchestrator, 'show', id)).json['firstCompany']).toMatchObject({ stage: 'verified' });
  expect((await run('reject', id, '--reason', 'odd', ...CLIENT)).out).toContain('cannot reject step 5');
  const same = ['migrate-first-company', '--next', 'same-company', '--reason', 'too small', '--company'];
  expect((await run('reject', id, ...same, 'R-2')).err).toContain('--company is only for another company');
  expect((await run('reject', id, ...same, 'R-1')).out).toContain('R-1 will be checked again');
});

test('credentials that were obtained before syncing was disabled are refused and listed', async () => {
  const { file, remove } = exportedCredentials();
  const { exitCode, json } = await runJson(orchestrator, 'credentials', ID, file);
  expect((await run('credentials', ID, file)).out).toContain('the client has not confirmed that syncing is off\n');
  remove();
  expect(exitCode).toBe(1);
  expect(json).toMatchObject({ schema: 'ferry.credentials/1', stored: [], unknown: [], wrongState: [] });
  expect(json['obtainedTooEarly']).toHaveLength(25);
  expect(json['tooEarly']).toContainEqual(expect.objectContaining({ reference: 'C-1001', confirmedAt: null }));
});

test('no company is confirmed if one of the references is unknown', async () => {
  const { exitCode, err } = await run('confirm-sync-disabled', ID, 'C-1001', 'C-9999', ...CLIENT);
  expect(exitCode).toBe(1);
  expect(err).toContain('has no company with this reference: C-9999; nothing was decided');
  expect((await runJson(orchestrator, 'show', ID)).json['counts']).toMatchObject({ unconfirmed: 25 });
});

test('companies can be confirmed individually, even before step 4', async () => {
  expect((await run('confirm-sync-disabled', ID, 'C-1001', 'C-1002', ...CLIENT)).exitCode).toBe(0);
  expect((await runJson(orchestrator, 'show', ID)).json['counts']).toMatchObject({ unconfirmed: 23 });
});

test.each([
  ['C-1003', 'the client has not confirmed that syncing is off'],
  ['C-1001', 'no credential supplied'],
])('first-company says why %s cannot be moved yet: %s', async (reference, why) => {
  const { exitCode, out } = await run('first-company', ID, reference);
  expect({ exitCode, out }).toEqual({
    exitCode: 0,
    out: expect.stringContaining(`\n  ! ${reference} is not ready yet: ${why}\n`) as string,
  });
  const chosen = `${reference} was chosen to go first, but cannot be moved`;
  expect((await run('show', ID)).out).toContain(`${chosen}: ${why}`);
  expect((await run('go-nogo', ID)).out).toContain(`${chosen}: ${why}`);
});

test('a refusal of credentials says which times were compared, and the state of each company', async () => {
  const { file, remove } = exportedCredentials();
  const early = ['credentials', ID, file, '--obtained-at', '2026-03-01 09:00'];
  const { exitCode, out } = await run(...early);
  expect(exitCode).toBe(1);
  expect(out).toContain(`✗ ${ID}: no credential was stored:\n`);
  expect(out).toContain('2 credentials refused (C-1001, C-1002): the tokens were obtained before the client confirmed');
  expect(out).toMatch(
    /C-1001: tokens obtained Sun 1 Mar 2026, 09:00 UTC; client confirmed \w{3} \d+ \w{3} \d{4}, \d\d:\d\d UTC\n/,
  );
  expect(out).toContain('specify the time of the export with --obtained-at');
  const confirmedAt = expect.stringMatching(/T.*Z$/) as string;
  expect((await runJson(orchestrator, ...early)).json['tooEarly']).toContainEqual({
    ...{ reference: 'C-1001', obtainedAt: '2026-03-01T09:00:00.000Z', confirmedAt },
  });

  await orchestrator.ferry.db
    .updateTable('companies')
    .set({ state: 'moved' })
    .where('migration_id', '=', ID)
    .where('reference', '=', 'C-1001')
    .execute();
  expect((await run('exclude', ID, 'C-1002', '--reason', 'sold', '--yes')).exitCode).toBe(0);
  const { out: parted } = await run('credentials', ID, file);
  expect(parted).toContain('1 credential refused (C-1001): a company that has moved needs no credential\n');
  expect(parted).toContain('1 credential refused (C-1002): a company that was left out needs no credential\n');
  remove();
  await orchestrator.ferry.db
    .updateTable('companies')
    .set({ state: 'waiting' })
    .where('migration_id', '=', ID)
    .where('reference', 'in', ['C-1001', 'C-1002'])
    .execute();
});

test('show prints who must act and the commands to use', async () => {
  // The exclusion in an earlier test starts another check of the details.
  await until(async () => (await runJson(orchestrator, 'show', ID)).json['checking'] === false);
  const { out } = await run('show', ID);
  expect(out).toContain('Waiting for support: accept the supplied details');
  expect(out).toContain(`support: ferry approve ${ID} supply-details`);
});

test('start and show print the link to the client’s page, in the current run', async () => {
  const { temporal } = orchestrator.ferry;
  const { runId } = await temporal.workflow.getHandle(ID).describe();
  const page = `/namespaces/${temporal.options.namespace}/workflows/${ID}/${runId}/user-metadata`;
  expect(started.out).toContain(`  Client's page: https://ui.example${page}\n`);
  const env = { ...orchestrator.env, TOKENFERRY_CLIENT_UI_URL: 'https://example.com/temporal' };
  const { out } = await ferry(['show', ID], undefined, env);
  expect(out).toContain(`\nClient's page: https://example.com/temporal${page}\n`);
  expect((await runJson(orchestrator, 'show', ID)).json['clientPage']).toBeNull();
});

test('list shows one line per migration', async () => {
  const line = async (): Promise<unknown> => {
    const { json } = await runJson(orchestrator, 'list');
    return (json['migrations'] as { migrationId: string }[]).find(({ migrationId }) => migrationId === ID);
  };
  // Temporal lists a new workflow with a delay.
  await until(async () => (await line()) !== undefined);
  expect(await line()).toMatchObject({ state: 'waiting', step: 'supply-details', waitingFor: 'support', total: 25 });
});

test('a decision that is applied to only some of its companies is a failure', async () => {
  const content = { role: 'support', by: 'Sam', reason: 'sold' } as const;
  const send = (...companies: string[]) => sendCompanyDecision(orchestrator.ferry, ID, 'exclude', companies, content);
  const text = expect.stringContaining('applied to 1 of 2 companies') as string;
  expect(await send('C-1003', 'C-9999')).toMatchObject({ failed: true, json: { outcome: 'applied', text } });
  expect(await send('C-1004')).toMatchObject({ failed: false, json: { outcome: 'applied' } });
  const unknown = Array.from({ length: MAX_COMPANIES_PER_MESSAGE - 1 }, (_, index) => `X-${index}`);
  const parts = /^1 company left out: sold; applied to 1 of 1,000 companies: .*; 1 company left out: sold/;
  expect(await send('C-1005', ...unknown, 'C-1006')).toMatchObject({
    failed: true,
    json: { outcome: 'applied', companies: 1_001, text: expect.stringMatching(parts) as string },
  });
  const next = `List the companies with: ferry companies ${ID} --state not-moved-yet; then choose one with: ferry first-company ${ID} "reference of the company" --reason "why"\n`;
  expect((await run('first-company', ID, 'C-1003')).out).toContain(
    `! C-1003 cannot go first, because it was left out. ${next}`,
  );
});

test('adjust prints the old and the new value, and without a limit the limits in effect, like show', async () => {
  const adjusted = await run('adjust', ID, '--companies-per-minute', '6', '--by', 'Sam');
  expect(adjusted).toMatchObject({ exitCode: 0, out: `✓ ${ID}: companies per minute: any -> 6\n` });
  const { exitCode, out, err } = await run('adjust', ID, '--by', 'Sam');
  expect(exitCode).toBe(1);
  expect(out).toContain(
    `Limits of ${ID}:\n  slices at once: 4\n  companies per slice at once: 8\n  companies per minute: 6\n`,
  );
  expect(out).toContain(
    '  reminders in steps 5 and 6 and in self-service: after 2 h, then every 60 min, escalated after 8 h\n',
  );
  expect(err).toBe('ferry: no limit was specified; list the options that change a limit with: ferry adjust --help\n');
  const { json } = await runJson(orchestrator, 'adjust', ID, '--by', 'Sam');
  expect(json).toMatchObject({ schema: 'ferry.limits/1', limits: { companiesPerMinute: 6, rampCompanies: 20 } });
  expect((await runJson(orchestrator, 'show', ID)).json).toMatchObject({ limits: { companiesPerMinute: 6 } });
  expect((await run('audit', ID)).out.replace(/\s+/g, ' ')).toContain('at most 6 companies per minute');
  expect((await run('adjust', 'nobody.xero', '--by', 'Sam')).err).toContain('there is no migration nobody.xero');
});
