/** Changes from outside during a move: by the client or its own application, by the clock or by the platform. */
import { sql } from 'kysely';
import { readCounts } from '../../../client';
import { findCompany, readOutcome, readTrail } from '../../../store';
import { runJson } from '../../cli/command-line';
import { removeTempFiles, tempFile } from '../../cli/manifest/manifest-files';
import { until } from '../../support/async';
import { startHttpProxy, sendAnswer, type HttpProxy } from '../../support/faults/http-proxy';
import { readRow, updateRow } from '../../support/migrations/ledger';
import { startOrchestrator, type OpenedOrchestrator } from '../../support/servers/orchestrator';
import { windowChange, closedWindows, startTestMigration, SUPPORT, type TestMigration } from '../running-migration';

let orchestrator: OpenedOrchestrator;
let between: HttpProxy;
beforeAll(async () => {
  orchestrator = await startOrchestrator();
  between = await startHttpProxy(orchestrator.service.url);
  const { apiKey } = orchestrator.config.service;
  await orchestrator.startWorker({ service: { url: between.url, apiKey } });
});
beforeEach(() => between.reset());
afterAll(async () => {
  removeTempFiles();
  await orchestrator.close();
  await between.close();
});

const SIGN_OFF = '11111111-1111-4111-8111-111111111111';
const REJECTION = '22222222-2222-4222-8222-222222222222';
const AUTHORIZATION = /\/authorization$/;
const company = ({ id }: TestMigration, reference: string) => findCompany(orchestrator.ferry.db, id, { reference });
const stateOf = async (migration: TestMigration, reference: string) => (await company(migration, reference))?.state;
const counts = ({ id }: TestMigration) => readCounts(orchestrator.ferry, id);
const puts = (token: string) => between.arrived('PUT', AUTHORIZATION).filter(({ body }) => body.includes(token)).length;

/** Returns a migration whose first company has been moved but not approved. All others are ready to move. */
async function withFirstCompanyMoved(client: string, tokens: readonly string[]): Promise<TestMigration> {
  const migration = await startTestMigration(orchestrator, client, tokens);
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  return migration;
}

const approve = ({ send }: TestMigration) => send('approve', { step: 'migrate-first-company', ...SUPPORT });

