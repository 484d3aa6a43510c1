/** Tampering with stored data is detected and reported. Altered data is never used. */
import { randomBytes } from 'node:crypto';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { sql } from 'kysely';
import {
  createPayloadCodec,
  createVaultKey,
  parsePayloadKeys,
  Secret,
  UnknownMasterKey,
  UnknownPayloadKey,
  VaultKeyMismatch,
  WrappedKeyBroken,
} from '../../security';
import { payloadConverter } from '../../security/payload-converter';
import { readVault, supplyCredentials } from '../../store';
import { useImportRig } from '../support/migrations/company-import';
import { credentialOf, readRow } from '../support/migrations/ledger';

const rig = useImportRig();

const GOOD = ['sbx-ok-1', 'sbx-ok-1', 'sbx-ok-1'];

/** Yields one copy for each byte, in which one bit of that byte is flipped. */
function* withEachByteAltered(bytes: Uint8Array): Generator<Buffer> {
  for (let index = 0; index < bytes.length; index += 1) {
    const copy = Buffer.from(bytes);
    copy.writeUInt8(copy.readUInt8(index) ^ 1, index);
    yield copy;
  }
}

describe('a sealed credential', () => {
  const UNREADABLE = { state: 'failed', failure: 'credential-unreadable' };
  const SEAL_BROKEN_MESSAGE =
    /cannot be opened, because it was altered, was sealed with another key or for another company/;

  test('is not sent if a byte was altered, and fails only its own company', async () => {
    const { id } = await rig.migration(GOOD);
    const { db } = rig.ledger;
    await sql`update credentials set sealed = set_byte(sealed, 90, get_byte(sealed, 90) # 1)
      where migration_id = ${id} and row = 2`.execute(db);
    rig.proxy.reset();
    await rig.importSlice(id);
    const tampered = await readRow(db, id, 2);
    expect(tampered).toMatchObject({
      ...UNREADABLE,
      failure_text: expect.stringMatching(SEAL_BROKEN_MESSAGE) as string,
    });
    expect([(await readRow(db, id, 1)).state, (await readRow(db, id, 3)).state]).toEqual(['syncing', 'syncing']);
    expect(rig.proxy.arrived('PUT', /authorization/)).toHaveLength(2);
  });

  test("fails both companies if it was swapped with another company's credential", async () => {
    const { id } = await rig.migration(GOOD);
    const { db } = rig.ledger;
    await sql`update credentials c set sealed = other.sealed from credentials other
      where c.migration_id = ${id} and other.migration_id = ${id} and (c.row, other.row) in ((1, 2), (2, 1))`.execute(
      db,
    );
    rig.proxy.reset();
    await rig.importSlice(id);
    expect(await readRow(db, id, 1)).toMatchObject(UNREADABLE);
    expect(await readRow(db, id, 2)).toMatchObject(UNREADABLE);
    expect(rig.proxy.arrived('PUT', /authorization/)).toHaveLength(1);
  });
});

