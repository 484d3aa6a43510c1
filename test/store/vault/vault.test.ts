import { sql } from 'kysely';
import { COMPANY_STATES } from '../../../domain/companies/company-state';
import { acceptedSupplies } from '../../../domain/companies/credential-state';
import type { ManifestRow } from '../../../domain/companies/manifest';
import { SealBroken } from '../../../security';
import {
  acceptStaged,
  claimCompanies,
  confirmDisabled,
  destroyVault,
  discardStaged,
  openMigration,
  retryWithNewCredential,
  openVault,
  readMigration,
  readVault,
  stageCredentials,
  supplyCredentials,
  supplyMigration,
  VaultClosed,
} from '../../../store';
import { acceptsCredential } from '../../../store/vault/staged-credentials';
import {
  suppliedMigration,
  CONFIRMED_AT,
  credentialOf,
  rowsWithCredential,
  createMovableMigration,
  replaceCredentials,
  useLedger,
  updateRow,
  readRow,
  manifestRows,
} from '../../support/migrations/ledger';

const ledger = useLedger();

const BEFORE = new Date(Date.parse(CONFIRMED_AT) - 1).toISOString();

/** Creates an open migration with a vault and without confirmations. */
async function createOpenMigration(count: number, rotating = true) {
  const migration = suppliedMigration({ rotating });
  const rows = manifestRows(count);
  await supplyMigration(ledger.db, migration, rows);
  await openMigration(ledger.db, migration.id);
  await openVault(ledger.db, ledger.keys, migration.id);
  return { id: migration.id, rows };
}
const confirm = (id: string, companies: 'all' | readonly string[]) =>
  confirmDisabled(ledger.db, { migrationId: id, companies, by: 'Cleo', at: CONFIRMED_AT });

describe('supplied credentials', () => {
  test('are stored, or reported by reference as unknown, in the wrong state or obtained too early', async () => {
    const { id, rows } = await createOpenMigration(6);
    await confirm(id, ['c1', 'c2', 'c3', 'c4', 'c5']);
    await updateRow(ledger.db, id, 3, { state: 'moved' });
    await updateRow(ledger.db, id, 4, { state: 'importing', attempt: 'a' });
    const supplied = rows.map((row) => credentialOf(row, row.row === 2 ? { obtainedAt: BEFORE } : {}));
    const unknown = { ...credentialOf({ reference: 'c9', row: 9, organization: 'x' }) };
    expect(await supplyCredentials(ledger.db, id, [...supplied, unknown], 'Cleo')).toEqual({
      stored: ['c1', 'c5'],
      unknown: ['c9'],
      wrongState: ['c3', 'c4'],
      // The credential of c2 was obtained before the confirmation, and c6 is not confirmed.
      obtainedTooEarly: [
        { reference: 'c2', obtainedAt: BEFORE, confirmedAt: CONFIRMED_AT },
        { reference: 'c6', obtainedAt: expect.any(String) as string, confirmedAt: null },
      ],
    });
    expect(await rowsWithCredential(ledger.db, id)).toEqual([1, 5]);
  });

  test('are never too early if the platform does not rotate tokens', async () => {
    const { id, rows } = await createOpenMigration(1, false);
    const given = rows.map((row) => credentialOf(row, { obtainedAt: BEFORE }));
    expect(await supplyCredentials(ledger.db, id, given, 'Cleo')).toMatchObject({
      stored: ['c1'],
      obtainedTooEarly: [],
    });
  });

  test('replace an older credential of a waiting company, but not of a claimed company', async () => {
    const { id, rows, owner } = await createMovableMigration(ledger, manifestRows(1));
    const supply = (token: string) =>
      supplyCredentials(
        ledger.db,
        id,
        rows.map((row) => credentialOf(row, { token })),
        'Carl',
      );
    expect(await supply('second')).toMatchObject({ stored: ['c1'] });
    const [claimed] = await claimCompanies(ledger.db, owner, 1, null);
    expect(await supply('third')).toMatchObject({ stored: [], wrongState: ['c1'] });
    const vault = await readVault(ledger.db, ledger.keys, id);
    if (!claimed) throw new Error('the company should have been claimed');
    expect(vault.open(claimed).reveal()).toMatchObject({ refreshToken: 'second' });
  });

  test('can be opened only in the vault of their migration, for their company and with their time', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(2), {}, (row) =>
      credentialOf(row, { token: 'a-refresh-token' }),
    );
    const other = await createMovableMigration(ledger, manifestRows(2));
    const { sealed, obtainedAt } = await ledger.db
      .selectFrom('credentials')
      .select(['sealed', 'obtained_at as obtainedAt'])
      .where('migration_id', '=', id)
      .where('row', '=', 1)
      .executeTakeFirstOrThrow();
    const stored = { row: 1, reference: 'c1', obtainedAt, sealed };
    const { rows: dump } = await sql<{ text: string }>`select v::text as text from credentials v`.execute(ledger.db);
    const hex = Buffer.from('a-refresh-token').toString('hex');
    expect(dump.some(({ text }) => text.includes(hex) || text.includes('a-refresh-token'))).toBe(false);
    const vault = await readVault(ledger.db, ledger.keys, id);
    expect(() => vault.open({ ...stored, row: 2, reference: 'c2' })).toThrow(SealBroken);
    const later = new Date(obtainedAt.getTime() + 1);
    expect(() => vault.open({ ...stored, obtainedAt: later })).toThrow(SealBroken);
    const otherVault = await readVault(ledger.db, ledger.keys, other.id);
    expect(() => otherVault.open(stored)).toThrow(SealBroken);
    expect(vault.open(stored).reveal()).toMatchObject({ refreshToken: 'a-refresh-token' });
  });
});