/** Refreshes a token as the client's own application would, and returns the new refresh token. */
async function refreshInOldApplication(token: string): Promise<string> {
  const answer = await fetch(`${orchestrator.service.url}/sandbox/qhyg/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_type: 'refresh_token', refresh_token: token }),
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { refresh_token: string }).refresh_token;
}

test("a token that the client's own application has refreshed delays only its own company", async () => {
  const migration = await withFirstCompanyMoved('refreshed', ['sbx-ok-1.f1', 'sbx-ok-1.f2', 'sbx-ok-1.f3']);
  const newer = await refreshInOldApplication('sbx-ok-1.f2');
  await approve(migration);
  await migration.until(({ counts: { failed, moved } }) => failed === 1 && moved === 2);
  expect(await company(migration, 'R-2')).toMatchObject({
    failure: 'reauthorization-required',
    failureText: expect.stringContaining('already been used') as string,
    linkUrl: expect.stringMatching(/^http/) as string,
  });
  expect(await migration.replace('R-2', newer)).toBe('applied');
  await migration.until(({ counts: { moved } }) => moved === 3);
  expect([puts('sbx-ok-1.f2"'), puts(newer)]).toEqual([1, 1]);
});

/** Keeps the authorization request with this credential in flight until it is released. */
function holdAuthorization(token: string): { readonly arrives: Promise<void>; readonly release: () => void } {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const arrives = new Promise<void>((resolve) => {
    between.on('PUT', AUTHORIZATION, async (response, { body }, pass) => {
      if (body.includes(token)) {
        resolve();
        await released;
      }
      sendAnswer(response, await pass());
    });
  });
  return { arrives, release };
}

test('a credential that is supplied while its company is moving is refused', async () => {
  const migration = await withFirstCompanyMoved('too-late', ['sbx-ok-1.l1', 'sbx-ok-1.l2', 'sbx-ok-1.l3']);
  const { arrives, release } = holdAuthorization('sbx-ok-1.l2"');
  await approve(migration);
  await arrives;
  expect(await stateOf(migration, 'R-2')).toBe('importing');
  const organization = (await company(migration, 'R-2'))?.organization ?? '';
  const late = tempFile(
    'reference,accessToken,refreshToken,realmId,obtainedAt\n' +
      `R-2,any,sbx-ok-1.newer,${organization},${new Date().toISOString()}\n`,
  );
  const answer = await runJson(orchestrator, 'credentials', migration.id, late, '--as', 'client', '--by', 'Cleo');
  expect(answer).toMatchObject({ exitCode: 1, json: { stored: [], wrongState: ['R-2'] } });
  release();
  await migration.until(({ counts: { moved } }) => moved === 3);
  expect([puts('sbx-ok-1.l2"'), puts('sbx-ok-1.newer')]).toEqual([1, 0]);
});

test('a cancellation that only the ledger refuses does not end a migration while a slice is running', async () => {
  const migration = await withFirstCompanyMoved('refused', ['sbx-ok-1.r1', 'sbx-ok-1.r2', 'sbx-ok-1.r3']);
  const { arrives, release } = holdAuthorization('sbx-ok-1.r2"');
  await approve(migration);
  await arrives;
  const { db } = orchestrator.ferry;
  const ofMigration = db.updateTable('migrations').where('id', '=', migration.id);
  // The ledger no longer accepts unsigned decisions, but the workflow does.
  await ofMigration.set({ decision_rules: sql`jsonb_set(decision_rules, '{approvers}', '[]')` }).execute();
  expect(await migration.send('cancel', { reason: 'a mistake', ...SUPPORT })).toMatch(/^refused/);
  await ofMigration.set({ decision_rules: sql`jsonb_set(decision_rules, '{approvers}', 'null')` }).execute();
  release();
  await migration.until(({ counts: { moved } }) => moved === 3);
  expect((await orchestrator.ferry.temporal.workflow.getHandle(migration.id).describe()).status.name).toBe('RUNNING');
});

test('an authorization in progress is finished even if the window closes, but no other move begins', async () => {
  const migration = await withFirstCompanyMoved('closing', [
    'sbx-ok-1.w1',
    'sbx-ok-1.w2',
    'sbx-ok-1.w3',
    'sbx-ok-1.w4',
  ]);
  const oneByOne = { slicesAtOnce: 1, companiesPerSliceAtOnce: 1 };
  expect(await migration.send('adjust', { limits: oneByOne, ...SUPPORT })).toBe('applied');
  const { arrives, release } = holdAuthorization('sbx-ok-1.w2"');
  await approve(migration);
  await arrives;
  expect(await migration.send('adjust', windowChange(closedWindows()))).toBe('applied');
  release();
  await until(async () => (await stateOf(migration, 'R-2')) === 'moved');
  await migration.until(({ waitingFor }) => waitingFor.what.includes('in the window from'));
  expect(await counts(migration)).toMatchObject({ moved: 2, waiting: 2 });
  expect(between.arrived('PUT', AUTHORIZATION)).toHaveLength(2);
  for (const row of [3, 4]) expect((await readRow(orchestrator.ferry.db, migration.id, row)).tries).toBe(0);

  expect(await migration.send('adjust', windowChange([]))).toBe('applied');
  await migration.until(({ counts: { moved } }) => moved === 4);
});

test('a changed application secret pauses the migration without failing a company', async () => {
  const migration = await withFirstCompanyMoved('rotated', ['sbx-ok-1.s1', 'sbx-ok-1.s2', 'sbx-ok-1.s3']);
  const application = { clientId: 'the-clients-own', environment: 'production' } as const;
  const supplySecret = async (secret: string): Promise<void> => {
    const options = ['--client-id', application.clientId, '--environment', application.environment];
    const given = ['application', migration.id, ...options, '--secret-file', tempFile(secret)];
    expect(await runJson(orchestrator, ...given, '--as', 'client', '--by', 'Cleo')).toMatchObject({ exitCode: 0 });
  };
  // The platform refuses this secret.
  await supplySecret('sbx-wrong-secret');
  await approve(migration);
  const { pause } = await migration.until(({ state }) => state === 'paused');
  expect(pause).toMatchObject({ stopReason: 'application-refused', by: null });
  expect(await counts(migration)).toMatchObject({ moved: 1, waiting: 2, failed: 0 });
  expect(await company(migration, 'R-2')).toMatchObject({ state: 'waiting', failure: 'application-refused' });

  await supplySecret('the new secret');
  expect(await migration.send('resume', SUPPORT)).toBe('applied');
  await migration.until(({ counts: { moved } }) => moved === 3);
  expect(await counts(migration)).toMatchObject({ moved: 3, failed: 0, outcomeUnknown: 0 });
  // Ends this migration, because its application conflicts with the other migrations in this file.
  expect(await migration.send('cancel', { ...SUPPORT, reason: 'the application belongs to this client' })).toBe(
    'applied',
  );
});

test('a rejection that is sent after a sign-off is applied after it', async () => {
  const migration = await withFirstCompanyMoved('both', ['sbx-ok-1.b1', 'sbx-inaccessible.b2']);
  await approve(migration);
  await until(async () => (await company(migration, 'R-2'))?.tries === 1, 20_000);
  await updateRow(orchestrator.ferry.db, migration.id, 2, { state: 'excluded' });
  const { temporal, db } = orchestrator.ferry;
  const { workflow } = temporal;
  const signOff = { step: 'complete-migration', ...SUPPORT };
  // The rejection arrives while the sign-off is still waiting for the counts.
  const handle = workflow.getHandle(migration.id);
  await handle.signal('approve', { decisionId: SIGN_OFF, ...signOff });
  await handle.signal('reject', { decisionId: REJECTION, ...signOff, reason: 'not yet' });
  await until(async () => (await readOutcome(db, migration.id, REJECTION)) !== null);
  const { steps } = await migration.until(() => true);
  const trail: string[] = [];
  for await (const { decision } of readTrail(db, migration.id)) trail.push(decision.decisionId);
  expect(trail.slice(-2)).toEqual([SIGN_OFF, REJECTION]);
  expect(steps.find(({ step }) => step === 'complete-migration')?.approvals).toEqual([]);
});

test.each(['update', 'signal'] as const)(
  'a sign-off by %s is not refused because of outdated counts during a batch run',
  async (by) => {
    const migration = await withFirstCompanyMoved(`old-counts-${by}`, [`sbx-ok-1.o1${by}`, `sbx-inaccessible.o2${by}`]);
    await approve(migration);
    await until(async () => (await company(migration, 'R-2'))?.tries === 1, 20_000);
    // The migration's workflow is not informed of this change.
    await updateRow(orchestrator.ferry.db, migration.id, 2, { state: 'excluded' });
    const signOff = { step: 'complete-migration', ...SUPPORT };
    if (by === 'update') expect(await migration.send('approve', signOff)).toBe('applied');
    else {
      // `decide` also sends a signal if an update has no answer within two seconds.
      await orchestrator.ferry.temporal.workflow
        .getHandle(migration.id)
        .signal('approve', { decisionId: SIGN_OFF, ...signOff });
      await until(async () => (await readOutcome(orchestrator.ferry.db, migration.id, SIGN_OFF)) !== null);
      expect(await readOutcome(orchestrator.ferry.db, migration.id, SIGN_OFF)).toMatchObject({ applied: true });
    }
  },
);
