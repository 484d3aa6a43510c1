import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import type { DecisionMessage } from '../../../domain/migration/parse-decision';
import { credentialsDigest, hashOfBox } from '../../../domain/supply/sealed-digest';
import type { MigrationView } from '../../../portal/contract';
import { MigrationViewSchema } from '../../../portal/contract';
import {
  createSealer,
  createSigningKey,
  fingerprintOf,
  parseSigningKey,
  sealClientSecret,
  sealCredential,
  Secret,
} from '../../../security';
import type { PortalRequest } from '../../../store';
import { readMigrationKey, readTrail, sealedApplicationDigest } from '../../../store';
import { handleRequest } from '../../../worker/portal/requests';
import { ferry } from '../../cli/captured-terminal';
import { until } from '../../support/async';
import type { Orchestrator } from '../../support/servers/orchestrator';
import { startOrchestrator } from '../../support/servers/orchestrator';
import type { TestMigration } from '../../workflows/running-migration';
import { CLIENT, startTestMigration, SUPPORT } from '../../workflows/running-migration';
import { ask, invited, readAnswer, signedDecision, submit } from './portal-requests';

const CLEO = parseSigningKey(new Secret(createSigningKey('Cleo')));
const CLARA = parseSigningKey(new Secret(createSigningKey('Clara')));
const CLIO = parseSigningKey(new Secret(createSigningKey('Cleo')));

let orchestrator: Orchestrator;
beforeAll(async () => {
  orchestrator = await startOrchestrator();
  await orchestrator.startWorker();
});
afterAll(() => orchestrator.close());

let started = 0;
async function startWithGuest(credentials: readonly string[] = [`sbx-ok-1.portal-${started + 1}`]) {
  started += 1;
  const { db } = orchestrator.ferry;
  const migration = await startTestMigration(orchestrator, `portal-${started}`, credentials);
  await migration.until(({ preflight }) => preflight !== null);
  return { db, migration, guest: await invited(db, migration.id, 'Cleo', CLEO) };
}

const decision = (migration: TestMigration, message: DecisionMessage, fields: object, key = CLEO) => ({
  message,
  decision: signedDecision(key, migration.id, message, fields),
});

async function readView(migrationId: string): Promise<MigrationView | null> {
  const { db } = orchestrator.ferry;
  const row = await db
    .selectFrom('portal_views')
    .select('view')
    .where('migration_id', '=', migrationId)
    .executeTakeFirst();
  return row?.view == null ? null : MigrationViewSchema.parse(row.view);
}

async function recordedKinds(migrationId: string): Promise<readonly string[]> {
  const kinds: string[] = [];
  for await (const record of readTrail(orchestrator.ferry.db, migrationId)) kinds.push(record.decision.kind);
  return kinds;
}

test('a signed decision is applied, its answer says so, and the page shows it', async () => {
  const { migration, guest } = await startWithGuest();
  expect(await ask(guest, 'decide', decision(migration, 'pause', { reason: 'a holiday' }))).toEqual({
    outcome: 'applied',
    text: 'paused',
  });
  await until(async () => (await readView(migration.id))?.state === 'paused');
  expect((await readView(migration.id))?.notices[0]).toMatch(/^Paused by Cleo \(client\) since .*: a holiday$/);
  expect(await ask(guest, 'decide', decision(migration, 'pause', { reason: 'again' }))).toEqual({
    outcome: 'refused',
    text: 'client has already paused the migration (Cleo)',
  });
});

test('a decision that does not apply to some of its companies is not sent, and names them', async () => {
  const { db, migration, guest } = await startWithGuest(['sbx-ok-1.named', 'sbx-ok-1.named-2']);
  await db
    .updateTable('companies')
    .set({ state: 'moved' })
    .where('migration_id', '=', migration.id)
    .where('row', '=', 2)
    .execute();
  const answers: string[] = [];
  for (const companies of [
    ['R-1', 'X-9'],
    ['R-1', 'R-2'],
  ])
    answers.push((await ask(guest, 'decide', decision(migration, 'exclude', { companies, reason: 'too late' }))).text);
  expect(answers).toEqual([
    'nothing was decided, because the manifest does not contain X-9',
    'nothing was decided, because the decision does not apply to R-2 (moved)',
  ]);
  expect(await recordedKinds(migration.id)).toEqual([]);
});

