import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createVaultSecretFolder, VaultSecretElsewhere, VaultSecretMissing } from '../../security';
import { createTemporaryFolder } from '../../stack/folders';

const M = 'acme.xero';
let root: string;
let folder: string;
beforeEach(() => {
  root = createTemporaryFolder();
  folder = path.join(root, 'secrets');
  mkdirSync(folder);
});
afterEach(() => rmSync(root, { recursive: true }));

const files = (): readonly string[] => readdirSync(folder).map((name) => path.join(folder, name));
const secretFiles = (): readonly string[] => files().filter((file) => path.basename(file) !== 'folder.id');

test('reads a secret in another process that uses the same folder', async () => {
  const { id, secret } = await createVaultSecretFolder(folder).create(M);
  expect(secret.reveal()).toHaveLength(32);
  expect((await createVaultSecretFolder(folder).read(M, id)).reveal()).toEqual(secret.reveal());
});

test('gives one folder one identity, even if ten processes use it for the first time concurrently', async () => {
  const created = await Promise.all(Array.from({ length: 10 }, () => createVaultSecretFolder(folder).create(M)));
  expect(new Set(created.map(({ id }) => id.split('-')[0])).size).toBe(1);
  for (const { id, secret } of created) {
    expect((await createVaultSecretFolder(folder).read(M, id)).reveal()).toEqual(secret.reveal());
  }
  expect(files()).toHaveLength(11);
});

test('makes its files readable only by their owner, and their names do not contain the client', async () => {
  await createVaultSecretFolder(folder).create(M);
  for (const file of files()) {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(file).not.toContain('acme');
  }
});

test('overwrites a secret before it removes it', async () => {
  const { id, secret } = await createVaultSecretFolder(folder).create(M);
  // Through a hard link, the overwritten content can be read after the file was removed.
  const [file = ''] = secretFiles();
  const secondName = path.join(root, 'second-name');
  linkSync(file, secondName);
  await createVaultSecretFolder(folder).erase(M, id);
  expect(secretFiles()).toEqual([]);
  expect(readFileSync(secondName)).toHaveLength(32);
  expect(readFileSync(secondName).equals(secret.reveal())).toBe(false);
});

test('erases all secrets of one migration, including half-written secrets, and nothing else', async () => {
  const secrets = createVaultSecretFolder(folder);
  const [first, second, other] = [
    await secrets.create(M),
    await secrets.create(M),
    await secrets.create('acme.xero.2'),
  ];
  const [file = ''] = secretFiles().filter((each) => each.endsWith(first.id));
  writeFileSync(`${file.slice(0, -1)}z.unfinished`, first.secret.reveal());
  await secrets.erase(M, second.id);
  await secrets.erase(M, second.id);
  for (const { id } of [first, second]) await expect(secrets.read(M, id)).rejects.toThrow(VaultSecretMissing);
  expect((await secrets.read('acme.xero.2', other.id)).reveal()).toEqual(other.secret.reveal());
  expect(secretFiles()).toHaveLength(1);
});

test('keeps the secret that is still in use', async () => {
  const secrets = createVaultSecretFolder(folder);
  const [old, current] = [await secrets.create(M), await secrets.create(M)];
  await secrets.erase(M, current.id, current.id);
  await expect(secrets.read(M, old.id)).rejects.toThrow(VaultSecretMissing);
  expect((await secrets.read(M, current.id)).reveal()).toEqual(current.secret.reveal());
});

test.each(['is empty', 'belongs to another installation'])(
  'distinguishes a folder that %s from an erased secret',
  async (is) => {
    const { id } = await createVaultSecretFolder(folder).create(M);
    const elsewhere = path.join(root, 'elsewhere');
    mkdirSync(elsewhere);
    if (is !== 'is empty') await createVaultSecretFolder(elsewhere).create(M);
    const wrong = createVaultSecretFolder(elsewhere);
    await expect(wrong.read(M, id)).rejects.toThrow(VaultSecretElsewhere);
    await expect(wrong.erase(M, id)).rejects.toThrow(VaultSecretElsewhere);
    await expect(createVaultSecretFolder(folder).read(M, id)).resolves.toBeDefined();
    // Without a secret to keep, the vault of a migration that has ended is destroyed. The migration cannot be paused,
    // so the message must not ask for a pause.
    await expect(wrong.erase(M, id)).rejects.toThrow(
      `Only if the shared folder is lost for good, run "ferry vault renew ${M} --folder-lost"; a worker then`,
    );
    await expect(wrong.erase(M, id, id)).rejects.toThrow('is lost for good, pause the migration, wait a minute');
  },
);
