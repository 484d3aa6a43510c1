/** Tests that a client can take a migration through all of its steps with `ferry --portal`. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { readTrail } from '../../../store';
import { startTestMigration, SUPPORT, type TestMigration } from '../../workflows/running-migration';
import { until, useOpened } from '../../support/async';
import { openClientPortal, type Client, type Run } from './client';

const portal = useOpened(openClientPortal);

let started = 0;
async function startMigration(...credentials: string[]): Promise<TestMigration> {
  started += 1;
  const migration = await startTestMigration(portal.orchestrator, `whole-${started}`, credentials);
  await migration.until(({ preflight }) => preflight !== null);
  return migration;
}

const outcomeOf = ({ exitCode, out, err }: Run): string => `${exitCode}: ${out.trim().split('\n').at(-1)}${err}`;

/** Writes a credential file on the client's machine, with the current modification time, and returns its path. */
async function writeCredentials({ home }: Client, migrationId: string, tokens: Readonly<Record<string, string>>) {
  const { db } = portal.orchestrator.ferry;
  const rows = await db
    .selectFrom('companies')
    .select(['reference', 'organization'])
    .where('migration_id', '=', migrationId)
    .execute();
  const lines = rows.flatMap(({ reference, organization }) =>
    tokens[reference] === undefined ? [] : [`${reference},any,${tokens[reference]},${organization}`],
  );
  const file = path.join(home, 'credentials.csv');
  writeFileSync(file, ['reference,accessToken,refreshToken,realmId', ...lines, ''].join('\n'));
  return file;
}

/** Takes the migration to step 5, with decisions of support and of Cleo. Returns the outcomes of Cleo's decisions. */
async function untilCredentials(migration: TestMigration, cleo: Client): Promise<readonly string[]> {
  await migration.send('approve', { step: 'supply-details', ...SUPPORT });
  const outcomes = [outcomeOf(await cleo.run('propose-time', 'now'))];
  for (const step of ['schedule', 'update-application']) {
    outcomes.push(outcomeOf(await cleo.run('approve', step, '--yes')));
    await migration.send('approve', { step, ...SUPPORT });
  }
  outcomes.push(outcomeOf(await cleo.run('confirm-sync-disabled', '--all')));
  await migration.until(({ step }) => step === 'migrate-first-company');
  return outcomes;
}

test('a client decides, supplies and signs off, and every decision is signed', async () => {
  const migration = await startMigration('sbx-ok-1.a', 'sbx-ok-1.b', 'sbx-ok-1.c');
  const { id } = migration;
  const cleo = await portal.signedIn(id);
  expect(await untilCredentials(migration, cleo)).toEqual([
    expect.stringMatching(`^0: ✓ ${id}: `),
    ...[1, 2, 3].map((): unknown => expect.stringMatching(`^0: ✓ ${id}: `)),
  ]);
  expect(outcomeOf(await cleo.run('exclude', 'R-3', '--reason', 'sold last week', '--yes'))).toMatch(/^0: ✓/);

  const file = await writeCredentials(cleo, id, { 'R-1': 'sbx-ok-1.MARKER-1', 'R-2': 'sbx-ok-1.MARKER-2' });
  const supplied = await cleo.run('credentials', file);
  expect(supplied).toMatchObject({ exitCode: 0, err: '' });
  expect(supplied.out).toContain(`✓ ${id}: 2 credentials supplied\n`);
  expect(supplied.out).toContain(`${file} still contains credentials in plain text.`);

  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  await migration.until(({ counts }) => counts.moved === 2);
  await migration.send('applicationSupplied', { clientId: 'new-app', environment: 'production', ...SUPPORT });
  const replaced =
    /^! 2 companies \(R-1, R-2\) were connected with .*, but new-app \(production\) is registered now, .*; keep your application .*, and ask support to register it again, or let their end customers reconnect .* instead$/m;
  await until(async () => replaced.test((await cleo.run('sign-off')).out));
  const asked = await cleo.run('sign-off');
  expect(asked.out).toMatch(
    /^ {2}2 of 3 companies moved\n {2}1 company was left out\n {2}R-3 .*: left out: sold last week$/m,
  );
  expect(outcomeOf(asked)).toMatch(/^1: .*ferry: you accept what was moved/);
  expect(outcomeOf(await cleo.run('sign-off', '--yes'))).toMatch(/^0: ✓/);
  await migration.send('approve', { step: 'complete-migration', ...SUPPORT });
  await migration.until(({ state }) => state === 'completed');

  expect(await cleo.runJson('watch')).toMatchObject({ state: 'completed', counts: { moved: 2, leftOut: 1 } });
  expect((await cleo.run('companies', '--state', 'moved')).out).toMatch(/R-1 [^]*R-2 [^]*2 companies/);
  expect((await cleo.run('report', '--format', 'csv')).out).toMatch(/^\uFEFF.*\n(.*\n)*R-3,/);
  const signers: (string | null)[] = [];
  for await (const { decision, signed } of readTrail(portal.orchestrator.ferry.db, id))
    if (decision.by === 'Cleo') signers.push(signed?.signature.publicKey ?? null);
  expect(signers.length).toBeGreaterThanOrEqual(7);
  expect(new Set(signers).size).toBe(1);
  expect(signers).not.toContain(null);

  const { rows } = await sql<{ text: string }>`
    select r::text as text from portal_requests r union all select v::text from portal_views v`.execute(
    portal.orchestrator.ferry.db,
  );
  expect(rows.map(({ text }) => text).join() + portal.log.join('')).not.toContain('MARKER');
});

