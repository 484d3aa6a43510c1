/** Tests `ferry amend`, which adds and corrects companies while a migration is open. */
import { randomUUID } from 'node:crypto';
import { Secret } from '../../../security';
import { findCompany, readHeldBack, readMigration } from '../../../store';
import { removeTempFiles, tempFile } from '../manifest/manifest-files';
import { CLIENT, startTestMigration, SUPPORT, type TestMigration } from '../../workflows/running-migration';
import { until } from '../../support/async';
import { CLEO, SAM } from '../../support/migrations/signed-decisions';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';
import { runJson } from '../command-line';

const orchestrator = useOrchestratorWithWorker();
afterAll(async () => {
  removeTempFiles();
});

const AS_CLIENT = ['--as', 'client', '--by', 'Cleo'];
const run = (...args: string[]) => ferry(args, undefined, orchestrator.env);
const manifest = (...rows: string[]) => tempFile(['reference,name,realmId,expectedInvoices', ...rows].join('\n'));
const amend = (id: string, file: string) => runJson(orchestrator, 'amend', id, file, ...AS_CLIENT);
const company = (id: string, reference: string) => findCompany(orchestrator.ferry.db, id, { reference });

/** Creates a company at the service and connects it to an organization. Returns the organization. */
async function connectOrganization(realmId: string): Promise<string> {
  const client = orchestrator.client();
  const key = { idempotencyKey: randomUUID() };
  const { value } = await client.createCompany({ name: 'Here before' }, key);
  const { value: connection } = await client.createConnection(value.id, 'qhyg', key);
  const fields = { accessToken: 'a', refreshToken: `sbx-ok-1.${randomUUID()}`, realmId };
  await client.putAuthorization(value.id, connection.id, new Secret(fields));
  return realmId;
}

/** Starts a migration and takes it to step 6, with no company left to move. */
async function startAtStep6(client: string): Promise<TestMigration> {
  const migration = await startTestMigration(orchestrator, client, [`sbx-ok-1.${client}`]);
  await migration.readyToComplete();
  await migration.until(({ step }) => step === 'complete-migration');
  return migration;
}

test('an amendment without the required signature changes nothing', async () => {
  const { id } = await startTestMigration(orchestrator, 'signed', ['sbx-ok-1.signed'], null, { signers: [SAM, CLEO] });
  const file = manifest('R-1,Another name,8000000000000021,1', 'N-1,New,8000000000000022,1');
  const { exitCode, err } = await run('amend', id, file, ...AS_CLIENT);
  expect(exitCode).toBe(1);
  expect(err).toContain(
    'decisions in this migration must be signed by an approver; this one is not; nothing was changed',
  );
  expect(await readHeldBack(orchestrator.ferry.db, id)).toEqual([]);
  expect(await company(id, 'R-1')).toMatchObject({ name: 'Company 1' });
});

test('an amendment in step 1 is checked, and the details cannot be accepted while a row has an error', async () => {
  const { id, send, until: reached } = await startTestMigration(orchestrator, 'early', ['sbx-ok-1.early']);
  await reached(({ preflight }) => preflight !== null);
  const connected = await connectOrganization('8000000000000001');
  const { exitCode, json } = await amend(id, manifest(`L-1,Late,${connected},1`, 'L-2,Later,8000000000000002,1'));
  expect(exitCode).toBe(1);
  expect(json).toMatchObject({
    added: ['L-1', 'L-2'],
    corrected: [],
    heldBack: [{ reference: 'L-1', heldBack: expect.stringContaining('is already connected') as string }],
  });
  await reached(({ preflight }) => preflight !== null);
  expect(await send('approve', { step: 'supply-details', ...SUPPORT })).toMatch(/^refused: .*L-1: .*connected/);

  expect((await amend(id, manifest('L-1,Late,8000000000000003,1'))).json).toMatchObject({
    corrected: ['L-1'],
    heldBack: [],
  });
  await reached(({ preflight }) => preflight?.problems.length === 0);
  expect(await send('approve', { step: 'supply-details', ...SUPPORT })).toBe('applied');
});

test('the suggested confirmation of many added companies says how many others to specify', async () => {
  const { id, until: reached } = await startTestMigration(orchestrator, 'numerous', ['sbx-ok-1.numerous']);
  await reached(({ preflight }) => preflight !== null);
  const rows = Array.from({ length: 60 }, (_, index) => `L-${index + 1},Late ${index},${8000000000001000 + index},1`);
  const { out } = await run('amend', id, manifest(...rows), ...AS_CLIENT);
  expect(out).toContain('Storing 60 rows ...\nWaiting for a worker to check the rows (up to 15 s) ...\n');
  expect(out).toMatch(
    /ferry confirm-sync-disabled numerous\S+ L-1 .* L-50 --as client .*\n +the command names only the first 50 companies: add the references of the other 10\n/,
  );
});

