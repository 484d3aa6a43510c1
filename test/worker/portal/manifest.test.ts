/** The manifest that the client supplies through the portal. */
import { randomUUID } from 'node:crypto';
import { decide, startMigration } from '../../../client';
import { findPlatform } from '../../../platforms/platforms';
import { countCompanies, manifestDigest, readDecisions } from '../../../store';
import { until } from '../../support/async';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { SUPPORT, waitForProgress } from '../../workflows/running-migration';
import { ask, CLEO, CLIO, invited, readView, signedDecision } from './portal-requests';

const orchestrator = useOrchestratorWithWorker();

let started = 0;

const rowOf = (row: number, changes: object = {}) => ({
  ...{ row, reference: `M-${row}`, name: `Company ${row}`, organization: organizationOf(row) },
  ...{ expectedInvoices: 1, wave: null, family: null, ...changes },
});
let first = 7_000_000_000_000_000;
beforeEach(() => (first += 10_000));
const organizationOf = (row: number): string => String(first + row);
type Rows = readonly ReturnType<typeof rowOf>[];

/** Starts a migration without companies, and invites Cleo, who may supply them. */
async function startEmpty() {
  const { db } = orchestrator.ferry;
  const platform = findPlatform('quickbooks-online')!;
  started += 1;
  const migrationId = await startMigration(orchestrator.ferry, {
    ...{ client: `supplied-${started}`, platform, contact: 'support', by: 'Sam', firstCompany: null },
  });
  await waitForProgress(orchestrator.ferry, migrationId, ({ preflight }) => preflight !== null);
  return { db, migrationId, guest: await invited(db, migrationId, 'Cleo', CLEO) };
}
const supplied = (migrationId: string, decisionId: string, rows: Rows, key = CLEO, fields: object = {}) => ({
  message: 'manifestSupplied',
  decision: signedDecision(key, migrationId, 'manifestSupplied', {
    ...{ decisionId, companies: rows.length, manifestDigest: manifestDigest(rows), ...fields },
  }),
});
const total = async (id: string) => (await countCompanies(orchestrator.ferry.db, id)).total;

test('a manifest that arrived in parts becomes the companies once its signed decision is applied', async () => {
  const { db, migrationId, guest } = await startEmpty();
  await db
    .insertInto('portal_views')
    .values({ migration_id: migrationId })
    .onConflict((on) => on.doNothing())
    .execute();
  await until(async () => (await readView(db, migrationId)) !== null);
  expect(await readView(db, migrationId)).toMatchObject({
    headline: expect.stringContaining('Please supply the manifest') as string,
    counts: { total: 0 },
  });
  expect((await readView(db, migrationId))?.actions[0]).toMatchObject({
    ...{ message: 'manifestSupplied', title: 'Supply the manifest', isExpected: true },
  });
  const decisionId = randomUUID();
  const rows = Array.from({ length: 1_003 }, (_, index) => rowOf(index + 1));
  const parts = [
    { decisionId, part: 0, rows: rows.slice(0, 1_000) },
    { decisionId, part: 1, rows: rows.slice(1_000) },
  ];
  for (const part of [...parts, parts[0]!])
    expect(await ask(guest, 'manifest', part)).toMatchObject({ outcome: 'stored', stored: part.rows.length });
  expect(await total(migrationId)).toBe(0);
  const body = supplied(migrationId, decisionId, rows);
  const answer = { outcome: 'applied', text: 'the manifest has 1,003 companies' };
  expect(await ask(guest, 'decide', body)).toEqual(answer);
  // The same decision in a second request is not applied again.
  expect(await ask(guest, 'decide', body)).toEqual(answer);
  expect(await total(migrationId)).toBe(1_003);
  expect((await readDecisions(db, migrationId)).map(({ decision }) => decision.kind)).toEqual(['manifest-supplied']);
  await until(async () => {
    const replace = (await readView(db, migrationId))?.actions.find(({ title }) => title === 'Replace the manifest');
    return replace?.facts[0] === 'Now: 1,003 companies, supplied by Cleo';
  });
});

test('a manifest of another person, with another digest, with invalid rows, or after the acceptance is refused', async () => {
  const { db, migrationId, guest } = await startEmpty();
  const viewer = await invited(db, migrationId, 'Vera', null);
  const decisionId = randomUUID();
  const rows = [rowOf(1), rowOf(2)];
  const part = { decisionId, part: 0, rows };
  const exchanged = [rowOf(1), rowOf(2, { organization: '1' })];
  expect(await ask(viewer, 'manifest', part)).toMatchObject({ outcome: 'failed' });
  expect(await ask(guest, 'manifest', { ...part, rows: [rowOf(1, { name: 'A\u202eB' })] })).toEqual({
    ...{ outcome: 'failed', text: expect.stringMatching(/^M-1: name: the value contains/) as string },
  });
  expect(await ask(guest, 'manifest', { ...part, rows: [{ ...rowOf(1), more: 1 }] })).toMatchObject({
    ...{ outcome: 'failed', text: 'the rows of the manifest are malformed; reload the page, or update ferry' },
  });
  expect(await ask(guest, 'manifest', part)).toMatchObject({ outcome: 'stored' });
  expect(await ask(guest, 'decide', supplied(migrationId, decisionId, rows, CLIO))).toMatchObject({
    outcome: 'failed',
  });
  expect(await ask(guest, 'decide', supplied(migrationId, decisionId, rows, CLEO, { by: 'Clara' }))).toMatchObject({
    outcome: 'failed',
  });
  expect(await ask(guest, 'decide', supplied(migrationId, decisionId, exchanged))).toEqual({
    ...{ outcome: 'refused', text: expect.stringContaining('did not arrive as it was sent') as string },
  });
  expect(await total(migrationId)).toBe(0);

  const again = randomUUID();
  await ask(guest, 'manifest', { ...part, decisionId: again });
  expect(await ask(guest, 'decide', supplied(migrationId, again, rows))).toEqual({
    ...{ outcome: 'applied', text: 'the manifest has 2 companies' },
  });
  expect(await ask(guest, 'manifest', { ...part, decisionId: again })).toMatchObject({ outcome: 'failed' });
  await waitForProgress(orchestrator.ferry, migrationId, ({ preflight }) => preflight?.companies === 2);
  const accepted = await decide(orchestrator.ferry, migrationId, 'approve', { step: 'supply-details', ...SUPPORT });
  expect(accepted).toMatchObject({ outcome: 'applied', text: 'step 1 (supply details) approved by support' });
  const late = randomUUID();
  expect(await ask(guest, 'manifest', { ...part, decisionId: late })).toMatchObject({
    ...{ outcome: 'failed', text: expect.stringContaining('support has accepted the details') as string },
  });
  expect(await ask(guest, 'decide', supplied(migrationId, late, rows))).toEqual({
    ...{ outcome: 'refused', text: expect.stringContaining('must first reject step 1') as string },
  });
  await until(
    async () => !(await readView(db, migrationId))?.actions.some(({ message }) => message === 'manifestSupplied'),
  );
});