test('a proposal is shown with its windows before it is confirmed', async () => {
  const migration = await startMigration('sbx-ok-1.a');
  const cleo = await portal.signedIn(migration.id);
  await migration.send('approve', { step: 'supply-details', ...SUPPORT });
  const { out } = await cleo.run('propose-time', 'now', '--window', 'daily 06:00-06:10 America/New_York');
  expect(out).toMatch(/ {2}You propose .*\n {2}.*06:00-06:10 America\/New_York/);
});

test('a manifest is checked, and replaces the companies before support has accepted the details', async () => {
  const { id } = await startMigration('sbx-ok-1.a', 'sbx-ok-1.b');
  const cleo = await portal.signedIn(id);
  const file = path.join(cleo.home, 'manifest.csv');
  writeFileSync(file, 'reference,name,realmId\nC-1,One,\n');
  expect(outcomeOf(await cleo.run('manifest', file, '--yes'))).toMatch(/^1: ✗ nothing was sent/);
  writeFileSync(file, 'reference,name,realmId\nC-1,One,9130350226405999\n');
  const supplied = await cleo.run('manifest', file);
  expect(supplied.out).toContain('manifest.csv: 1 company on QuickBooks Online');
  expect(outcomeOf(supplied)).toBe(`0: ✓ ${id}: the manifest has 1 company`);
  expect(await cleo.runJson('companies')).toMatchObject({ companies: [{ reference: 'C-1', name: 'One' }] });
});

test('the client replaces the credential of a company that was not moved', async () => {
  const migration = await startMigration('sbx-ok-1.r1', 'sbx-revoked', 'sbx-ok-1.r3');
  const { id } = migration;
  const cleo = await portal.signedIn(id);
  await untilCredentials(migration, cleo);
  const ferry = `ferry --portal ${portal.url}`;
  await until(async () => (await cleo.run('exceptions')).out.includes('no credential supplied'));
  const before = await cleo.run('exceptions');
  expect(before.out).toMatch(/R-1 +Company 1 +not moved yet +no credential supplied\n.*\nR-3 /);
  expect(before.out).toContain(`\n  ${ferry} credentials credentials.csv\n      `);
  expect(before.out).toMatch(
    /\nNo company has failed, but 3 companies with syncing off have no usable credential\.\n$/,
  );
  expect(await cleo.runJson('exceptions')).toMatchObject({
    exceptions: ['R-1', 'R-2', 'R-3'].map((reference) => ({ reference, hasCredential: false })),
  });
  await cleo.run('credentials', await writeCredentials(cleo, id, { 'R-1': 'sbx-ok-1.r1' }));
  const lacking = await cleo.runJson('companies', '--without-credential');
  expect(lacking).toMatchObject({ companies: [{ reference: 'R-2' }, { reference: 'R-3' }] });
  expect(await cleo.runJson('companies', '--wave', '7')).toMatchObject({ companies: [] });
  const all = { 'R-1': 'sbx-ok-1.r1', 'R-2': 'sbx-revoked', 'R-3': 'sbx-ok-1.r3' };
  await cleo.run('credentials', await writeCredentials(cleo, id, all));
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  await migration.until(({ counts }) => counts.moved === 2 && counts.failed === 1);

  // The possible decisions are part of the portal view, which follows the migration with a delay of a few seconds.
  const advice = `\n  ${ferry} replace-credential credentials.csv\n      replace the stored credential with a new credential that was exported after`;
  await until(async () => (await cleo.run('exceptions')).out.includes(advice));
  const exceptions = (await cleo.run('exceptions')).out;
  expect(exceptions).toMatch(/\n {2}Support can: .*try again; give up on the company\.\n1 exception\n$/);
  expect(exceptions).not.toContain(`${ferry} skip`);
  const late = await writeCredentials(cleo, id, { 'R-2': 'sbx-ok-1.r2' });
  const refused = (await cleo.run('credentials', late)).out;
  expect(refused).toContain(`or run: ${ferry} replace-credential ${late}`);
  expect(refused + (await cleo.run('show')).out).toContain('replace-credential');
  const replaced = await cleo.run('replace-credential', late, '--yes');
  expect(replaced).toMatchObject({ exitCode: 0, err: '' });
  expect(replaced.out).toContain(`✓ ${id}: 1 company will be tried again with a new credential`);
  await migration.until(({ counts }) => counts.moved === 3);
});

