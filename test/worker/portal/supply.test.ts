/** Tests credentials and client secrets that the client supplies sealed through the portal. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { credentialsDigest, hashOfBox } from '../../../domain/supply/sealed-digest';
import { createSealer, fingerprintOf, sealClientSecret, sealCredential, Secret } from '../../../security';
import { readMigration, readMigrationKey, readTrail, sealedApplicationDigest } from '../../../store';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { CLIENT, SUPPORT } from '../../workflows/running-migration';
import { ask, CLEO, decision, signedDecision, startWithGuest } from './portal-requests';

const orchestrator = useOrchestratorWithWorker();

const hashed = ({ reference, obtainedAt, sealed }: { reference: string; obtainedAt: string; sealed: string }) => ({
  ...{ reference, obtainedAt, boxHash: hashOfBox(Buffer.from(sealed, 'base64')) },
});

test('companies are moved with credentials that were supplied sealed through the portal', async () => {
  const { db, migration, guest } = await startWithGuest(orchestrator, 'portal-sealed', [
    'sbx-ok-1.sealed',
    'sbx-ok-1.sealed-2',
  ]);
  await migration.send('approve', { step: 'supply-details', ...SUPPORT });
  await ask(guest, 'decide', decision(migration, 'proposeTime', { startAt: new Date().toISOString() }));
  for (const step of ['schedule', 'update-application']) {
    expect(await ask(guest, 'decide', decision(migration, 'approve', { step }))).toMatchObject({ outcome: 'applied' });
    await migration.send('approve', { step, ...SUPPORT });
  }
  await ask(guest, 'decide', decision(migration, 'confirmSyncDisabled', { companies: 'all' }));
  await migration.until(({ step }) => step === 'migrate-first-company');

  const { publicKey } = await readMigrationKey(db, migration.id);
  const seal = createSealer(publicKey, 'acme.xero');
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
  const ahead = { ...sealed('R-2', 'sbx-ok-1.sealed-2'), obtainedAt: new Date(Date.now() + 60_000).toISOString() };
  expect((await ask(guest, 'credentials', { ...body, credentials: [ahead] })).refusedCredentials).toEqual([
    {
      reference: 'R-2',
      why: "a credential cannot have been obtained in the future; correct the time or your device's clock, and supply the credential again",
    },
  ]);
  // The clock of the client's device can be a few seconds ahead.
  const fast = { ...sealed('R-2', 'sbx-ok-1.sealed-2'), obtainedAt: new Date(Date.now() + 10_000).toISOString() };
  const another = { ...body, decisionId: randomUUID(), credentials: [fast] };
  expect(await ask(guest, 'credentials', another)).toMatchObject({ stored: 1, refusedCredentials: [] });
  const answer = await ask(guest, 'credentials', { ...body, credentials: [first, first, early, sealed('X-9', 'x')] });
  expect(answer).toMatchObject({ outcome: 'stored', stored: 1, text: '1 credential stored' });
  expect(answer.refusedCredentials).toEqual([
    { reference: 'R-1', why: 'the file contains the same reference more than once' },
    {
      reference: 'X-9',
      why: 'no company of the manifest has the same reference; if the reference is wrong, correct it in the file',
    },
    { reference: 'R-2', why: expect.stringMatching(/^credentials that were obtained before you confirmed/) as string },
  ]);
  const stale = { ...body, keyFingerprint: 'of-an-older-key', credentials: [first] };
  expect(await ask(guest, 'credentials', stale)).toMatchObject({
    outcome: 'failed',
    text: expect.stringMatching(/^the data was encrypted with a key that is no longer in use/) as string,
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

test('if the portal replaces credentials after the signature, they are refused, and the audit trail shows this', async () => {
  const { db, migration, guest } = await startWithGuest(orchestrator, 'portal-exchanged', ['sbx-ok-1.exchanged']);
  await migration.send('confirmSyncDisabled', { companies: 'all', ...CLIENT });
  const { publicKey } = await readMigrationKey(db, migration.id);
  const seal = createSealer(publicKey, 'acme.xero');
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
  const text = expect.stringMatching(
    /^the encrypted credentials did not all arrive, or do not match this decision/,
  ) as string;
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

test("an application that would break the connections of another client is refused without the client's name", async () => {
  const { db, migration, guest } = await startWithGuest(orchestrator, 'portal-other-client');
  const { migration: other } = await startWithGuest(orchestrator, 'portal-first-client');
  const { publicKey } = await readMigrationKey(db, migration.id);
  const own = { clientId: 'my-own', environment: 'production' } as const;
  const box = sealClientSecret(createSealer(publicKey, 'acme.xero'), migration.id, {
    ...{ ...own, clientSecret: new Secret('any') },
  });
  const decided = signedDecision(CLEO, migration.id, 'applicationSupplied', {
    ...{ ...own, sealedDigest: sealedApplicationDigest({ ...own, sealed: box }) },
  });
  const body = { ...own, keyFingerprint: fingerprintOf(publicKey), sealed: box.toString('base64'), decision: decided };
  // Closes the other migrations, because an open migration with another application would cause an earlier refusal.
  await db.updateTable('migrations').set({ state: 'closed' }).where('id', '!=', migration.id).execute();
  await db
    .updateTable('migrations')
    .set({ application: JSON.stringify(APPLICATION) })
    .where('id', '=', other.id)
    .execute();
  await db.updateTable('companies').set({ crossed_at: new Date() }).where('migration_id', '=', other.id).execute();
  const setClient = (client: string) =>
    db.updateTable('migrations').set({ client }).where('id', '=', other.id).execute();
  await setClient('kite');
  expect(await ask(guest, 'application', body)).toEqual({
    outcome: 'failed',
    text: 'companies of another client of this account have been connected with another application, and a new application would break their connections; if your tokens were obtained by your application, tell support its client id, and that you need an account of your own',
  });
  await setClient((await readMigration(db, migration.id))?.client ?? '');
  expect(await ask(guest, 'application', body)).toMatchObject({
    text: expect.stringMatching(/^companies have already been connected with another application/) as string,
  });
  await db.updateTable('companies').set({ crossed_at: null }).where('migration_id', '=', other.id).execute();
});

test('a client secret that was supplied sealed through the portal is registered', async () => {
  const { db, migration, guest } = await startWithGuest(orchestrator, 'portal-secret');
  const { publicKey } = await readMigrationKey(db, migration.id);
  const keyFingerprint = fingerprintOf(publicKey);
  const sealedFor = (application: { readonly clientId: string; readonly environment: 'production' | 'sandbox' }) => {
    const clientSecret = new Secret('a new secret');
    const box = sealClientSecret(createSealer(publicKey, 'acme.xero'), migration.id, { ...application, clientSecret });
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
    'failed: QuickBooks Online uses the production environment, not sandbox; supply the application that obtained your tokens, with the environment production',
    'failed: the signed decision names an application other than the one that was supplied with it; supply the application again, and tell support if this happens twice',
    expect.stringMatching(/^failed: the data was encrypted with a key that is no longer in use/),
    expect.stringMatching(/^failed: the encrypted client secret does not match the signature/),
  ]);
  expect(await ask(guest, 'application', sealedFor(APPLICATION))).toEqual({
    outcome: 'applied',
    text: 'the application is the-clients-own (production)',
  });
  const { preflight } = await migration.until(({ checking }) => !checking);
  expect(preflight?.application).toEqual({ ...APPLICATION, suppliedBy: 'Cleo' });
});