describe('staged credentials', () => {
  const staged = { decisionId: 'd', replaces: false };
  const stage = async (count: number) => {
    const { id, rows } = await createOpenMigration(count);
    await confirm(id, 'all');
    const given = rows.map((row) => credentialOf(row));
    expect(await stageCredentials(ledger.db, id, given, 'Cleo', staged)).toMatchObject({
      stored: rows.map(({ reference }) => reference),
    });
    return id;
  };
  const stagedRows = async (id: string) =>
    (await ledger.db.selectFrom('staged_credentials').select('row').where('migration_id', '=', id).execute()).length;

  test('are put in use by their own decision, except those of companies that have begun to move', async () => {
    const id = await stage(2);
    expect(await rowsWithCredential(ledger.db, id)).toEqual([]);
    expect(await acceptStaged(ledger.db, id, { ...staged, decisionId: 'another' })).toBe(0);
    await updateRow(ledger.db, id, 2, { state: 'importing', attempt: 'a' });
    expect(await acceptStaged(ledger.db, id, staged)).toBe(1);
    expect(await rowsWithCredential(ledger.db, id)).toEqual([1]);
    expect(await stagedRows(id)).toBe(0);
  });

  test.each([
    ['their decision is refused', async (id: string) => discardStaged(ledger.db, id, 'd')],
    ['the vault is destroyed', async (id: string) => destroyVault(ledger.db, ledger.keys, id)],
  ])('are deleted when %s', async (_, end) => {
    const id = await stage(1);
    expect(await stagedRows(id)).toBe(1);
    await end(id);
    expect(await stagedRows(id)).toBe(0);
    expect(await rowsWithCredential(ledger.db, id)).toEqual([]);
  });
});

describe('replacement credentials', () => {
  const replace = (id: string, rows: readonly ManifestRow[]) =>
    replaceCredentials(
      ledger.db,
      id,
      rows.map((row) => credentialOf(row, { token: 'the new one' })),
      'Carl',
    );
  const failed = { state: 'failed', failure: 'incomplete', failure_text: 'too few', evidence: '[]' } as const;

  test('are stored only for companies that were not moved or whose outcome is unknown, and leave the state of each company unchanged', async () => {
    const { id, rows } = await createMovableMigration(ledger, manifestRows(5));
    await updateRow(ledger.db, id, 1, failed);
    await updateRow(ledger.db, id, 2, { state: 'outcome-unknown' });
    await updateRow(ledger.db, id, 3, { state: 'moved' });
    await updateRow(ledger.db, id, 4, { state: 'importing', attempt: 'a' });
    expect(await replace(id, rows)).toEqual({
      stored: ['c1', 'c2'],
      wrongState: ['c3', 'c4', 'c5'],
      unknown: [],
      obtainedTooEarly: [],
    });
    expect((await readRow(ledger.db, id, 1)).state).toBe('failed');

    await retryWithNewCredential(ledger.db, id, ['c1', 'c2', 'c3', 'c4', 'c5']);
    const states = await Promise.all(rows.map(async ({ row }) => (await readRow(ledger.db, id, row)).state));
    expect(states).toEqual(['waiting', 'waiting', 'moved', 'importing', 'waiting']);
    expect(await readRow(ledger.db, id, 1)).toMatchObject({ failure: null, failure_text: null, evidence: null });
  });

  test('are required before a company can be retried with a new credential', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(1));
    await updateRow(ledger.db, id, 1, failed);
    await retryWithNewCredential(ledger.db, id, ['c1']);
    expect(await readRow(ledger.db, id, 1)).toMatchObject({ state: 'failed', failure: 'incomplete' });
  });

  test('must be supplied as replacements if the company was not moved', async () => {
    const { id, rows } = await createMovableMigration(ledger, manifestRows(1));
    await updateRow(ledger.db, id, 1, { ...failed, failure: 'reauthorization-required' });
    const given = rows.map((row) => credentialOf(row));
    expect(await supplyCredentials(ledger.db, id, given, 'Carl')).toMatchObject({ stored: [], wrongState: ['c1'] });
    expect((await readRow(ledger.db, id, 1)).state).toBe('failed');
  });
});