test('a file with errors is not sent, and credentials that are too old are refused', async () => {
  const migration = await startMigration('sbx-ok-1.a', 'sbx-ok-1.b');
  const { id } = migration;
  const cleo = await portal.signedIn(id);
  await untilCredentials(migration, cleo);
  const broken = await writeCredentials(cleo, id, { 'R-1': '', 'R-2': 'sbx-ok-1.b' });
  expect(outcomeOf(await cleo.run('credentials', broken))).toBe('1: ✗ nothing was sent');
  const file = await writeCredentials(cleo, id, { 'R-1': 'sbx-ok-1.a', 'R-2': 'sbx-ok-1.b' });
  const early = await cleo.run('credentials', file, '--obtained-at', '2026-01-01 10:00');
  expect(outcomeOf(early)).toMatch(/^1: /);
  expect(early.out).toMatch(
    /✗ refused: .*no credential was sent\. 2 credentials \(R-1, R-2\) cannot be sent, because .* before you confirmed/,
  );
  expect((await cleo.runJson('companies'))['companies']).toMatchObject([
    { hasCredential: false },
    { hasCredential: false },
  ]);
});

test('credentials of other companies are found before anything is sent, and unknown ones are not sent', async () => {
  const migration = await startMigration('sbx-ok-1.a', 'sbx-ok-1.b');
  const { id } = migration;
  const cleo = await portal.signedIn(id);
  await untilCredentials(migration, cleo);
  const file = await writeCredentials(cleo, id, { 'R-1': 'sbx-ok-1.a', 'R-2': 'sbx-ok-1.b' });
  const text = readFileSync(file, 'utf8');
  const [, , second = ''] = text.split('\n');
  const organization = second.split(',').at(-1) ?? '';
  writeFileSync(file, text.replace(second, second.replace(organization, '123')));
  const shifted = await cleo.run('credentials', file);
  expect(outcomeOf(shifted)).toBe('1: ✗ nothing was sent');
  expect(shifted.out).toContain('realmId differs from the realmId of "R-2" in the manifest');
  writeFileSync(file, text.replace('R-1,', 'X-1,'));
  const supplied = await cleo.run('credentials', file);
  expect(supplied.out).toContain(
    '  credentials.csv: 1 credential can be sent\n  1 credential (X-1) cannot be sent, because no company of the manifest has the same reference; if the reference is wrong, correct it in the file\n'.replace(
      'credentials.csv',
      file,
    ),
  );
  expect(supplied.exitCode).toBe(1);
  expect(supplied.out).toContain(`! ${id}: 1 credential supplied. 1 credential (X-1) was not sent, because`);
});

