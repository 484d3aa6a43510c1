/** Tests `ferry seal`: the client seals its files offline, support stores them, and only a worker can open them. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { inspect } from 'node:util';
import {
  createVaultKeyWrapper,
  createSealer,
  createVaultKey,
  createVaultSecretFolder,
  credentialBinding,
  fingerprintOf,
  parseMigrationKey,
  providerFingerprint,
  SealBroken,
  type VaultKeyWrapper,
} from '../../../security';
import { readVault } from '../../../store';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { platform } from '../../support/migrations/platforms';
import { CLIENT, startTestMigration, SUPPORT, type TestMigration } from '../../workflows/running-migration';
import { ferry } from '../captured-terminal';
import { runJson } from '../command-line';
import { temporaryFolder } from '../../support/temporary-folder';

const AS_CLIENT = ['--as', 'client', '--by', 'Cleo'];

const orchestrator = useOrchestratorWithWorker();
let migration: TestMigration;
const folder = temporaryFolder();
let key: string;
let provider: string;
let keys: VaultKeyWrapper;
beforeAll(async () => {
  migration = await startTestMigration(orchestrator, 'sealing', ['sbx-ok-1.s1', 'sbx-ok-1.s2', 'sbx-ok-1.s3']);
  await migration.until(({ preflight, checking }) => preflight !== null && !checking);
  const { json } = await runJson(orchestrator, 'migration-key', migration.id);
  key = fileOf('migration.key', String(json['key']));
  const { masterKeys, vaultSecrets } = orchestrator.config;
  keys = createVaultKeyWrapper(masterKeys, createVaultSecretFolder(vaultSecrets));
  provider = providerFingerprint(keys.providerPublicKey);
  expect(json['signedBy']).toBe(provider);
});

function fileOf(name: string, content: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
}

async function credentialFile(name: string): Promise<string> {
  const companies = await orchestrator.ferry.db
    .selectFrom('companies')
    .select(['reference', 'organization'])
    .where('migration_id', '=', migration.id)
    .orderBy('row')
    .execute();
  const lines = companies.map(({ reference, organization }, index) =>
    [reference, `access-marker-${index}`, `sbx-ok-1.s${index + 1}`, organization].join(','),
  );
  return fileOf(name, ['reference,accessToken,refreshToken,realmId', ...lines].join('\n'));
}

/** Runs `ferry seal` as on the client's machine, which has no access to Temporal or the database, and no keys. */
const sealFor = (migrationKey: string, file: string, ...more: string[]) =>
  ferry(['seal', file, '--for', migrationKey, '--provider', provider, ...more], undefined, { TOKENFERRY_HOME: folder });
const seal = (file: string, ...more: string[]) => sealFor(key, file, ...more);

const atSupport = (...args: string[]) => ferry(args, undefined, orchestrator.env);

test('companies are moved with sealed credentials, which support stores but cannot open', async () => {
  await migration.send('approve', { step: 'supply-details', ...SUPPORT });
  await migration.send('proposeTime', { startAt: new Date().toISOString(), ...SUPPORT });
  for (const who of [SUPPORT, CLIENT]) await migration.send('approve', { step: 'schedule', ...who });
  for (const who of [CLIENT, SUPPORT]) await migration.send('approve', { step: 'update-application', ...who });
  await migration.send('confirmSyncDisabled', { companies: 'all', ...CLIENT });
  await migration.until(({ step }) => step === 'migrate-first-company');

  const plain = await credentialFile('credentials.csv');
  const sealed = await seal(plain, '--obtained-at', 'now', '--shred');
  expect({ ...sealed, out: undefined }).toEqual({ exitCode: 0, err: '', out: undefined });
  expect(sealed.out).toContain('✓ 3 credentials sealed in');
  expect(existsSync(plain)).toBe(false);
  const content = readFileSync(`${plain}.sealed`, 'utf8');
  expect(content).toContain('R-2');
  expect(content).not.toMatch(/marker|sbx-ok/);

  const supply = ['credentials', migration.id, `${plain}.sealed`, ...AS_CLIENT];
  const { err } = await atSupport(...supply, '--obtained-at', 'now');
  expect(err).toContain('is sealed, and contains the times at which');
  const stored = await atSupport(...supply);
  expect(stored).toEqual({ exitCode: 0, err: '', out: `✓ ${migration.id}: 3 credentials sealed and stored\n` });
  const { firstCompany } = await migration.until((progress) => progress.firstCompany?.stage === 'verified');
  expect(firstCompany?.reference).toBe('R-1');
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  await migration.until(({ counts }) => counts.moved === 3);
});

