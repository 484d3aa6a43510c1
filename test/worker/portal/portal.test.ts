/** Tests the decisions that people send through the portal, and workers that fail while carrying them out. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import { createSigningKey, fingerprintOf, parseSigningKey, Secret } from '../../../security';
import { readMigrationKey, readTrail, sealedApplicationDigest, type PortalRequest } from '../../../store';
import { handleRequest } from '../../../worker/portal/requests';
import { ferry } from '../../cli/captured-terminal';
import { until } from '../../support/async';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { CLIENT } from '../../workflows/running-migration';
import {
  ask,
  CLEO,
  CLIO,
  decision,
  invited,
  readAnswer,
  readView,
  recordedKinds,
  signedDecision,
  startWithGuest as startMigrationWithGuest,
  submit,
} from './portal-requests';

const CLARA = parseSigningKey(new Secret(createSigningKey('Clara')));

const orchestrator = useOrchestratorWithWorker();

let started = 0;
function startWithGuest(credentials?: readonly string[]) {
  started += 1;
  return startMigrationWithGuest(orchestrator, `portal-${started}`, credentials);
}

test('a signed decision is applied, its answer says so, and the page shows it', async () => {
  const { db, migration, guest } = await startWithGuest();
  expect(await ask(guest, 'decide', decision(migration, 'pause', { reason: 'a holiday' }))).toEqual({
    outcome: 'applied',
    text: 'paused',
  });
  await until(async () => (await readView(db, migration.id))?.state === 'paused');
  expect((await readView(db, migration.id))?.notices[0]).toMatch(/^Paused by Cleo \(client\) since .*: a holiday$/);
  expect(await ask(guest, 'decide', decision(migration, 'pause', { reason: 'again' }))).toEqual({
    outcome: 'refused',
    text: 'the client has already paused the migration (Cleo)',
  });
});

test('a decision that does not apply to some of its companies is not sent, and names them', async () => {
  const { db, migration, guest } = await startWithGuest([1, 2, 3].map((row) => `sbx-ok-1.named-${row}`));
  const companiesOf = db.updateTable('companies').where('migration_id', '=', migration.id);
  await companiesOf.set({ state: 'moved' }).where('row', '>', 1).execute();
  const answers: string[] = [];
  for (const companies of [['R-1', 'X-9'], ['R-1, X-7', 'X-9'], ['R-1', 'R-2'], ['R-1', 'R-2', 'R-3'], ['R-2']])
    answers.push((await ask(guest, 'decide', decision(migration, 'exclude', { companies, reason: 'too late' }))).text);
  expect(answers).toEqual([
    'nothing was decided, because the manifest does not contain X-9',
    'nothing was decided, because the manifest does not contain "R-1, X-7", X-9; on the page, write one reference per line; in a command, write spaces between references',
    'nothing was decided, because the decision does not apply to R-2 (moved); make the decision again without this company',
    'nothing was decided, because the decision does not apply to R-2 (moved), R-3 (moved); make the decision again without these companies',
    'nothing was decided, because the decision does not apply to R-2 (moved)',
  ]);
  expect(await recordedKinds(db, migration.id)).toEqual([]);
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
    ask(guest, 'decide', { ...pause, message: 'undo' }),
  ]);
  expect(answers.map(({ outcome, text }) => `${outcome}: ${text}`)).toEqual([
    'failed: the invitation belongs to Cleo (client), but the decision was made as Clara (client)',
    'failed: the decision is signed with a key that does not belong to the invitation; sign in again, and then make the decision again',
    'failed: the signature does not match: the decision was changed, or it was signed for another migration; make the decision again, and tell your contact if this happens twice',
    'failed: the signature does not match: the decision was changed, or it was signed for another migration; make the decision again, and tell your contact if this happens twice',
    'failed: the signature does not match: the decision was changed, or it was signed for another migration; make the decision again, and tell your contact if this happens twice',
    'failed: the invitation of Cleo is read-only',
    'failed: the decision is malformed; reload the page, or update ferry',
    'failed: the decision is malformed; reload the page, or update ferry',
    'failed: supply the application together with its client secret',
    "failed: nothing was decided, because the provider's system does not know this kind of decision; try again in a few minutes, and if this happens again, tell your contact",
  ]);
  expect(await recordedKinds(db, migration.id)).toEqual([]);
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
    text: "support has not confirmed your key yet: call your contact, and read out the key's fingerprint, which the page shows",
  };
  expect(answers).toEqual([answer, answer]);
  expect(await recordedKinds(db, migration.id)).toEqual([]);
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

  // Waits until the decision, which ends the migration, is in the audit trail.
  await until(async () => (await recordedKinds(db, migration.id)).length === 1);
  expect(await ask(guest, 'decide', cancel)).toEqual({
    outcome: 'applied',
    text: 'cancelled: no more moves will begin',
  });
  expect(await recordedKinds(db, migration.id)).toEqual(['cancel']);
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

test('a request that has crashed three workers is answered, the next request is carried out, and doctor reports it', async () => {
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
  expect(await recordedKinds(db, migration.id)).toEqual(['pause', 'resume']);
  const { out } = await ferry(['doctor'], undefined, orchestrator.env);
  expect(out).toMatch(
    /portal requests +workers gave up on 1 request in the last day, the latest at .* UTC: the request "decide" of Cleo for /,
  );
  expect(out).toContain(poisons[1]);
  await db.deleteFrom('portal_requests').where('is_given_up', '=', true).execute();
});

test('a request that always fails is finally answered, and holds up only requests of the same person', async () => {
  const { db, migration, guest } = await startWithGuest();
  const colleague = await invited(db, migration.id, 'Clara', CLARA);
  const decisionId = randomUUID();
  const application = { clientId: 'the-clients-own', environment: 'production' };
  await sql`
    create or replace function refuse_poison() returns trigger language plpgsql as
    $$ begin raise exception 'poison'; end $$`.execute(db);
  await sql`create trigger poison before insert on sealed_applications for each row execute function refuse_poison()`.execute(
    db,
  );
  const { publicKey } = await readMigrationKey(db, migration.id);
  const poison = await submit(guest, 'application', {
    ...{ keyFingerprint: fingerprintOf(publicKey), ...application, sealed: 'AAAA' },
    decision: signedDecision(CLEO, migration.id, 'applicationSupplied', {
      ...{ decisionId, ...application },
      sealedDigest: sealedApplicationDigest({ ...application, sealed: Buffer.from('AAAA', 'base64') }),
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
  await until(async () => (await readView(db, migration.id)) !== null);
  const view = await readView(db, migration.id);
  expect(view).toMatchObject({ state: 'cancelled', actions: [], migrationKey: null });
  expect(view?.notices).toEqual([expect.stringMatching(/^Ended by Cleo \(client\) at .*: no longer needed$/)]);
});

test('the view says that the chosen first company is not in the manifest', async () => {
  const { db, migration } = await startWithGuest();
  expect(await migration.send('chooseFirstCompany', { company: 'R-9', role: 'support', by: 'Sam' })).toBe('applied');
  await migration.readyToMove();
  await migration.until(({ requestedFirst }) => requestedFirst?.notReady === true);
  await sql`insert into portal_views (migration_id) values (${migration.id})`.execute(db);
  await until(async () => (await readView(db, migration.id)) !== null);
  expect((await readView(db, migration.id))?.task?.what).toMatch(/^Ask support .* R-9 is not in the manifest\.$/);
});

async function readStoredEnding(migrationId: string): Promise<string | null> {
  const { db } = orchestrator.ferry;
  const row = await db.selectFrom('migrations').select('ending').where('id', '=', migrationId).executeTakeFirst();
  return row?.ending ?? null;
}
