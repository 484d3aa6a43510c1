/** Says who can make a decision that was refused because it was not signed. */
import { signingRules } from '../../domain/migration/approvers';
import { isUnsignedRefusal } from '../../domain/migration/signatures';
import { roleText, type Role } from '../../domain/migration/steps';
import { eitherOf } from '../../domain/text/sentences';
import type { MigrationClient } from '../../client';
import { readMigration, readRecordedDecisions } from '../../store';
import { readClientPortal } from './client-portal';

interface Refusal {
  readonly outcome: string;
  readonly text: string;
}

/**
 * Returns advice about the refusal, as a sentence without a full stop; null if the decision was not refused for a
 * missing signature.
 */
export async function signingAdvice(
  { db, portalUrl }: MigrationClient,
  migrationId: string,
  role: Role,
  { outcome, text }: Refusal,
): Promise<string | null> {
  if (outcome !== 'refused' || !isUnsignedRefusal(text)) return null;
  const portal = db && role === 'client' ? await readClientPortal({ db, portalUrl }, migrationId) : null;
  if (portal !== null)
    return `the client signs it on the page of the portal, or with a command from: ferry --portal ${portal} show ${migrationId}`;
  const how = 'with their own key, on the machine where TOKENFERRY_SIGNING_KEY_FILE names it';
  if (!db) return `an approver signs it ${how}`;
  const [migration, { approverChanges }] = await Promise.all([
    readMigration(db, migrationId),
    readRecordedDecisions(db, migrationId),
  ]);
  const { approvers } = signingRules(migration?.rules?.approvers ?? null, approverChanges);
  const people = new Set(approvers.filter((each) => each.role === role).map(({ by }) => by));
  return people.size === 0
    ? `no approver for ${roleText(role)} has been added yet; invite one with: ferry invite ${migrationId} --name "name of the person"`
    : `${eitherOf([...people])} signs it ${how}`;
}