test('a sealed client secret is registered by a worker, and is not stored afterwards', async () => {
  const other = await startTestMigration(orchestrator, 'seal-application', ['sbx-ok-1.s4'], null, {
    slug: 'zoho-books',
  });
  await other.until(({ preflight, checking }) => preflight !== null && !checking);
  const secret = fileOf('secret.txt', 'client-secret-marker\n');
  const application = ['--client-id', 'acme-app', '--environment', 'production'];
  const otherKey = String((await runJson(orchestrator, 'migration-key', other.id)).json['key']);
  const tokens = await credentialFile('not-a-secret.csv');
  const wrong = await sealFor(otherKey, tokens, ...application);
  expect(wrong).toMatchObject({ exitCode: 1, out: '' });
  expect(wrong.err).toContain('looks like a file of credentials or companies; nothing was sent or sealed');
  expect([existsSync(tokens), existsSync(`${tokens}.sealed`)]).toEqual([true, false]);
  expect((await sealFor(otherKey, secret, '--environment', 'sandbox')).err).toContain('needs --client-id; nothing was');
  const sealed = await sealFor(otherKey, secret, ...application);
  expect(sealed.exitCode).toBe(0);
  expect(sealed.out).toContain('Delete it and all copies once the sealed file has been accepted.');
  expect(readFileSync(`${secret}.sealed`, 'utf8')).not.toContain('marker');

  const { exitCode, out } = await atSupport('application', other.id, '--sealed', `${secret}.sealed`, ...AS_CLIENT);
  expect(exitCode).toBe(0);
  expect(out).toContain(`✓ ${other.id}: the application is acme-app (production)\n`);
  expect(out).not.toContain('Nothing was registered');
  const client = orchestrator.client();
  const { value } = await client.integration(platform('zoho-books').key);
  expect(value.application).toEqual({ clientId: 'acme-app', environment: 'production' });
  const { db } = orchestrator.ferry;
  expect(await db.selectFrom('sealed_applications').selectAll().execute()).toEqual([]);

  // The sealed secret is bound to the client id.
  const edited = fileOf('edited.sealed', readFileSync(`${secret}.sealed`, 'utf8').replace('acme-app', 'other-app'));
  const broken = await atSupport('application', other.id, '--sealed', edited, ...AS_CLIENT);
  expect(broken.exitCode).toBe(1);
  expect(broken.out).toMatch(new RegExp(`^✗ ${other.id}: other-app \\(production\\) was not registered\n`));
  expect(broken.out).toContain('its sealed secret cannot be opened');
  expect((await client.integration(platform('zoho-books').key)).value.application).toEqual(value.application);
  const { out: next } = await atSupport('show', other.id);
  expect(next).toContain(`client: ferry application ${other.id} --sealed secret.txt.sealed`);
});

test.each<[string, (sealed: string) => string]>([
  ['a box has changed', (text) => text.replace('"sealed":"Aw', '"sealed":"!!')],
  ['the last line is missing', (text) => text.trimEnd().split('\n').slice(0, -1).join('\n')],
  ['a company appears twice', (text) => text.replace('R-2', 'R-1')],
  ['a line is not JSON', (text) => `${text}x`],
  ['only the header is left', (text) => text.split('\n')[0] ?? ''],
])('nothing is stored if %s', async (_, alter) => {
  const sealed = await seal(await credentialFile('altered.csv'), '--output', path.join(folder, 'altered.sealed'));
  expect(sealed.exitCode).toBe(0);
  const file = fileOf('altered.sealed', alter(readFileSync(path.join(folder, 'altered.sealed'), 'utf8')));
  const { exitCode, err } = await atSupport('credentials', migration.id, file, ...AS_CLIENT);
  rmSync(file);
  expect(exitCode).toBe(1);
  expect(err).toMatch(/is incomplete, was altered, .* \(line \d\).*nothing was stored/);
});

