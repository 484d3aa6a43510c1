/** Stages the parts of a manifest that the client sends through the portal, until a decision supplies the manifest. */
import { suppliedRowProblem } from '../../domain/supply/supplied-rows';
import { counted, oneLine } from '../../domain/text/sentences';
import { findPlatform } from '../../platforms/platforms';
import { ManifestPartSchema, type RequestAnswer } from '../../portal/contract/requests';
import { readMigration, readOutcome, readRecordedDecisions, stageManifest, type PortalRequest } from '../../store';
import { failed, type PortalContext } from './context';
import { KEY_NOT_CONFIRMED } from './decisions';

/**
 * Stages a part of a manifest. Checks each row again, because a person can send anything to the portal. The ledger
 * compares all rows with the decision when it records the decision. Idempotent.
 */
export async function storeManifestPart({ ferry }: PortalContext, request: PortalRequest): Promise<RequestAnswer> {
  const { db } = ferry;
  const { migrationId, person, role, isKeyConfirmed } = request;
  if (role !== 'client') return failed(`the invitation of ${person} is read-only`);
  if (!isKeyConfirmed) return failed(KEY_NOT_CONFIRMED);
  const parsed = ManifestPartSchema.safeParse(request.body);
  if (!parsed.success) return failed('the rows of the manifest are malformed; reload the page, or update ferry');
  const { decisionId, part, rows } = parsed.data;
  const migration = await readMigration(db, migrationId);
  const platform = migration && findPlatform(migration.platformKey);
  if (!platform) return failed('the migration does not accept a manifest; ask your contact');
  if (migration.route === 'self-service')
    return failed('the manifest of a self-service migration is supplied at the start; ask your contact to change it');
  // The ledger would refuse the decision in any case. This check avoids storing rows that nothing will use.
  const { approvals } = await readRecordedDecisions(db, migrationId);
  if (approvals.some(({ step }) => step === 'supply-details'))
    return failed('support has accepted the details, so the manifest cannot be replaced; call support to change it');
  for (const row of rows) {
    const problem = suppliedRowProblem(row, platform);
    if (problem !== null) return failed(`${oneLine(row.reference, 100)}: ${problem}`);
  }
  if (await readOutcome(db, migrationId, decisionId))
    return failed(
      'these rows were not stored, because the migration has already answered the decision about this manifest; if the migration does not show the manifest, supply it again',
    );
  await stageManifest(db, migrationId, { decisionId, part, rows }, person);
  return { outcome: 'stored', text: `${counted(rows.length, 'row')} stored`, stored: rows.length };
}
