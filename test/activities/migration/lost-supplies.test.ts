/** Tests when a reconciliation reports that the credentials or rows that a decision supplied are lost. */
import { randomUUID } from 'node:crypto';
import type { DecisionRecord } from '../../../domain/migration/migration-state';
import { manifestDigest, stageCredentials, stageManifest } from '../../../store';
import { useImportRig } from '../../support/migrations/company-import';
import {
  createMovableMigration,
  credentialOf,
  manifestRows,
  release,
  updateRow,
  type MovableMigration,
} from '../../support/migrations/ledger';
import { BY_CLEO, BY_SAM, recordOf } from '../../support/migrations/signed-decisions';

const rig = useImportRig();

function reconcile(id: string, ...decisions: readonly DecisionRecord[]) {
  const workflowRecords = {
    stateAndMarkOf: async () => ({ workflow: 'running' as const, ledgerMark: 0 }),
    decisionsOf: async () => decisions,
  };
  return rig.runActivity(() => rig.worker({ workflowRecords }).reconcileLedger({ migrationId: id }));
}

/** Stages credentials for the rows in `staged`, and returns a decision that supplies credentials for all companies. */
async function suppliedFor(
  { id, rows }: MovableMigration,
  message: 'credentialsSupplied' | 'replaceCredential',
  staged: readonly number[],
): Promise<DecisionRecord> {
  const decisionId = randomUUID();
  const replaces = message === 'replaceCredential';
  const credentials = rows.filter(({ row }) => staged.includes(row)).map((row) => credentialOf(row));
  await stageCredentials(rig.ledger.db, id, credentials, 'Cleo', { decisionId, replaces });
  const companies = replaces ? rows.map(({ reference }) => reference) : rows.length;
  return recordOf(id, message, { decisionId, companies, ...BY_CLEO }, null);
}

describe.each([
  ['credentialsSupplied', 'skipped', { state: 'waiting' }],
  ['replaceCredential', 'skipped', { state: 'failed', failure: 'refused' }],
] as const)('the credentials of %s', (message, other, open) => {
  async function migrationWithOneOpen(): Promise<MovableMigration> {
    const migration = await createMovableMigration(rig.ledger, manifestRows(2));
    await updateRow(rig.ledger.db, migration.id, 1, open);
    await updateRow(rig.ledger.db, migration.id, 2, open);
    return migration;
  }
  const closeOther = ({ id }: MovableMigration) => updateRow(rig.ledger.db, id, 2, { state: other });

  test('are lost if a company that accepts one has none', async () => {
    const migration = await migrationWithOneOpen();
    const supplied = await suppliedFor(migration, message, [2]);
    expect((await reconcile(migration.id, supplied)).decisions).toMatchObject([{ isPartial: true }]);
  });

  test.each([
    ['was used only in part, because a company accepts none anymore', [1, 2]],
    ['lacks only that of a company that accepts none anymore', [1]],
  ])('are not lost if the supply %s', async (_, staged) => {
    const migration = await migrationWithOneOpen();
    const supplied = await suppliedFor(migration, message, staged);
    await closeOther(migration);
    const { decisions } = await reconcile(migration.id, supplied);
    expect(decisions).toHaveLength(1);
    expect(decisions[0]).not.toHaveProperty('isPartial');
  });
});

function manifestFor(id: string, rows: MovableMigration['rows'], decisionId: string = randomUUID()): DecisionRecord {
  const content = { decisionId, manifestDigest: manifestDigest(rows), companies: rows.length, ...BY_CLEO };
  return recordOf(id, 'manifestSupplied', content, null);
}