test('a file of any size is stored, but not a file that states the wrong number of companies', async () => {
  const references = Array.from({ length: 1_500 }, (_, index) => `X-${index}`);
  const lines = references.map((each) => `${each},a-${each},r-${each},1`);
  const file = fileOf('large.csv', ['reference,accessToken,refreshToken,realmId', ...lines].join('\n'));
  expect((await seal(file)).exitCode).toBe(0);
  const content = readFileSync(`${file}.sealed`, 'utf8');
  expect(content.length).toBeGreaterThan(400_000);
  const { out } = await atSupport('credentials', migration.id, `${file}.sealed`, '--json', ...AS_CLIENT);
  expect((JSON.parse(out) as { unknown: string[] }).unknown).toEqual(references);
  const wrong = fileOf('wrong-number.sealed', content.replace('"companies":1500', '"companies":1499'));
  expect((await atSupport('credentials', migration.id, wrong, ...AS_CLIENT)).err).toContain('nothing was stored');
});

test.each<[string, string, RegExp]>([
  [
    'in the future',
    '2999-01-01T00:00:00.000Z',
    /line 2: the time at which the credential was obtained is .*nothing was stored; check the clock/,
  ],
  [
    'before any token existed',
    '0000-01-01T00:00:00.000Z',
    /line 2: the time at which the credential was obtained is .*nothing was stored; .*with --obtained-at/,
  ],
])('a sealed credential with a time %s is refused', async (_, obtainedAt, expected) => {
  const file = fileOf('clock.sealed', sealWithoutFerry('R-1', obtainedAt, '{"refreshToken":"r"}'));
  const { exitCode, err } = await atSupport('credentials', migration.id, file, ...AS_CLIENT);
  expect(exitCode).toBe(1);
  expect(err).toMatch(expected);
});

/**
 * Seals any content with the migration key, as a program other than `ferry seal` can.
 *
 * @param boundTo the reference of the company to which the box is bound
 */
function sealWithoutFerry(reference: string, obtainedAt: string, content: string, boundTo = reference): string {
  const { migrationId, publicKey } = parseMigrationKey(readFileSync(key, 'utf8'));
  const binding = credentialBinding(migrationId, { reference: boundTo, obtainedAt });
  const sealed = createSealer(publicKey, 'acme.xero')(Buffer.from(content), binding).toString('base64');
  const keyFingerprint = fingerprintOf(publicKey);
  const header = { tokenferry: 'sealed-credentials/1', migration: migrationId, keyFingerprint, companies: 1 };
  return [header, { reference, obtainedAt, sealed }].map((line) => `${JSON.stringify(line)}\n`).join('');
}

test.each<[string, string, string]>([
  ['belongs to another company', '{"refreshToken":"sbx-ok-1.x"}', 'R-9'],
  ['is a token instead of a credential', 'raw-token-marker', 'R-1'],
  ['has a field that is not text', '{"refreshToken":{"raw":"raw-token-marker"}}', 'R-1'],
])('opening a box that %s throws SealBroken, and the error does not quote the content', async (_, content, boundTo) => {
  const { db } = orchestrator.ferry;
  const obtainedAt = '2026-01-01T00:00:00.000Z';
  const text = sealWithoutFerry('R-1', obtainedAt, content, boundTo);
  const { sealed } = JSON.parse(text.split('\n')[1] ?? '') as { sealed: string };
  const vault = await readVault(db, keys, migration.id);
  const stored = { row: 1, reference: 'R-1', obtainedAt: new Date(obtainedAt), sealed: Buffer.from(sealed, 'base64') };
  const failure = (() => {
    try {
      return vault.open(stored);
    } catch (error) {
      return error;
    }
  })();
  // An import turns this error into the failure `credential-unreadable` of one company.
  expect(failure).toBeInstanceOf(SealBroken);
  expect(inspect(failure)).not.toContain('raw-token-marker');
});

