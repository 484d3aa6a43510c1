/** The preflight tells the client nothing about other clients. The ledger keeps their names for support. */
import { randomUUID } from 'node:crypto';
import { readReport } from '../../../client';
import { REPORT_FORMATS, reportPieces } from '../../../client/report-formats';
import { registerApplications } from '../../support/migrations/platforms';
import { useImportRig } from '../../support/migrations/company-import';
import { suppliedMigration, manifestRows } from '../../support/migrations/ledger';
import { call, connectAsPortal, invite, redeem } from '../../store/portal/portal-role';
import { withNames } from '../../../domain/migration/preflight-result';
import { closeMigration, readHeldBack, readPreflightTexts, supplyMigration } from '../../../store';

const rig = useImportRig();
beforeAll(() => registerApplications(rig.directClient));

/** Runs the preflight, and returns it with the names and texts from the ledger. */
const check = async (migrationId: string) => (await rig.preflight(migrationId)).inFull;
const DIGITS = { row: (row: number) => ({ organization: `${randomUUID().replace(/\D/g, '')}${row}` }) };

/** Creates a migration with an organization that another open migration contains in upper case. */
async function createConflict() {
  const organization = randomUUID();
  const other = suppliedMigration();
  await supplyMigration(
    rig.ledger.db,
    other,
    manifestRows(1, () => ({ organization: organization.toUpperCase() })),
  );
  const { id } = await rig.migration(['sbx-ok-5'], { row: () => ({ organization }) });
  return { id, organization, otherId: other.id };
}

test('a company whose organization is open in another migration is held back even if its id differs in case', async () => {
  const { id, organization, otherId } = await createConflict();
  const details = `"${organization}" is already part of migration ${otherId}`;
  const { problems, clientProblems } = await check(id);
  expect(problems).toEqual([`c1: ${details}`]);
  const heldBack = `"${organization}" is already part of another open migration; leave this company out, or ask support`;
  expect(clientProblems).toEqual([`c1: ${heldBack}`]);
  expect(await readHeldBack(rig.ledger.db, id)).toEqual([{ reference: 'c1', heldBack, heldBackDetails: details }]);
});

test("the migration's state does not name another client's migration, and the ledger does", async () => {
  const { id, organization, otherId } = await createConflict();
  const { result, inFull } = await rig.preflight(id);
  expect(JSON.stringify(result)).not.toContain(otherId);
  expect(result.problems).toEqual([
    `c1: "${organization}" is already part of another open migration; leave this company out, or ask support`,
  ]);
  expect(inFull.problems).toEqual([`c1: "${organization}" is already part of migration ${otherId}`]);
  const problems = ['the details have been corrected'];
  // Texts of another preflight are not shown.
  const texts = await readPreflightTexts(rig.ledger.db, id);
  expect(texts && withNames({ ...result, problems }, texts).problems).toEqual(problems);
  await closeMigration(rig.ledger.db, otherId, 'cancelled');
  const { clientProblems } = await check(id);
  expect(clientProblems).toBeUndefined();
});

test("the migration's state does not contain an application that was not supplied, and the ledger does", async () => {
  const { id } = await rig.migration(['sbx-ok-5'], DIGITS);
  const { result, inFull } = await rig.preflight(id);
  expect(JSON.stringify(result)).not.toContain('the-clients-own');
  const application = { clientId: 'the-clients-own', environment: 'production', suppliedBy: null };
  expect(inFull).toEqual({ ...result, application });
  const texts = await readPreflightTexts(rig.ledger.db, id);
  const own = { clientId: 'own', environment: 'production', suppliedBy: 'Cleo' };
  expect(texts && withNames({ ...result, application: own }, texts).application).toEqual(own);
});

test("the portal and the report do not name another client's migration", async () => {
  const { id, otherId } = await createConflict();
  await check(id);
  const portal = await connectAsPortal(rig.ledger);
  const session = await redeem(portal, (await invite(rig.ledger.db, id)).token);
  const shown = [JSON.stringify(await call(portal, 'companies', session, null, true, null, null, 500))];
  await portal.end();
  const report = await readReport(rig.ledger, id);
  for (const format of REPORT_FORMATS) {
    let text = '';
    for await (const piece of reportPieces(report, format)) text += piece;
    shown.push(text);
  }
  expect(shown).toHaveLength(5);
  for (const text of shown) {
    expect(text).toContain('is already part of another open migration');
    expect(text).not.toContain(otherId);
  }
});