describe('the credentials of companies whose rows were lost', () => {
  const suppliedTo = (id: string) => recordOf(id, 'credentialsSupplied', { companies: 2, ...BY_CLEO }, null);

  test('are lost if the ledger has no companies', async () => {
    const { id } = await createMovableMigration(rig.ledger, []);
    await release(rig.ledger.db, id, 'nothing');
    const { decisions } = await reconcile(id, manifestFor(id, manifestRows(2)), suppliedTo(id));
    expect(decisions).toMatchObject([{ kind: 'credentials-supplied', isPartial: true }]);
    expect((await reconcile(id)).decisions).toEqual([]);
  });

  test('are lost if no older company is open, but only if rows were lost', async () => {
    for (const isAmended of [true, false]) {
      const { id } = await createMovableMigration(rig.ledger, manifestRows(1));
      await updateRow(rig.ledger.db, id, 1, { state: 'skipped' });
      const amended = recordOf(id, 'manifestAmended', { added: 2, corrected: 0, ...BY_CLEO }, null);
      const { decisions } = await reconcile(id, ...(isAmended ? [amended] : []), suppliedTo(id));
      expect(decisions.at(-1)?.isPartial ?? false).toBe(isAmended);
    }
  });
});

test('the replacement of a credential is lost if the ledger has only an older replacement', async () => {
  const migration = await createMovableMigration(rig.ledger, manifestRows(1));
  await updateRow(rig.ledger.db, migration.id, 1, { state: 'failed', failure: 'refused' });
  const earlier = await suppliedFor(migration, 'replaceCredential', [1]);
  await reconcile(migration.id, earlier);
  await updateRow(rig.ledger.db, migration.id, 1, { state: 'failed', failure: 'refused' });
  const lost = await suppliedFor(migration, 'replaceCredential', []);
  const { decisions } = await reconcile(migration.id, earlier, lost);
  expect(decisions).toMatchObject([{ decisionId: lost.decision.decisionId, isPartial: true }]);
});

describe('the rows of a manifest', () => {
  async function unreleased(): Promise<MovableMigration> {
    const migration = await createMovableMigration(rig.ledger, manifestRows(2));
    await release(rig.ledger.db, migration.id, 'nothing');
    return migration;
  }

  test('are supplied with a manifest if no company was touched, and only the latest rows count', async () => {
    const { id } = await unreleased();
    const [first, second] = [manifestRows(2), manifestRows(3)].map((rows) => manifestFor(id, rows));
    const { refused } = await reconcile(id, first!, second!);
    expect(refused.map(({ supplyWith }) => supplyWith)).toEqual([undefined, 'manifest']);
  });

  test('are supplied with an amendment once a company was left out', async () => {
    const { id } = await unreleased();
    await updateRow(rig.ledger.db, id, 1, { state: 'skipped' });
    expect((await reconcile(id, manifestFor(id, manifestRows(2)))).refused).toMatchObject([{ supplyWith: 'amend' }]);
  });

  test.each([
    ['an amendment once support has accepted the details', ['approve'], 'amend'],
    ['a manifest after step 1 was rejected', ['approve', 'reject'], 'manifest'],
    ['an amendment if the ledger has lost the exclusion of a company', ['skip'], 'amend'],
  ] as const)('are supplied with %s', async (_, messages, supplyWith) => {
    const { id } = await unreleased();
    const fields = { step: 'supply-details', reason: 'wrong rows', companies: ['lost'], ...BY_SAM };
    const later = messages.map((message) => recordOf(id, message, fields, null));
    const { refused } = await reconcile(id, manifestFor(id, manifestRows(2)), ...later);
    expect(refused[0]).toMatchObject({ supplyWith });
  });

  test('are not lost if another migration has an organization', async () => {
    const { rows } = await unreleased();
    const { id } = await unreleased();
    const decisionId = randomUUID();
    await stageManifest(rig.ledger.db, id, { decisionId, part: 0, rows }, 'Cleo');
    const { refused } = await reconcile(id, manifestFor(id, rows, decisionId));
    expect(refused).toMatchObject([{ why: expect.stringMatching(/another open migration/) as string }]);
    expect(refused[0]).not.toHaveProperty('supplyWith');
  });
});