test('a decision of another person, role, key, content or migration is refused, and does not reach the migration', async () => {
  const { db, migration, guest } = await startWithGuest();
  const viewer = await invited(db, migration.id, 'Cleo', null);
  const pause = decision(migration, 'pause', { reason: 'a test' });
  const changed = { message: 'pause', decision: { ...pause.decision, reason: 'another' } };
  const answers = await Promise.all([
    ask(guest, 'decide', decision(migration, 'pause', { by: 'Clara' })),
    ask(guest, 'decide', decision(migration, 'pause', {}, CLIO)),
    ask(guest, 'decide', changed),
    ask(guest, 'decide', { message: 'cancel', decision: pause.decision }),
    ask(guest, 'decide', {
      message: 'pause',
      decision: signedDecision(CLEO, 'other.quickbooks-online', 'pause', { reason: 'a test' }),
    }),
    ask(viewer, 'decide', pause),
    ask(guest, 'decide', decision(migration, 'pause', { role: 'support' })),
    ask(guest, 'decide', { message: 'pause', decision: { by: 'Cleo' } }),
    ask(guest, 'decide', decision(migration, 'applicationSupplied', { clientId: 'x', environment: 'production' })),
  ]);
  expect(answers.map(({ outcome, text }) => `${outcome}: ${text}`)).toEqual([
    'failed: the invitation belongs to Cleo (client), but the decision names another person or role',
    'failed: the decision is signed with a key that does not belong to the invitation',
    'failed: the signature does not match: the decision was changed, or it was signed for another migration',
    'failed: the signature does not match: the decision was changed, or it was signed for another migration',
    'failed: the signature does not match: the decision was changed, or it was signed for another migration',
    'failed: Cleo was invited to read, and cannot decide',
    'failed: the decision is malformed',
    'failed: the decision is malformed',
    'failed: supply the application together with its client secret',
  ]);
  expect(await recordedKinds(migration.id)).toEqual([]);
});

test('a person decides and supplies nothing before support has confirmed the key', async () => {
  const { db, migration, guest } = await startWithGuest();
  await db
    .updateTable('portal_invitations')
    .set({ key_confirmed_at: null })
    .where('id', '=', guest.invitation)
    .execute();
  const { publicKey } = await readMigrationKey(db, migration.id);
  const box = { reference: 'R-1', obtainedAt: new Date().toISOString(), sealed: 'AAAA' };
  const credentials = { keyFingerprint: fingerprintOf(publicKey), credentials: [box] };
  const answers = [
    await ask(guest, 'decide', decision(migration, 'pause', { reason: 'a test' })),
    await ask(guest, 'credentials', { decisionId: randomUUID(), replaces: false, ...credentials }),
  ];
  const answer = {
    outcome: 'failed',
    text: expect.stringMatching(/^support has not confirmed your key yet: /) as string,
  };
  expect(answers).toEqual([answer, answer]);
  expect(await recordedKinds(migration.id)).toEqual([]);
});