test('a company whose row prevents the acceptance of the details can be left out', async () => {
  const { id, send, until: reached } = await startTestMigration(orchestrator, 'leaving', ['sbx-ok-1.leaving']);
  await amend(id, manifest(`L-1,Late,${await connectOrganization('8000000000000011')},1`));
  await reached(({ preflight }) => (preflight?.problems.length ?? 0) > 0);
  expect(
    (await run('amend', id, manifest(`L-2,Later,${await connectOrganization('8000000000000012')},1`), ...AS_CLIENT))
      .out,
  ).toMatch(/^✗ [^]*To see what to do about companies that are held back, run: ferry exceptions leaving\S+\n/m);
  expect((await run('exclude', id, 'L-2', '--reason', 'it is there already', '--yes')).exitCode).toBe(0);
  expect((await run('exclude', id, 'L-1', '--reason', 'it is there already', '--yes')).exitCode).toBe(0);
  await reached(({ preflight }) => preflight?.problems.length === 0);
  expect(await send('approve', { step: 'supply-details', ...SUPPORT })).toBe('applied');
});

test('an added company is checked, confirmed, supplied and moved like any other before anyone can sign off', async () => {
  const { id, send, until: reached } = await startAtStep6('latecomer');
  await reached(({ waitingFor }) => waitingFor.what === 'sign off the handover');
  expect(await send('approve', { step: 'complete-migration', ...SUPPORT })).toBe('applied');

  const late = manifest('L-1,Late,8000000000000021,1');
  const unasked = await run('amend', id, late, ...AS_CLIENT);
  expect(unasked.exitCode).toBe(1);
  expect(unasked.err).toContain('this decision withdraws the sign-off of Sam (support)');
  const { exitCode, json } = await runJson(orchestrator, 'amend', id, late, '--yes', ...AS_CLIENT);
  expect(exitCode).toBe(0);
  expect(json).toMatchObject({ added: ['L-1'], heldBack: [], decision: { outcome: 'applied' } });
  await reached(({ waitingFor }) => waitingFor.roles.includes('client'));
  expect((await run('sign-off', id, '--yes', ...AS_CLIENT)).exitCode).toBe(1);

  expect(await send('confirmSyncDisabled', { companies: ['L-1'], ...CLIENT })).toBe('applied');
  await until(async () => (await company(id, 'L-1'))?.confirmedAt !== null);
  const file = tempFile('reference,accessToken,refreshToken,realmId\nL-1,any,sbx-ok-1.late,8000000000000021');
  expect((await run('credentials', id, file, '--obtained-at', 'now', ...AS_CLIENT)).exitCode).toBe(0);
  await until(async () => (await company(id, 'L-1'))?.state === 'moved');

  // The earlier approval is no longer valid, because support gave it before the company was added.
  const { steps } = await reached(({ waitingFor }) => waitingFor.what === 'sign off the handover');
  expect(steps.find(({ step }) => step === 'complete-migration')?.approvals).toEqual([]);
});

test('an amendment says that it does not store the credentials in its file, and which command does', async () => {
  const { id, until: reached } = await startTestMigration(orchestrator, 'with-tokens', ['sbx-ok-1.with-tokens']);
  await reached(({ preflight }) => preflight !== null);
  const file = tempFile(
    'reference,name,realmId,expectedInvoices,accessToken,refreshToken\nL-1,Late,8000000000000071,1,any,sbx-ok-1.late-token',
  );
  const { exitCode, out } = await run('amend', id, file, ...AS_CLIENT);
  expect(exitCode).toBe(0);
  expect(out).toContain(
    `  Not stored: 1 credential, because ferry amend stores only the companies. After the client has confirmed that syncing is off, export the tokens again, and supply them with: ferry credentials ${id} '${file}'\n`,
  );
});

test('an amendment after step 1 holds back only the row with an error, and the client is asked to correct it', async () => {
  const { id, until: reached } = await startAtStep6('holding');
  await amend(id, manifest(`L-1,Late,${await connectOrganization('8000000000000031')},1`));
  const { waitingFor } = await reached(
    ({ counts, waitingFor }) => counts.heldBack === 1 && waitingFor.roles.length > 0,
  );
  expect(waitingFor).toEqual({
    roles: ['client'],
    what: 'correct or leave out 1 company that cannot be moved as it is',
  });
  const { out } = await run('show', id);
  expect(out).toContain('1 held back');
  expect((await run('companies', id)).out).toContain('is already connected');
});

