/** Says who can make a decision that was refused because it was not signed. */
import { fourEyesRefusal } from '../../domain/decisions/guards';
import { roleRefusal } from '../../domain/decisions/roles';
import { parseDecision, type DecisionMessage } from '../../domain/migration/parse-decision';
import { isUnsignedRefusal } from '../../domain/migration/signatures';
import { roleText, type Role } from '../../domain/migration/steps';
import { addApproverCommand } from '../../domain/progress/four-eyes';
import { eitherOf } from '../../domain/text/sentences';
import type { DecisionContent, MigrationClient } from '../../client';
import {
  listInvitations,
  readApplications,
  readMigration,
  readOpenPause,
  readRecordedDecisions,
  type Database,
} from '../../store';
import { readClientPortal, readSigningRules } from '../connections/client-portal';
import { isUnconfirmed } from '../shared/invitations';
import { AS_CLIENT, remedyCommand } from './remedy-commands';

/** Says who can make a decision that would be refused because of its signature, or because it is not signed. */
export async function adviceToSign(
  ferry: MigrationClient,
  migrationId: string,
  content: DecisionContent,
  { problem, message }: { readonly problem: string; readonly message: DecisionMessage },
): Promise<string> {
  const advice = await signingAdvice(ferry, migrationId, content, { outcome: 'refused', text: problem }, message);
  return (
    advice ??
    `an approver for ${roleText(content.role)} must run the command with their own signing key (TOKENFERRY_SIGNING_KEY_FILE)`
  );
}

interface Refusal {
  readonly outcome: string;
  readonly text: string;
}

/** Says what support does if the portal does not offer a decision, with the command; null if the portal offers it. */
async function adviceForSupport(db: Database, migrationId: string, message: DecisionMessage): Promise<string | null> {
  if (message === 'manifestAmended')
    return `the portal does not offer this decision; support makes it with: ferry amend ${migrationId} companies.csv`;
  const migration = message === 'applicationSupplied' ? await readMigration(db, migrationId) : undefined;
  if (!migration) return null;
  // The portal offers `applicationSupplied` only in step 1, or while a refused application pauses the migration.
  if ((await readOpenPause(db, migrationId))?.stop === 'application-refused') return null;
  if (migration.released === 'nothing') {
    const { approvals } = await readRecordedDecisions(db, migrationId);
    if (!approvals.some(({ step }) => step === 'supply-details')) return null;
    return `the portal offers this decision again once support has opened step 1 again with: ferry reject ${migrationId} supply-details --reason "why"`;
  }
  const application = (await readApplications(db, migration)).supplied;
  return `the portal does not offer this decision now; support makes it with: ${remedyCommand('application', { ...migration, application }, []).replace(AS_CLIENT, '')}`;
}

/** Returns why the role cannot make the decision, even with a signature; null if it can. */
async function refusalOfRole(
  db: Database,
  migrationId: string,
  message: DecisionMessage,
  content: DecisionContent,
): Promise<string | null> {
  const migration = await readMigration(db, migrationId);
  const parsed = parseDecision(message, content, () => '');
  return migration === undefined || 'malformed' in parsed ? null : roleRefusal(migration.route, parsed.decision);
}

/**
 * Returns advice about the refusal, as a sentence without a full stop; null if the decision was not refused for a
 * missing signature.
 */
export async function signingAdvice(
  { db, portalUrl }: MigrationClient,
  migrationId: string,
  content: DecisionContent,
  { outcome, text }: Refusal,
  message?: DecisionMessage,
): Promise<string | null> {
  if (outcome !== 'refused' || !isUnsignedRefusal(text)) return null;
  const { role } = content;
  const roleProblem = db && message ? await refusalOfRole(db, migrationId, message, content) : null;
  if (roleProblem !== null) return roleProblem;
  const portal = db && role === 'client' ? await readClientPortal({ db, portalUrl }, migrationId) : null;
  const forSupport = db && portal !== null && message ? await adviceForSupport(db, migrationId, message) : null;
  if (forSupport !== null) return forSupport;
  if (portal !== null)
    return `the client must make this decision on the page of the portal, or with ferry --portal; to see the command, the client runs: ferry --portal ${portal} show ${migrationId}`;
  const signedBy = (who: string): string =>
    `to sign the decision, ${who} must run the command on their own machine, where their signing key is (TOKENFERRY_SIGNING_KEY_FILE)`;
  if (!db) return signedBy('an approver');
  const { approvers } = await readSigningRules(db, migrationId);
  const people = [...new Set(approvers.filter((each) => each.role === role).map(({ by }) => by))];
  if (people.length === 0)
    return `no approver for ${roleText(role)} has been added yet; ${await howToAddApprover({ db, portalUrl }, migrationId, role)}`;
  const able = message ? await notExcluded(db, migrationId, message, content, people) : people;
  return able.length === 0
    ? `the four-eyes rule excludes every approver for ${roleText(role)} from this step; add another with: ${addApproverCommand(migrationId, role)}`
    : signedBy(eitherOf(able));
}

/** Returns the people whose decision the four-eyes rule does not refuse. */
async function notExcluded(
  db: Database,
  migrationId: string,
  message: DecisionMessage,
  content: DecisionContent,
  people: readonly string[],
): Promise<readonly string[]> {
  const migration = await readMigration(db, migrationId);
  const parsed = parseDecision(message, content, () => '');
  if (!migration?.rules?.fourEyes || 'malformed' in parsed) return people;
  const { decision } = parsed;
  if (decision.kind !== 'step' || decision.verdict !== 'approve') return people;
  const recorded = await readRecordedDecisions(db, migrationId);
  const earlier = { ...recorded, suppliers: [migration.suppliedBy, ...recorded.suppliers] };
  return people.filter((by) => fourEyesRefusal({ ...decision, by }, earlier) === null);
}

/** Says how support adds the first approver for a role: by an invitation to the portal, if a portal is configured. */
async function howToAddApprover(
  { db, portalUrl }: { readonly db: Database; readonly portalUrl: string | undefined },
  migrationId: string,
  role: Role,
): Promise<string> {
  if ((await listInvitations(db, migrationId)).some(isUnconfirmed))
    return `to see how to confirm the key of an invited person, run: ferry invite --list ${migrationId}`;
  return portalUrl === undefined
    ? `a person creates a key with: ferry keys create; then support adds the key with: ferry approver add ${migrationId} "${role}:name:key"`
    : `invite a person with: ferry invite ${migrationId} --name "name of the person"`;
}