test('companies are moved with credentials that were supplied sealed through the portal', async () => {
  const { db, migration, guest } = await startWithGuest(['sbx-ok-1.sealed', 'sbx-ok-1.sealed-2']);
  await migration.send('approve', { step: 'supply-details', ...SUPPORT });
  await ask(guest, 'decide', decision(migration, 'proposeTime', { startAt: new Date().toISOString() }));
  for (const step of ['schedule', 'update-application']) {
    expect(await ask(guest, 'decide', decision(migration, 'approve', { step }))).toMatchObject({ outcome: 'applied' });
    await migration.send('approve', { step, ...SUPPORT });
  }
  await ask(guest, 'decide', decision(migration, 'confirmSyncDisabled', { companies: 'all' }));
  await migration.until(({ step }) => step === 'migrate-first-company');

  const { publicKey } = await readMigrationKey(db, migration.id);
  const seal = createSealer(publicKey);
  const organizations = await db
    .selectFrom('companies')
    .select(['reference', 'organization'])
    .where('migration_id', '=', migration.id)
    .execute();
  const sealed = (reference: string, refreshToken: string) => {
    const obtainedAt = new Date().toISOString();
    const realmId = organizations.find((each) => each.reference === reference)?.organization ?? '';
    const fields = new Secret({ accessToken: 'any', refreshToken, realmId });
    const box = sealCredential(seal, migration.id, { reference, obtainedAt, fields });
    return { reference, obtainedAt, sealed: box.toString('base64') };
  };
  const decisionId = randomUUID();
  const body = { decisionId, replaces: false, keyFingerprint: fingerprintOf(publicKey) };
  const first = sealed('R-1', 'sbx-ok-1.sealed');
  const last = sealed('R-2', 'sbx-ok-1.sealed-2');
  const early = { ...sealed('R-2', 'sbx-ok-1.sealed-2'), obtainedAt: '2020-01-01T00:00:00.000Z' };
  const answer = await ask(guest, 'credentials', { ...body, credentials: [first, first, early, sealed('X-9', 'x')] });
  expect(answer).toMatchObject({ outcome: 'stored', stored: 1, text: '1 credential stored' });
  expect(answer.refusedCredentials).toEqual([
    { reference: 'R-1', why: 'the file contains this reference more than once' },
    { reference: 'X-9', why: 'the manifest has no company with this reference' },
    { reference: 'R-2', why: expect.stringMatching(/^it was obtained before you confirmed/) as string },
  ]);
  const stale = { ...body, keyFingerprint: 'of-an-older-key', credentials: [first] };
  expect(await ask(guest, 'credentials', stale)).toMatchObject({
    outcome: 'failed',
    text: expect.stringMatching(/^this was encrypted with a key that is no longer in use/) as string,
  });
  const second = await ask(guest, 'credentials', { ...body, credentials: [last] });
  expect(second).toMatchObject({ outcome: 'stored', stored: 1 });
  const { rows } = await sql<{ text: string }>`select r::text as text from portal_requests r`.execute(db);
  expect(rows.map(({ text }) => text).join()).not.toContain(first.sealed.slice(0, 40));

  const signed = { decisionId, companies: 2, sealedDigest: credentialsDigest([hashed(first), hashed(last)]) };
  const { sealedDigest: _, ...undigested } = signed;
  expect(await ask(guest, 'decide', decision(migration, 'credentialsSupplied', undigested))).toMatchObject({
    outcome: 'failed',
    text: expect.stringMatching(/^the signed decision does not say which credentials/) as string,
  });
  const supplied = await ask(guest, 'decide', decision(migration, 'credentialsSupplied', signed));
  expect(supplied).toEqual({ outcome: 'applied', text: '2 credentials supplied' });
  expect(await ask(guest, 'credentials', { ...body, credentials: [first] })).toMatchObject({ outcome: 'failed' });
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  await migration.until(({ counts }) => counts.moved === 2);
  const signOff = decision(migration, 'approve', { step: 'complete-migration' });
  expect(await ask(guest, 'decide', signOff)).toMatchObject({ outcome: 'applied' });
});

const hashed = ({ reference, obtainedAt, sealed }: { reference: string; obtainedAt: string; sealed: string }) => ({
  ...{ reference, obtainedAt, boxHash: hashOfBox(Buffer.from(sealed, 'base64')) },
});

