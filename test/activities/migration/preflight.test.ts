/** The preflight activity with a real ledger and a real service. It uses no credential. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { createSealer, sealClientSecret, Secret } from '../../../security';
import { failing } from '../../company-data-client/misbehaving-service';
import { registerApplications } from '../../support/migrations/platforms';
import { useImportRig } from '../../support/migrations/company-import';
import { alterBody } from '../../support/faults/http-proxy';
import { suppliedMigration, updateRow, readRow, manifestRows } from '../../support/migrations/ledger';
import { isApplicationOfOtherClient } from '../../../domain/preflight/dependents';
import { NOT_CHECKED } from '../../../domain/companies/company-state';
import type { ManifestRow } from '../../../domain/companies/manifest';
import {
  closeMigration,
  recordDecisions,
  amendManifest,
  readHeldBack,
  readMigrationKey,
  stageApplication,
  supplyMigration,
} from '../../../store';

const rig = useImportRig();
beforeAll(() => registerApplications(rig.directClient));

/** Runs the preflight, and returns it with the names and texts from the ledger. */
const check = async (migrationId: string) => (await rig.preflight(migrationId)).inFull;
const DIGITS = { row: (row: number) => ({ organization: `${randomUUID().replace(/\D/g, '')}${row}` }) };

test('correct details pass, the callback URL is returned, and no credential is used', async () => {
  const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5'], DIGITS);
  expect(await check(id)).toEqual({
    companies: 2,
    manifestDigest: 'digest',
    suppliedBy: 'Cleo',
    problems: [],
    problemCodes: [],
    warnings: [],
    heldBack: 0,
    callbackUrl: expect.stringMatching(/^http/) as string,
    application: { clientId: 'the-clients-own', environment: 'production', suppliedBy: null },
  });
  expect(rig.proxy.arrived('PUT', /./)).toEqual([]);
  expect(rig.proxy.arrived('POST', /./)).toEqual([]);
});