test('a file that was sealed offline is sent as it is, and --shred removes the original and the sealed file', async () => {
  const migration = await startMigration('sbx-ok-1.a');
  const { id } = migration;
  const cleo = await portal.signedIn(id);
  await untilCredentials(migration, cleo);
  expect(await cleo.runJson('watch', '--until-decision')).toMatchObject({ counts: { moved: 0 } });
  const { out } = await cleo.run('watch', '--until-decision');
  expect(out).toMatch(/\nWhat you need to do: Supply credentials for 1 company \(R-1\)\.\n$/);
  const file = await writeCredentials(cleo, id, { 'R-1': 'sbx-ok-1.a' });
  const sealed = await cleo.run('seal', file, '--shred');
  expect(sealed.exitCode).toBe(0);
  expect(sealed.out).toContain(`  Supply this file with: ferry --portal ${portal.url} credentials ${file}.sealed\n`);
  expect(() => statSync(file)).toThrow('ENOENT');
  expect(readFileSync(`${file}.sealed`, 'utf8')).not.toContain('sbx-ok');
  for (const command of ['credentials', 'replace-credential']) {
    const timed = await cleo.run(command, `${file}.sealed`, '--obtained-at', 'now', '--yes');
    expect(timed.exitCode).toBe(1);
    expect(timed.err).toContain('is sealed, and contains the times at which its credentials were obtained');
  }
  expect((await cleo.runJson('companies'))['companies']).toMatchObject([{ hasCredential: false }]);
  const sent = await cleo.run('credentials', `${file}.sealed`, '--shred');
  expect(sent).toMatchObject({ exitCode: 0, err: '' });
  expect(sent.out).toContain(`✓ ${id}: 1 credential supplied\n  ${file}.sealed was overwritten and removed.`);
  expect(() => statSync(`${file}.sealed`)).toThrow('ENOENT');
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
});

describe('a decision is not applied if', () => {
  test('support has not confirmed the key', async () => {
    const { id } = await startMigration('sbx-ok-1.a');
    const cleo = portal.client();
    await cleo.runWith(await portal.invite(id), 'sign-in');
    expect(outcomeOf(await cleo.run('pause', '--reason', 'a test'))).toMatch(
      /^1: ferry: support has not confirmed your key yet; call the solutions team, and read out the fingerprint /,
    );
  });

  test('the invitation is for a viewer', async () => {
    const { id } = await startMigration('sbx-ok-1.a');
    const finn = portal.client();
    await finn.runWith(await portal.invite(id, 'Finn', '--role', 'viewer'), 'sign-in');
    expect(outcomeOf(await finn.run('pause', '--reason', 'a test'))).toBe(
      '1: ferry: your invitation is read-only; ask your contact for an invitation with the role client\n',
    );
  });

  test('the migration does not offer the decision, or has changed since the review', async () => {
    const migration = await startMigration('sbx-ok-1.a');
    const cleo = await portal.signedIn(migration.id);
    expect(outcomeOf(await cleo.run('sign-off', '--yes'))).toMatch(
      /^1: ferry: the portal does not offer "sign-off" now, in step 1 \(supply details\); nothing was sent; see what you can decide with: ferry --portal \S+ show\n$/,
    );
    await migration.send('approve', { step: 'supply-details', ...SUPPORT });
    await cleo.run('propose-time', 'now');
    expect(outcomeOf(await cleo.run('approve', 'schedule'))).toMatch(
      /^1: [^]*ferry: once support has approved the start too, .* stays moved; nothing was sent; .* with --yes\n$/,
    );
    expect(outcomeOf(await cleo.run('approve', 'schedule', '--yes', '--digest', 'of-something-else'))).toMatch(
      /^1: ✗ refused: .*what you reviewed has changed/,
    );
  });

  test('the migration key was not signed by the provider that the client expects', async () => {
    const migration = await startMigration('sbx-ok-1.a');
    const cleo = await portal.signedIn(migration.id);
    await untilCredentials(migration, cleo);
    const file = await writeCredentials(cleo, migration.id, { 'R-1': 'sbx-ok-1.a' });
    const other = 'aaaa-bbbb-cccc-dddd-eeee-ffff-0000-1111';
    expect(outcomeOf(await cleo.run('credentials', file, '--provider', other))).toMatch(
      /^1: ferry: The key of .* was signed by .*, and not by the provider with the fingerprint aaaa-/,
    );
  });
});

// This test runs last, because the application is registered for all migrations of the account.
test('the application is supplied with a sealed client secret', async () => {
  const { id } = await startMigration('sbx-ok-1.a');
  const cleo = await portal.signedIn(id);
  const secret = path.join(cleo.home, 'secret.txt');
  writeFileSync(secret, 'secret-MARKER\n');
  expect(outcomeOf(await cleo.run('application'))).toBe(
    '1: ferry: the application is not specified; add --client-id and --environment, or --sealed with a sealed file\n',
  );
  expect(outcomeOf(await cleo.run('application', '--client-id', 'the-clients-own'))).toMatch(
    /^1: ferry: --client-id needs --environment; nothing was sent; /,
  );
  const options = ['--client-id', 'the-clients-own', '--environment', 'production', '--secret-file', secret];
  expect(outcomeOf(await cleo.run('application', ...options))).toMatch(/^0: ✓/);
});