test('if the portal replaces credentials after the signature, they are refused, and the audit trail shows this', async () => {
  const { db, migration, guest } = await startWithGuest(['sbx-ok-1.exchanged']);
  await migration.send('confirmSyncDisabled', { companies: 'all', ...CLIENT });
  const { publicKey } = await readMigrationKey(db, migration.id);
  const seal = createSealer(publicKey);
  const box = (refreshToken: string) => {
    const obtainedAt = new Date().toISOString();
    const fields = new Secret({ accessToken: 'any', refreshToken, realmId: '1' });
    const sealed = sealCredential(seal, migration.id, { reference: 'R-1', obtainedAt, fields }).toString('base64');
    return { reference: 'R-1', obtainedAt, sealed };
  };
  const decisionId = randomUUID();
  const body = { decisionId, replaces: false, keyFingerprint: fingerprintOf(publicKey) };
  const cleos = box("Cleo's");
  expect(await ask(guest, 'credentials', { ...body, credentials: [cleos] })).toMatchObject({ stored: 1 });
  expect(await ask(guest, 'credentials', { ...body, credentials: [box("the portal's")] })).toMatchObject({ stored: 1 });
  const signed = { decisionId, companies: 1, sealedDigest: credentialsDigest([hashed(cleos)]) };
  const text = expect.stringMatching(/^the encrypted credentials that arrived do not match this decision/) as string;
  const answer = await ask(guest, 'decide', decision(migration, 'credentialsSupplied', signed));
  expect(answer).toMatchObject({ outcome: 'refused', text });
  const trail: unknown[] = [];
  for await (const record of readTrail(db, migration.id)) trail.push(record);
  expect(trail.at(-1)).toMatchObject({ decision: { decisionId, by: 'Cleo' }, outcome: { applied: false, text } });
  for (const table of ['staged_credentials', 'credentials'] as const)
    expect(await db.selectFrom(table).select('row').where('migration_id', '=', migration.id).execute()).toEqual([]);
});

/** The application that is registered for all tests. */
const APPLICATION = { clientId: 'the-clients-own', environment: 'production' } as const;

test('a client secret that was supplied sealed through the portal is registered', async () => {
  const { db, migration, guest } = await startWithGuest();
  const { publicKey } = await readMigrationKey(db, migration.id);
  const keyFingerprint = fingerprintOf(publicKey);
  const sealedFor = (application: { readonly clientId: string; readonly environment: 'production' | 'sandbox' }) => {
    const clientSecret = new Secret('a new secret');
    const box = sealClientSecret(createSealer(publicKey), migration.id, { ...application, clientSecret });
    const sealedDigest = sealedApplicationDigest({ ...application, sealed: box });
    const signed = signedDecision(CLEO, migration.id, 'applicationSupplied', { ...application, sealedDigest });
    return { ...application, keyFingerprint, sealed: box.toString('base64'), decision: signed };
  };
  const refused = await Promise.all([
    ask(guest, 'application', sealedFor({ ...APPLICATION, environment: 'sandbox' })),
    ask(guest, 'application', { ...sealedFor(APPLICATION), clientId: 'another' }),
    ask(guest, 'application', { ...sealedFor(APPLICATION), keyFingerprint: 'an older one' }),
    ask(guest, 'application', { ...sealedFor(APPLICATION), sealed: sealedFor(APPLICATION).sealed }),
  ]);
  expect(refused.map(({ outcome, text }) => `${outcome}: ${text}`)).toEqual([
    'failed: QuickBooks Online uses the production environment, not sandbox',
    'failed: the signed decision names another application',
    expect.stringMatching(/^failed: this was encrypted with a key that is no longer in use/),
    expect.stringMatching(/^failed: the encrypted client secret is not the one that was signed/),
  ]);
  expect(await ask(guest, 'application', sealedFor(APPLICATION))).toEqual({
    outcome: 'applied',
    text: 'the application is the-clients-own (production)',
  });
  const { preflight } = await migration.until(({ checking }) => !checking);
  expect(preflight?.application).toEqual({ ...APPLICATION, suppliedBy: 'Cleo' });
});