test.each<[string, RegExp, Parameters<typeof alterBody>[0], RegExp]>([
  [
    'a key without the administrator role',
    /^\/account$/,
    (body) => ({ ...body, role: 'client' }),
    /not an administrator key/,
  ],
  [
    'an account without room',
    /^\/account$/,
    (body) => ({ ...body, companyLimit: 50, companiesUsed: 49 }),
    /room for 1 company, not for 2/,
  ],
  [
    'an account that expires during the move',
    /^\/account$/,
    (body) => ({ ...body, expiresAt: new Date(Date.now() + 1_000).toISOString() }),
    /the account expires at/,
  ],
  ['a platform that is not enabled', /^\/integrations\//, (body) => ({ ...body, enabled: false }), /is not enabled/],
  ['no application', /^\/integrations\//, (body) => ({ ...body, application: null }), /application is registered/],
  [
    'an application for the wrong environment',
    /^\/integrations\//,
    (body) => ({ ...body, application: { clientId: 'mine', environment: 'sandbox' } }),
    /for the sandbox environment of QuickBooks Online, not for production/,
  ],
])('the preflight reports %s as a problem', async (_, path, alter, problem) => {
  const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5'], DIGITS);
  rig.proxy.on('GET', path, alterBody(alter));
  expect((await check(id)).problems).toEqual([expect.stringMatching(problem)]);
});

test('the preflight says who supplied the application, and reports a different application that another open migration uses', async () => {
  const supply = async (id: string, clientId: string, by: string) => {
    const base = { decisionId: randomUUID(), role: 'client', by } as const;
    const decision = { ...base, kind: 'application-supplied', clientId, environment: 'production' } as const;
    const outcome = { decisionId: base.decisionId, applied: true, text: 'supplied', at: new Date().toISOString() };
    await recordDecisions(rig.ledger.db, id, [{ decision, outcome }]);
  };
  const { id } = await rig.migration(['sbx-ok-5'], DIGITS);
  await supply(id, 'the-clients-own', 'Cleo');
  const application = { clientId: 'the-clients-own', environment: 'production', suppliedBy: 'Cleo' };
  expect(await check(id)).toMatchObject({ problems: [], application });

  const { id: other } = await rig.migration(['sbx-ok-5'], DIGITS);
  await supply(other, 'bee-app', 'Bea');
  const { problems, problemCodes } = await check(id);
  expect(problemCodes).toEqual(['application-of-another-migration']);
  expect(problems).toEqual([
    `${id} uses the application the-clients-own (production), but ${other} uses bee-app (production); ` +
      'an account has only one application per platform',
  ]);
  await closeMigration(rig.ledger.db, other, 'cancelled');
  expect((await check(id)).problems).toEqual([]);
  await closeMigration(rig.ledger.db, id, 'cancelled');
});

test("the preflight warns that another client's ended migration depends on the registered application", async () => {
  const { db } = rig.ledger;
  const { id: ended } = await rig.migration(['sbx-ok-5'], DIGITS);
  await check(ended);
  await updateRow(db, ended, 1, { crossed_at: new Date(), state: 'moved' });
  await closeMigration(db, ended, 'completed');
  await sql`update migrations set client = 'kite' where id = ${ended}`.execute(db);
  const { id } = await rig.migration(['sbx-ok-5'], DIGITS);
  const { result, inFull } = await rig.preflight(id);
  expect(inFull.warnings).toContainEqual(
    `no application was supplied, and connected companies of another client depend on the registered one: ${ended} (1 company, ended)`,
  );
  expect(JSON.stringify(result)).not.toContain(ended);
  expect(isApplicationOfOtherClient(result)).toBe(true);
  await closeMigration(db, id, 'cancelled');
  await sql`delete from companies where migration_id = ${ended}`.execute(db);
});

test.each([
  [400, 'application-not-registered', /^correct the application, and supply it again$/, /; correct the application/],
  [403, 'service-refuses', /^check COMPANY_DATA_API_KEY of the workers/, /; support has to check its access/],
])('an application that the service refuses with %d says what to do', async (status, code, advice, clientAdvice) => {
  const { db } = rig.ledger;
  const { id } = await rig.migration(['sbx-ok-5'], DIGITS);
  const application = { clientId: 'sealed-app', environment: 'production' } as const;
  const { publicKey } = await readMigrationKey(db, id);
  const sealed = sealClientSecret(createSealer(publicKey, id), id, { ...application, clientSecret: new Secret('s') });
  const base = { decisionId: randomUUID(), role: 'client', by: 'Cleo' } as const;
  await stageApplication(db, id, base.decisionId, { ...application, sealed });
  const outcome = { decisionId: base.decisionId, applied: true, text: 'supplied', at: new Date().toISOString() };
  await recordDecisions(db, id, [
    { decision: { ...base, kind: 'application-supplied', ...application }, outcome, verified: true },
  ]);
  rig.proxy.on('PUT', /\/credentials$/, failing(status, 'refused'));
  const { problems, advice: allAdvice, problemCodes, clientProblems } = await check(id);
  const at = problemCodes.indexOf(code as 'service-refuses');
  expect(problems[at]).toMatch(
    /^the application sealed-app \(production\) could not be registered with the service: [^;]*$/,
  );
  expect(allAdvice?.[at]).toMatch(advice);
  expect(clientProblems?.[at]).toMatch(clientAdvice);
  expect(clientProblems?.[at]).not.toContain('COMPANY_DATA');
  await closeMigration(db, id, 'cancelled');
});

test('the preflight reports a platform without the managed route as a problem', async () => {
  const { id } = await rig.migration(['sbx-ok-5'], { platformKey: 'mqjo' });
  expect((await check(id)).problems).toContain('Sandbox has no managed route');
});

test('the preflight reports a key that the service refuses as a problem', async () => {
  const { id } = await rig.migration(['sbx-ok-5'], DIGITS);
  rig.proxy.on('GET', /^\/account$/, failing(401, 'the key is wrong'));
  expect(await check(id)).toMatchObject({ problems: [expect.stringContaining('the key is wrong')], callbackUrl: null });
});

test.each([500, 503, 429])(
  'the preflight fails, so that it is retried, while the service answers %d',
  async (status) => {
    const { id } = await rig.migration(['sbx-ok-5'], DIGITS);
    rig.proxy.on('GET', /^\/account$/, failing(status, 'later', { 'retry-after': '3600' }));
    await expect(check(id)).rejects.toThrow();
  },
);

test('the preflight reports a missing manifest as a problem', async () => {
  expect((await check('nobody.xero')).problems).toEqual(['no manifest has been supplied yet']);
});

/** Creates a company that is linked to an organization, in the account. */
async function createConnected(organization: string): Promise<{ companyId: string; connectionId: string }> {
  const key = { idempotencyKey: randomUUID() };
  const { value: company } = await rig.directClient.createCompany({ name: 'Here before' }, key);
  const { value: connection } = await rig.directClient.createConnection(company.id, 'qhyg', key);
  const fields = { accessToken: 'a', refreshToken: `sbx-ok-1.${randomUUID()}`, realmId: organization };
  await rig.directClient.putAuthorization(company.id, connection.id, new Secret(fields));
  return { companyId: company.id, connectionId: connection.id };
}

test('a company whose organization is already connected to the account is held back until it is unlinked', async () => {
  const { id, rows } = await rig.migration(['sbx-ok-5', 'sbx-ok-5'], DIGITS);
  const { companyId, connectionId } = await createConnected(rows[1]?.organization ?? '');
  const problem = `"${rows[1]?.organization}" is already connected to company "Here before" (${companyId}) in the account`;
  expect(await check(id)).toMatchObject({ problems: [`c2: ${problem}`], heldBack: 1 });
  // The client does not read the name, because the company can belong to another client of the account.
  expect(await readRow(rig.ledger.db, id, 2)).toMatchObject({
    held_back: expect.stringContaining('is already connected to another company in the account') as string,
    held_back_details: problem,
  });
  expect((await readRow(rig.ledger.db, id, 1)).held_back).toBeNull();

  await rig.directClient.unlinkConnection(companyId, connectionId);
  expect(await check(id)).toMatchObject({
    problems: [],
    warnings: [expect.stringContaining('was previously connected')],
    heldBack: 0,
  });
  expect((await readRow(rig.ledger.db, id, 2)).held_back).toBeNull();
});

test('companies that this migration has already moved are not reported as problems', async () => {
  const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5'], DIGITS);
  await updateRow(rig.ledger.db, id, 2, { confirmed_at: null });
  await rig.importSlice(id);
  await rig.verify(id);
  await updateRow(rig.ledger.db, id, 1, { state: 'waiting' });
  expect(await check(id)).toMatchObject({ problems: [], warnings: [], heldBack: 0 });
});

/** Runs `work` while the preflight is reading the account. */
function duringPreflight(work: () => Promise<unknown>): void {
  rig.proxy.on('GET', /^\/account$/, [
    async (response, _request, pass) => {
      await work();
      const { status, headers, body } = await pass();
      response.writeHead(status, headers).end(body);
    },
  ]);
}

test.each<[string, Partial<ManifestRow>]>([
  ['corrected', { organization: '4711' }],
  ['added', { organization: '4712', reference: 'late' }],
])('a company that was %s during the preflight is held back until the next preflight', async (_, amendment) => {
  const { id, rows } = await rig.migration(['sbx-ok-5'], DIGITS);
  const amended = manifestRows(1, () => ({ ...rows[0], ...amendment }));
  duringPreflight(() => amendManifest(rig.ledger.db, { migrationId: id, rows: amended }));
  const heldBack = async () => (await readHeldBack(rig.ledger.db, id)).map(({ heldBack: why }) => why);
  await expect(check(id)).rejects.toThrow('was amended during the preflight');
  expect(await heldBack()).toEqual([NOT_CHECKED]);
  expect(await check(id)).toMatchObject({ problems: [], heldBack: 0 });
  expect(await heldBack()).toEqual([]);
});

test('the result of the preflight stays small even if every company has a problem', async () => {
  const many = 2_300;
  const migration = suppliedMigration();
  await supplyMigration(
    rig.ledger.db,
    migration,
    manifestRows(many, (row) => ({ name: `Nº ${row} ${'x'.repeat(200)}`, organization: '#'.repeat(row) })),
  );
  const found = await check(migration.id);
  expect(found.heldBack).toBe(many);
  expect(Buffer.byteLength(JSON.stringify(found))).toBeLessThan(4_000);
});