test.each([
  ['1 company', ['R-1'], 'number'],
  ['2 companies', ['R-1', 'R-2'], 'numbers'],
])(
  'an amendment of the expected invoices of %s with too few says how to check again',
  async (_, references, numbers) => {
    const client = `recounted-${references.length}`;
    const { id, until: reached } = await startTestMigration(
      orchestrator,
      client,
      references.map((each) => `sbx-ok-1.${each}`),
    );
    await reached(({ preflight }) => preflight !== null);
    const stored = orchestrator.ferry.db.updateTable('companies').where('migration_id', '=', id);
    await stored.set({ state: 'failed', failure: 'incomplete' }).execute();
    const companies = await Promise.all(references.map((reference) => company(id, reference)));
    const amendTo = async (invoices: number) => {
      const rows = companies.map((each) => `${each?.reference},${each?.name},${each?.organization},${invoices}`);
      return (await run('amend', id, manifest(...rows), ...AS_CLIENT)).out;
    };
    const retry = `\n    ferry retry ${id} ${references.join(' ')}\n`;
    const check = `  To check the records again, with the corrected expected ${numbers} of invoices, `;
    expect(await amendTo(61)).toContain(`${check}run:${retry}`);
    const migration = orchestrator.ferry.db.updateTable('migrations').where('id', '=', id);
    await migration.set({ released: 'first-company' }).execute();
    expect(await amendTo(62)).toContain(
      `${check}run in step 6 (in step 5, only the first company can be retried):${retry}`,
    );
  },
);

test('rows of an interrupted amendment are checked with the next amendment', async () => {
  const { id, until: reached } = await startTestMigration(orchestrator, 'broken-off', ['sbx-ok-1.broken-off']);
  await reached(({ preflight }) => preflight !== null);
  const { db } = orchestrator.ferry;
  await db.updateTable('companies').set({ held_back: 'not checked yet' }).where('migration_id', '=', id).execute();
  const row = await company(id, 'R-1');
  const { json } = await amend(id, manifest(`R-1,${row?.name},${row?.organization},`));
  expect(json).toMatchObject({ added: [], corrected: [], unchanged: 1, decision: { outcome: 'applied' } });
  await until(async () => (await company(id, 'R-1'))?.heldBack === null);
});

test('an amendment changes the digest of the manifest and of step 1', async () => {
  const { id, until: reached } = await startTestMigration(orchestrator, 'digested', ['sbx-ok-1.digested']);
  const before = await reached(({ preflight }) => preflight !== null);
  await amend(id, manifest('L-1,Late,8000000000000041,1'));
  const after = await reached(({ preflight }) => preflight?.companies === 2);
  expect(after.preflight?.manifestDigest).toBe((await readMigration(orchestrator.ferry.db, id))?.manifestDigest);
  expect(after.preflight?.manifestDigest).not.toBe(before.preflight?.manifestDigest);
  expect(after.digests['supply-details']).not.toBe(before.digests['supply-details']);
});

test.each<[string, string, string]>([
  ['an invalid row', 'L-1,Late,9.13E+15,1', 'nothing was changed'],
  [
    'an organization of another open migration',
    'L-1,Late,8000000000000051,1',
    'is already part of migration holder.quickbooks-online',
  ],
])('an amendment with %s changes nothing', async (_, row, message) => {
  const client = `refused-${randomUUID().slice(0, 8)}`;
  const { id } = await startTestMigration(orchestrator, client, [`sbx-ok-1.${client}`]);
  const holder = await startTestMigration(orchestrator, 'holder', ['sbx-ok-1.holder']).catch(() => undefined);
  if (holder) await amend(holder.id, manifest('H-1,Held,8000000000000051,1'));
  const { exitCode, out, err } = await run('amend', id, manifest(row), ...AS_CLIENT);
  expect(exitCode).toBe(1);
  expect(out + err).toContain(message);
  expect(await company(id, 'L-1')).toBeUndefined();
});

test('amend and credentials refuse a migration that has ended', async () => {
  const { id, send, until: reached } = await startTestMigration(orchestrator, 'over', ['sbx-ok-1.over']);
  await reached(({ preflight }) => preflight !== null);
  await send('cancel', { reason: 'no longer wanted', ...SUPPORT });
  await until(async () => (await readMigration(orchestrator.ferry.db, id))?.ending === 'cancelled');
  const { exitCode, err } = await run('amend', id, manifest('L-1,Late,8000000000000061,1'));
  expect({ exitCode, err }).toEqual({
    exitCode: 1,
    err: `ferry: migration ${id} is already cancelled; start a new managed migration for these companies, with another --label\n`,
  });
  const supplied = await run('credentials', id, manifest('L-1,Late,8000000000000061,1'), ...AS_CLIENT);
  expect(supplied).toMatchObject({
    exitCode: 1,
    err: `ferry: migration ${id} is already cancelled; nothing was stored; to move more companies, start a new migration and supply the credentials for it\n`,
  });
});