describe("a vault's key", () => {
  type Columns = 'vault_public_key' | 'vault_wrapped_key' | 'vault_key_id';

  /** Alters a key column of the migration, then reads its vault. */
  async function altered(id: string, column: Columns, value: Buffer | string): Promise<Promise<unknown>> {
    await rig.ledger.db
      .updateTable('migrations')
      .set({ [column]: value })
      .where('id', '=', id)
      .execute();
    return readVault(rig.ledger.db, rig.ledger.keys, id);
  }
  const keyOf = (id: string) =>
    rig.ledger.db
      .selectFrom('migrations')
      .select(['vault_public_key', 'vault_wrapped_key', 'vault_key_id'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();

  test('opens no credential if any byte was altered', async () => {
    const { id } = await rig.migration(['sbx-ok-1']);
    const { vault_wrapped_key: wrapped, vault_public_key: publicKey } = await keyOf(id);
    if (!wrapped || !publicKey) throw new Error('the vault has no keys');
    for (const each of withEachByteAltered(wrapped))
      await expect(altered(id, 'vault_wrapped_key', each)).rejects.toThrow(WrappedKeyBroken);
    await altered(id, 'vault_wrapped_key', wrapped);
    for (const each of withEachByteAltered(publicKey))
      await expect(altered(id, 'vault_public_key', each)).rejects.toThrow(VaultKeyMismatch);
    await altered(id, 'vault_public_key', publicKey);
    await expect(altered(id, 'vault_key_id', '0123456789abcdef')).rejects.toThrow(UnknownMasterKey);
  });

  test.each<[string, Columns, () => Buffer | string, RegExp]>([
    [
      'wrapped key',
      'vault_wrapped_key',
      () => randomBytes(60),
      /altered or replaced.*Restore the private key from a backup/,
    ],
    [
      'public key',
      'vault_public_key',
      () => createVaultKey().publicKey,
      /replaced.*have the client revoke these credentials/,
    ],
    [
      'master key id',
      'vault_key_id',
      () => '0123456789abcdef',
      /only has [0-9a-f]{16}\. Add master key 0123456789abcdef/,
    ],
  ])(
    'stops the slice before any company is changed if the %s was replaced, with an error that says what to do',
    async (...row) => {
      const [, column, value, message] = row;
      const { id } = await rig.migration(GOOD);
      rig.proxy.reset();
      const original = (await keyOf(id))[column];
      await altered(id, column, value()).catch(() => undefined);
      await expect(rig.importSlice(id)).rejects.toThrow(message);
      expect(rig.proxy.arrived('PUT', /./)).toHaveLength(0);
      expect((await readRow(rig.ledger.db, id, 1)).state).toBe('waiting');

      await altered(id, column, original ?? '');
      await rig.importSlice(id);
      expect((await readRow(rig.ledger.db, id, 1)).state).toBe('syncing');
    },
  );

  test('seals no credentials if the public key is not valid', async () => {
    const { id, rows } = await rig.migration(['sbx-ok-1']);
    await altered(id, 'vault_public_key', randomBytes(65)).catch(() => undefined);
    const supplying = supplyCredentials(
      rig.ledger.db,
      id,
      rows.map((row) => credentialOf(row, { obtainedAt: new Date().toISOString() })),
      'Cleo',
    );
    await expect(supplying).rejects.toThrow(VaultKeyMismatch);
  });
});

describe('a payload that Temporal stores', () => {
  const keys = parsePayloadKeys(new Secret(randomBytes(32).toString('base64')));
  const codec = createPayloadCodec(keys);
  let stored: Payload;
  beforeAll(async () => {
    const [encrypted] = await codec.encode([defaultPayloadConverter.toPayload({ step: 'schedule' })]);
    stored = encrypted ?? {};
  });
  const read = async (payload: Payload): Promise<unknown> => {
    const [decoded] = await codec.decode([payload]);
    return payloadConverter.fromPayload(decoded ?? {});
  };
  const metadataOf = (name: string): Uint8Array => stored.metadata?.[name] ?? new Uint8Array();

  test('is decoded unchanged if it was not altered', async () => {
    expect(await read(stored)).toEqual({ step: 'schedule' });
  });

  test('becomes unreadable if a byte of its content was altered', async () => {
    for (const data of withEachByteAltered(stored.data ?? new Uint8Array()))
      expect(await read({ ...stored, data })).toHaveProperty('unreadable');
  });

  test('becomes unreadable if a byte of its encoding was altered', async () => {
    for (const encoding of withEachByteAltered(metadataOf('encoding')))
      expect(await read({ ...stored, metadata: { ...stored.metadata, encoding } })).toHaveProperty('unreadable');
  });

  test('throws an error about an unknown key if a byte of its key id was altered', async () => {
    for (const id of withEachByteAltered(metadataOf('encryption-key-id')))
      await expect(read({ ...stored, metadata: { ...stored.metadata, 'encryption-key-id': id } })).rejects.toThrow(
        UnknownPayloadKey,
      );
  });

  test('is not decoded if a part is missing', async () => {
    const { encoding } = stored.metadata ?? {};
    if (!encoding) throw new Error('the payload has no encoding');
    expect(await read({ data: stored.data ?? new Uint8Array() })).toHaveProperty('unreadable');
    expect(await read({ metadata: stored.metadata ?? {} })).toHaveProperty('unreadable');
    await expect(read({ ...stored, metadata: { encoding } })).rejects.toThrow(UnknownPayloadKey);
  });
});