describe('a vault', () => {
  test('stores and opens no credentials before it is opened', async () => {
    const migration = suppliedMigration();
    const rows = manifestRows(1);
    await supplyMigration(ledger.db, migration, rows);
    await expect(
      supplyCredentials(
        ledger.db,
        migration.id,
        rows.map((row) => credentialOf(row)),
        'Cleo',
      ),
    ).rejects.toThrow(VaultClosed);
    await expect(readVault(ledger.db, ledger.keys, migration.id)).rejects.toThrow(VaultClosed);
  });

  test('keeps its key pair when it is opened again concurrently', async () => {
    const { id } = await createMovableMigration(ledger, manifestRows(1));
    const key = async () =>
      ledger.db.selectFrom('migrations').select('vault_public_key').where('id', '=', id).executeTakeFirstOrThrow();
    const before = await key();
    await Promise.all([1, 2, 3].map(() => openVault(ledger.db, ledger.keys, id)));
    expect(await key()).toEqual(before);
  });

  test('has no credentials and no keys after it was destroyed, and cannot be reopened', async () => {
    const { id, rows } = await createMovableMigration(ledger, manifestRows(3));
    await destroyVault(ledger.db, ledger.keys, id);
    const destroyedAt = (await readMigration(ledger.db, id))?.vaultDestroyedAt;
    expect(destroyedAt).toBeInstanceOf(Date);
    expect(await rowsWithCredential(ledger.db, id)).toEqual([]);

    await openVault(ledger.db, ledger.keys, id);
    await destroyVault(ledger.db, ledger.keys, id);
    expect((await readMigration(ledger.db, id))?.vaultDestroyedAt).toEqual(destroyedAt);
    await expect(readVault(ledger.db, ledger.keys, id)).rejects.toThrow(VaultClosed);
    await expect(
      supplyCredentials(
        ledger.db,
        id,
        rows.map((row) => credentialOf(row)),
        'Cleo',
      ),
    ).rejects.toThrow(VaultClosed);
  });

  test('is not affected when another vault is destroyed', async () => {
    const [ended, going] = [
      await createMovableMigration(ledger, manifestRows(1)),
      await createMovableMigration(ledger, manifestRows(1)),
    ];
    await destroyVault(ledger.db, ledger.keys, ended.id);
    expect(await rowsWithCredential(ledger.db, going.id)).toEqual([1]);
    await expect(readVault(ledger.db, ledger.keys, going.id)).resolves.toBeDefined();
  });
});

test('the ledger accepts the credentials that the portal says a company accepts', async () => {
  const facts = COMPANY_STATES.flatMap((state) =>
    [null, 'its name is empty'].flatMap((heldBack) => [0, 1, 2].map((tries) => ({ state, heldBack, tries }))),
  );
  const { rows } = await sql<{ supplied: boolean; replaced: boolean }>`
    select ${acceptsCredential(false)} as supplied, ${acceptsCredential(true)} as replaced
    from jsonb_to_recordset(${JSON.stringify(facts.map(({ heldBack, ...each }) => ({ ...each, held_back: heldBack })))}::jsonb)
      as c (state text, held_back text, tries integer)`.execute(ledger.db);
  const expected = facts.map(acceptedSupplies).map((accepted) => ({
    supplied: accepted.includes('credentialsSupplied'),
    replaced: accepted.includes('replaceCredential'),
  }));
  expect(rows).toEqual(expected);
});
