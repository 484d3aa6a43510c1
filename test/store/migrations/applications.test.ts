import { randomUUID } from 'node:crypto';
import type { SuppliedMigration } from '../../../store';
import { closeMigration, openMigration, readApplications, recordApplication, recordDecisions } from '../../../store';
import { supplyMigration } from '../../../store';
import type { Decision } from '../../../domain/migration/decision';
import { manifestRows, suppliedMigration, useLedger } from '../../support/ledger';

const ledger = useLedger();
const PLATFORM = () => ({ platformKey: randomUUID() });

async function openedMigration(changes: Partial<SuppliedMigration>): Promise<SuppliedMigration> {
  const migration = suppliedMigration(changes);
  await supplyMigration(ledger.db, migration, manifestRows(1));
  await openMigration(ledger.db, migration.id);
  return migration;
}

async function decide(id: string, decision: Partial<Decision>, applied = true): Promise<void> {
  const decisionId = randomUUID();
  const sent = { decisionId, role: 'client', by: 'Cleo', ...decision } as Decision;
  const outcome = { decisionId, applied, text: '', at: new Date().toISOString() };
  await recordDecisions(ledger.db, id, [{ decision: sent, outcome }]);
}

const supplied = (clientId: string) => ({ kind: 'application-supplied', clientId, environment: 'production' }) as const;
const app = (clientId: string) => ({ clientId, environment: 'production' });
const others = async (migration: SuppliedMigration) =>
  (await readApplications(ledger.db, migration)).others.map(({ migrationId, application: { clientId } }) => [
    migrationId,
    clientId,
  ]);

test('reads the application that was supplied last, and nothing of a refused decision', async () => {
  const migration = await openedMigration(PLATFORM());
  expect((await readApplications(ledger.db, migration)).supplied).toBeNull();
  await decide(migration.id, supplied('first'));
  await decide(migration.id, supplied('second'));
  await decide(migration.id, supplied('third'), false);
  expect((await readApplications(ledger.db, migration)).supplied).toEqual({ ...app('second'), suppliedBy: 'Cleo' });
});

test('reads the applications of other open migrations on the same platform and in the same namespace', async () => {
  const platform = PLATFORM();
  const migration = await openedMigration({ ...platform, namespace: 'one' });
  const other = await openedMigration({ ...platform, namespace: 'one' });
  const elsewhere = [
    await openedMigration({ ...platform, namespace: 'two' }),
    await openedMigration({ ...PLATFORM(), namespace: 'one' }),
  ];
  for (const { id } of [other, ...elsewhere]) await decide(id, supplied('theirs'));
  expect(await others(migration)).toEqual([[other.id, 'theirs']]);
  await closeMigration(ledger.db, other.id, 'cancelled');
  expect(await others(migration)).toEqual([]);
});

test('an application found at the service counts once the details have been accepted', async () => {
  const platform = PLATFORM();
  const [migration, other] = [await openedMigration(platform), await openedMigration(platform)];
  await recordApplication(ledger.db, other.id, app('found'));
  expect(await others(migration)).toEqual([]);
  await decide(other.id, { kind: 'step', step: 'supply-details', verdict: 'approve', role: 'support' });
  expect(await others(migration)).toEqual([[other.id, 'found']]);
});

test('an application found by a self-service migration counts without an approval', async () => {
  const platform = PLATFORM();
  const migration = await openedMigration(platform);
  const other = await openedMigration({ ...platform, route: 'self-service' });
  await recordApplication(ledger.db, other.id, app('found'));
  expect(await others(migration)).toEqual([[other.id, 'found']]);
});
