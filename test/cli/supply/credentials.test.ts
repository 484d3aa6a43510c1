/** Tests `ferry credentials` and `ferry application` in a migration that accepts only signed decisions. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createSigningKey, parseSigningKey, Secret } from '../../../security';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { startTestMigration, type TestMigration } from '../../workflows/running-migration';
import { platform } from '../../support/migrations/platforms';
import { ferry } from '../captured-terminal';
import { temporaryFolder } from '../../support/temporary-folder';

const ZOHO_BOOKS = platform('zoho-books');

const keys = new Map(['Sam', 'Cleo'].map((by) => [by, createSigningKey(by)]));
const orchestrator = useOrchestratorWithWorker();
let migration: TestMigration;
const folder = temporaryFolder();
beforeAll(async () => {
  const signers = [...keys.values()].map((key) => parseSigningKey(new Secret(key)));
  const options = { slug: 'zoho-books', signers };
  migration = await startTestMigration(orchestrator, 'supply', ['sbx-ok-1.s1', 'sbx-ok-1.s2'], null, options);
  await migration.until(({ preflight }) => preflight !== null);
});

/**
 * Runs `ferry credentials` as the client, with a file of credentials for these companies.
 *
 * @param signer the person whose key signs the decision; null for an unsigned decision
 */
async function supply(references: readonly string[], signer: string | null, ...more: string[]) {
  const organizationOf = await organizations();
  const file = path.join(folder, 'credentials.csv');
  const lines = references.map((each) => `${each},at-${each},sbx-ok-1.${each},${organizationOf.get(each) ?? '1'},eu`);
  writeFileSync(file, ['reference,accessToken,refreshToken,organizationId,region', ...lines].join('\n'));
  const keyFile = path.join(folder, 'signing.key');
  writeFileSync(keyFile, keys.get(signer ?? '') ?? '', { mode: 0o600 });
  const env = { ...orchestrator.env, ...(signer === null ? {} : { TOKENFERRY_SIGNING_KEY_FILE: keyFile }) };
  return ferry(['credentials', migration.id, file, '--as', 'client', '--by', 'Cleo', ...more], undefined, env);
}

async function organizations() {
  const { db } = orchestrator.ferry;
  const companies = await db
    .selectFrom('companies')
    .select(['reference', 'organization'])
    .where('migration_id', '=', migration.id)
    .execute();
  return new Map(companies.map(({ reference, organization }) => [reference, organization]));
}

/** Returns the numbers of the rows that have a credential in the vault, accepted or only staged. */
async function vaultRows(): Promise<readonly number[]> {
  const { db } = orchestrator.ferry;
  const rowsIn = async (table: 'credentials' | 'staged_credentials') =>
    db.selectFrom(table).select('row').where('migration_id', '=', migration.id).orderBy('row').execute();
  return [...(await rowsIn('credentials')), ...(await rowsIn('staged_credentials'))].map(({ row }) => row);
}

test('a refused supply stores nothing, says why, and fails', async () => {
  const { exitCode, out } = await supply(['R-1', 'R-2'], null);
  expect(exitCode).toBe(1);
  expect(out).toMatch(/✗ refused: .*must be signed by an approver; this one is not; no credential was stored/);
  expect(out).toContain(
    '  to sign the decision, Cleo must run the command on their own machine, where their signing key is (TOKENFERRY_SIGNING_KEY_FILE)\n',
  );
  expect(out).not.toContain('✓');
  const { exitCode: ofJson, out: json } = await supply(['R-1'], null, '--json');
  expect(ofJson).toBe(1);
  expect(JSON.parse(json)).toMatchObject({ stored: [], decision: { outcome: 'refused' } });
  expect(await vaultRows()).toEqual([]);
});

test('the command fails if only some of the credentials could be stored', async () => {
  const { exitCode, out } = await supply(['R-1', 'R-9'], 'Cleo');
  expect(exitCode).toBe(1);
  expect(out).toContain(`! ${migration.id}: 1 of 2 credentials sealed and stored:\n`);
  expect(out).not.toContain('✓');
  expect(out).toContain('still without a credential: 1 company (R-2)\n');
  expect(await vaultRows()).toEqual([1]);
});

test('all mistakes of a file are reported together', async () => {
  const file = path.join(folder, 'mistakes.csv');
  const other = (await organizations()).get('R-2') ?? '';
  const lines = [`R-1,at,sbx-ok-1.r1,${other},eu`, `R-2,,sbx-ok-1.r2,${other},eu`, 'R-9,at,sbx-ok-1.r9,9,eu'];
  writeFileSync(file, ['reference,accessToken,refreshToken,organizationId,region', ...lines].join('\n'));
  const command = ['credentials', migration.id, file, '--as', 'client', '--by', 'Cleo', '--json'];
  const { exitCode, out } = await ferry(command, undefined, orchestrator.env);
  const { findings } = JSON.parse(out) as { findings: { line: number; code: string; severity: string }[] };
  expect(exitCode).toBe(1);
  expect(findings.filter(({ severity }) => severity === 'error').map(({ line, code }) => [line, code])).toEqual([
    [2, 'credential-of-other-organization'],
    [3, 'missing-value'],
    [4, 'credential-of-unknown-reference'],
  ]);
});

test('a signed supply is stored completely', async () => {
  const { exitCode, out } = await supply(['R-1', 'R-2'], 'Cleo');
  expect({ exitCode, out }).toEqual({
    exitCode: 0,
    // One was stored by the test before.
    out: expect.stringContaining(
      `✓ ${migration.id}: 2 credentials sealed and stored; 1 replaced an earlier one\n`,
    ) as string,
  });
  expect(out).not.toContain('still without');
  expect((await supply(['R-1', 'R-2'], 'Cleo')).out).toContain(
    `✓ ${migration.id}: 2 credentials sealed and stored; they replaced the earlier ones\n`,
  );
  expect((await supply(['R-2'], 'Cleo')).out).toContain(
    `✓ ${migration.id}: 1 credential sealed and stored; it replaced an earlier one\n`,
  );
  expect(await vaultRows()).toEqual([1, 2]);
});

test('a refused application is not registered with the service', async () => {
  const file = path.join(folder, 'secret');
  writeFileSync(file, 'the-secret');
  const command = ['application', migration.id, '--client-id', 'of-eve', '--environment', 'production'];
  const { exitCode, out } = await ferry(
    [...command, '--secret-file', file, '--as', 'client', '--by', 'Cleo'],
    undefined,
    orchestrator.env,
  );
  expect(exitCode).toBe(1);
  expect(out).toMatch(/✗ refused: .*must be signed/);
  expect(out).toContain('Nothing was registered with the service');
  const { application } = (await orchestrator.client().integration(ZOHO_BOOKS.key)).value;
  expect(application?.clientId).not.toBe('of-eve');
});