test('a file that was sealed for another migration, or with another key, is refused', async () => {
  const sealed = await seal(await credentialFile('mixed-up.csv'));
  expect(sealed.exitCode).toBe(0);
  const file = path.join(folder, 'mixed-up.csv.sealed');
  const other = await startTestMigration(orchestrator, 'seal-another', ['sbx-ok-1.s5']);
  await other.until(({ preflight }) => preflight !== null);
  const { err } = await atSupport('credentials', other.id, file, ...AS_CLIENT);
  expect(err).toContain(`was sealed for ${migration.id}, not for ${other.id}; nothing was stored`);
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/"keyFingerprint":"..../, '"keyFingerprint":"0000'));
  expect((await atSupport('credentials', migration.id, file, ...AS_CLIENT)).err).toContain('sealed with another key');
});

describe('if the public key in the database was replaced', () => {
  let stored: { vault_public_key: Buffer | null };
  const setKey = (vault_public_key: Buffer | null) =>
    orchestrator.ferry.db.updateTable('migrations').set({ vault_public_key }).where('id', '=', migration.id).execute();
  beforeAll(async () => {
    stored = await orchestrator.ferry.db
      .selectFrom('migrations')
      .select('vault_public_key')
      .where('id', '=', migration.id)
      .executeTakeFirstOrThrow();
    await setKey(createVaultKey().publicKey);
  });
  afterAll(() => setKey(stored.vault_public_key));

  test('ferry seal refuses the key, and writes nothing', async () => {
    const env = { ...orchestrator.env, TOKENFERRY_PROVIDER_FINGERPRINT: provider };
    const { err: refusal } = await ferry(['migration-key', migration.id], undefined, env);
    expect(refusal).toContain('its signature does not match');
    const { out: replaced } = await atSupport('migration-key', migration.id, '--quiet');
    const file = await credentialFile('refused.csv');
    const { exitCode, err } = await sealFor(replaced.trim(), file);
    expect({ exitCode, err }).toEqual({
      exitCode: 1,
      err: expect.stringContaining('was altered: its signature does not match; nothing was sealed') as string,
    });
    expect(existsSync(`${file}.sealed`)).toBe(false);
  });

  test('ferry credentials refuses to seal with the key if the provider fingerprint is known', async () => {
    const file = await credentialFile('plain.csv');
    const env = { ...orchestrator.env, TOKENFERRY_PROVIDER_FINGERPRINT: provider };
    const supply = ['replace-credential', migration.id, file, '--obtained-at', 'now', ...AS_CLIENT];
    const { exitCode, err } = await ferry(supply, undefined, env);
    expect({ exitCode, err }).toEqual({
      exitCode: 1,
      err: expect.stringContaining('its signature does not match; nothing was sealed or stored') as string,
    });
  });
});

test('a key of another provider is refused, and the client is asked if no fingerprint was given', async () => {
  const file = await credentialFile('asked.csv');
  const run = (answer: boolean | undefined, ...more: string[]) =>
    ferry(
      ['seal', file, '--for', key, ...more],
      undefined,
      { TOKENFERRY_HOME: folder },
      answer === undefined ? undefined : { confirm: async (question) => !question.includes('fingerprint') || answer },
    );
  const wrong = await run(undefined, '--provider', '0000-0000-0000-0000-0000-0000-0000-0000');
  expect(wrong.err).toContain(`was signed by ${provider}, and not by the provider`);
  expect((await run(undefined)).err).toContain('ferry cannot check that the migration key comes from your provider');
  expect((await run(false)).err).toContain('nothing was sealed');
  expect(existsSync(`${file}.sealed`)).toBe(false);
  expect((await run(true)).exitCode).toBe(0);
  expect((await run(true)).err).toContain('already exists');
});

test('a file with errors is not sealed, and the errors are shown with their lines', async () => {
  const file = fileOf('wrong.csv', 'reference,accessToken,refreshToken,realmId\nR-1,a,b c,1\n');
  const { exitCode, out } = await seal(file);
  expect(exitCode).toBe(1);
  expect(out).toMatch(/error\s+2\s.*contains a space/);
  expect(out).toContain('nothing was sealed');
  expect(existsSync(`${file}.sealed`)).toBe(false);
});
