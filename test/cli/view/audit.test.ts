/**
 * Tests `ferry audit --verify` and the handover report for a migration that accepts only signed decisions. One test
 * changes the ledger without a decision.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { stopReasonText } from '../../../domain/companies/failures';
import { createSigningKey, parseSigningKey, Secret } from '../../../security';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { CLIENT, startTestMigration, type TestMigration } from '../../workflows/running-migration';
import { ferry } from '../captured-terminal';
import { temporaryFolder } from '../../support/temporary-folder';

const signers = ['Sam', 'Cleo'].map((by) => parseSigningKey(new Secret(createSigningKey(by))));
const orchestrator = useOrchestratorWithWorker();
let migration: TestMigration;
const folder = temporaryFolder();
beforeAll(async () => {
  const credentials = ['sbx-ok-1.a1', 'sbx-ok-1.a2', 'sbx-ok-1.a3'];
  migration = await startTestMigration(orchestrator, 'audited', credentials, null, { signers });
  await migration.until(({ preflight }) => preflight !== null);
});

async function verifyExport() {
  const { out } = await ferry(['audit', migration.id, '--format', 'jsonl'], undefined, orchestrator.env);
  const file = path.join(folder, 'trail.jsonl');
  writeFileSync(file, out);
  const approvers = signers.flatMap(({ by, publicKey }) => [
    '--approver',
    `${by === 'Sam' ? 'support' : 'client'}:${by}:${publicKey}`,
  ]);
  return ferry(['audit', migration.id, '--verify', file, ...approvers], undefined, {});
}

const reportText = async (format = 'md'): Promise<string> =>
  (await ferry(['report', migration.id, '--format', format], undefined, orchestrator.env)).out;

test('the ledger is reported as backed by the signed confirmations', async () => {
  expect(await migration.send('confirmSyncDisabled', { companies: ['R-1'], ...CLIENT })).toBe('applied');
  expect(await verifyExport()).toMatchObject({
    exitCode: 0,
    out: expect.stringContaining(
      'in the ledger, every confirmation and every permission to move companies comes from a signed decision',
    ) as string,
  });
  expect(await reportText()).toContain(
    'every confirmation, and every permission to move companies, is backed by a signed decision',
  );
});

test('an automatic pause is listed with its cause and numbers, without the advice of that time', async () => {
  const why = stopReasonText('wrong-organization', 'R-1 (Acme)');
  const stoppage = { kind: 'pause', stop: 'wrong-organization', why, began_at: new Date() } as const;
  await orchestrator.ferry.db
    .insertInto('stoppages')
    .values({ migration_id: migration.id, ...stoppage })
    .execute();
  const cause = 'a credential gives access to an organization other than the one in the manifest (R-1 (Acme))';
  const audit = async (format: string) =>
    (await ferry(['audit', migration.id, '--format', format], undefined, orchestrator.env)).out;
  expect((await audit('table')).replaceAll(/\s+/g, ' ')).toContain(`pause automatically (${cause}) still paused`);
  expect(await audit('csv')).toContain(`,pause automatically (${cause}),true,still paused,${cause},`);
});

test('confirmations and a release without a signed decision are named', async () => {
  const { db } = orchestrator.ferry;
  await db.updateTable('companies').set({ confirmed_at: new Date() }).where('row', '>', 1).execute();
  await db.updateTable('migrations').set({ released: 'all' }).execute();
  const differences = [
    'the ledger shows 3 companies as confirmed, but signed decisions confirm only 1',
    'the ledger allows all companies to be moved, but the decisions that are signed, or need no signature, allow none',
  ];
  const { exitCode, out } = await verifyExport();
  expect(exitCode).toBe(1);
  const reports = [await reportText(), await reportText('html')];
  for (const difference of differences) {
    expect(out).toContain(difference);
    for (const report of reports) expect(report).toContain(difference);
  }
});