test('if a worker dies before it answers, the decision is applied once', async () => {
  const { db, migration, guest } = await startWithGuest();
  const cancel = decision(migration, 'cancel', { reason: 'a test' });
  const id = randomUUID();
  const request: PortalRequest = {
    ...{ id, migrationId: migration.id, kind: 'decide', body: cancel, invitationId: guest.invitation },
    ...{
      person: 'Cleo',
      role: 'client',
      publicKey: CLEO.publicKey,
      isKeyConfirmed: true,
      createdAt: new Date(),
      attempts: 1,
      decisionId: null,
    },
  };
  const dying = db.withPlugin({
    transformQuery: ({ node }) => {
      if (node.kind === 'UpdateQueryNode') throw new Error('the worker has died');
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  });
  const context = {
    ...{ ferry: { ...orchestrator.ferry, db: dying }, namespace: '', log: pino({ level: 'silent' }) },
    reconnectionsAskedAt: new Map<string, number>(),
  };
  await expect(handleRequest(context, request)).rejects.toThrow('the worker has died');

  // The decision has ended the migration.
  await until(async () => (await recordedKinds(migration.id)).length === 1);
  expect(await ask(guest, 'decide', cancel)).toEqual({
    outcome: 'applied',
    text: 'cancelled: no more moves will begin',
  });
  expect(await recordedKinds(migration.id)).toEqual(['cancel']);
});

test('two workers carry out the decisions of a person in the order in which they were sent', async () => {
  const { db, migration, guest } = await startWithGuest();
  const second = await orchestrator.startWorker();
  const sent = Array.from({ length: 16 }, (_, each) =>
    decision(migration, each % 2 === 0 ? 'pause' : 'resume', { reason: `decision ${each}` }),
  );
  const ids: string[] = [];
  for (const each of sent) ids.push(await submit(guest, 'decide', each));
  const last = ids.at(-1) ?? '';
  await until(async () => (await readAnswer(db, last)) !== null, 60_000);
  const outcomes = await Promise.all(ids.map(async (id) => (await readAnswer(db, id))?.outcome));
  expect(outcomes).toEqual(sent.map(() => 'applied'));
  const trail: unknown[] = [];
  for await (const record of readTrail(db, migration.id)) trail.push(record.decision.decisionId);
  expect(trail).toEqual(sent.map((each) => each.decision.decisionId));
  await second.stop();
});

test('a request that has crashed three workers is answered, the next one is carried out, and doctor reports it', async () => {
  const { db, migration, guest } = await startWithGuest();
  const done = decision(migration, 'pause', { reason: 'a worker ended after it' });
  expect(await ask(guest, 'decide', done)).toMatchObject({ outcome: 'applied' });
  const poisons: string[] = [];
  await db.transaction().execute(async (tx) => {
    for (const each of [done, decision(migration, 'cancel', { reason: 'poison' })])
      poisons.push(await submit({ ...guest, db: tx }, 'decide', each));
    await sql`update portal_requests set attempts = 3 where id = any(${poisons}::uuid[])`.execute(tx);
  });
  const next = decision(migration, 'resume', { reason: 'after it' });
  expect(await ask(guest, 'decide', next)).toMatchObject({ outcome: 'applied' });
  const [wasDone, poison] = await Promise.all(poisons.map((id) => readAnswer(db, id)));
  expect(wasDone).toEqual({ outcome: 'applied', text: 'paused' });
  expect(poison).toMatchObject({ outcome: 'failed', text: expect.stringMatching(/technical problem/) as string });
  expect(await recordedKinds(migration.id)).toEqual(['pause', 'resume']);
  const { out } = await ferry(['doctor'], undefined, orchestrator.env);
  expect(out).toMatch(
    /portal requests +workers gave up on 1 request in the last day, the latest at .* UTC: a decision of Cleo for /,
  );
  expect(out).toContain(poisons[1]);
  await db.deleteFrom('portal_requests').where('is_given_up', '=', true).execute();
});

test('a request that always fails is finally answered, and holds up only requests of the same person', async () => {
  const { db, migration, guest } = await startWithGuest();
  const colleague = await invited(db, migration.id, 'Clara', CLARA);
  const decisionId = randomUUID();
  await sql`
    create or replace function refuse_poison() returns trigger language plpgsql as
    $$ begin raise exception 'poison'; end $$`.execute(db);
  await sql`create trigger poison before insert on sealed_applications for each row execute function refuse_poison()`.execute(
    db,
  );
  const { publicKey } = await readMigrationKey(db, migration.id);
  const poison = await submit(guest, 'application', {
    ...{ keyFingerprint: fingerprintOf(publicKey), ...APPLICATION, sealed: 'AAAA' },
    decision: signedDecision(CLEO, migration.id, 'applicationSupplied', {
      ...{ decisionId, ...APPLICATION },
      sealedDigest: sealedApplicationDigest({ ...APPLICATION, sealed: Buffer.from('AAAA', 'base64') }),
    }),
  });
  const next = await submit(guest, 'decide', decision(migration, 'resume', { reason: 'after it' }));
  expect(await ask(colleague, 'decide', decision(migration, 'pause', { reason: 'meanwhile' }, CLARA))).toMatchObject({
    outcome: 'applied',
  });
  expect([await readAnswer(db, poison), await readAnswer(db, next)]).toEqual([null, null]);
  await sql`update portal_requests set created_at = now() - interval '1 hour' where id = ${poison}`.execute(db);
  await until(async () => (await readAnswer(db, next)) !== null);
  expect(await readAnswer(db, next)).toMatchObject({ outcome: 'applied' });
  expect(await readAnswer(db, poison)).toMatchObject({
    outcome: 'failed',
    text: expect.stringMatching(/technical problem/) as string,
  });
  await sql`drop trigger poison on sealed_applications`.execute(db);
});

test('after the migration has ended, the page and the report are still written, even without the workflow', async () => {
  const { db, migration } = await startWithGuest();
  const viewer = await invited(db, migration.id, 'Vera', null);
  await migration.send('cancel', { reason: 'no longer needed', ...CLIENT });
  await until(async () => (await readStoredEnding(migration.id)) === 'cancelled');
  const reports = await Promise.all(
    ['html', 'csv', 'json', 'markdown'].map((format) => ask(viewer, 'report', { format })),
  );
  expect(reports.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done', 'done']);
  expect(reports.map(({ content }) => content?.trim().slice(0, 9))).toEqual([
    '<!doctype',
    'reference',
    '{\n  "sche',
    '# Handove',
  ]);

  const { temporal, temporalWithoutCodec } = orchestrator.ferry;
  await until(async () => (await temporal.workflow.getHandle(migration.id).describe()).status.name !== 'RUNNING');
  const { namespace } = orchestrator.config.temporal;
  await temporal.workflowService.deleteWorkflowExecution({
    namespace,
    workflowExecution: { workflowId: migration.id },
  });
  await until(() =>
    temporalWithoutCodec.workflow
      .getHandle(migration.id)
      .describe()
      .then(
        () => false,
        () => true,
      ),
  );
  await sql`delete from portal_views where migration_id = ${migration.id}`.execute(db);
  await sql`insert into portal_views (migration_id) values (${migration.id})`.execute(db);
  await until(async () => (await readView(migration.id)) !== null);
  const view = await readView(migration.id);
  expect(view).toMatchObject({ state: 'cancelled', actions: [], migrationKey: null });
  expect(view?.notices).toEqual([expect.stringMatching(/^Ended by Cleo \(client\) at .*: no longer needed$/)]);
});

async function readStoredEnding(migrationId: string): Promise<string | null> {
  const { db } = orchestrator.ferry;
  const row = await db.selectFrom('migrations').select('ending').where('id', '=', migrationId).executeTakeFirst();
  return row?.ending ?? null;
}
