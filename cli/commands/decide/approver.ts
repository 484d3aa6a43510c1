import { InvalidArgumentError } from 'commander';
import { approverRefusal, removalDeadlock } from '../../../domain/decisions/approver-changes';
import {
  approverFingerprint,
  approverWithKey,
  everyApprover,
  signingRules,
  type Approver,
} from '../../../domain/migration/approvers';
import { roleText } from '../../../domain/migration/steps';
import { addApproverCommand } from '../../../domain/progress/four-eyes';
import {
  findInvitationByFingerprint,
  listInvitations,
  markKeyConfirmed,
  readRecordedDecisions,
  revokeInvitation,
  type Invitation,
} from '../../../store';
import { signatureProblem, type LedgerClient } from '../../../client';
import { readOpenMigration, withLedgerClient } from '../../connections/clients';
import { addYesOption, confirm, type Context, type YesOption } from '../../shared/context';
import { DEFAULT_BY, sendDecision } from '../../shared/decisions';
import { CommandFailed } from '../../shared/errors';
import { unsignedDecisionsText, verificationCommands } from '../../reporting/trail-approvers';
import { parseApprover, parseFingerprint } from '../../options/options';
import { adviceToSign } from '../../suggestions/signing-advice';
import { withMoreText, type CommandResult } from '../../terminal/output';

interface ApproverOptions extends YesOption {
  readonly by: string;
  readonly reason?: string;
}

/** A key as given on the command line: its fingerprint, or the complete key with its role and name. */
type NamedKey = { readonly fingerprint: string } | { readonly approver: Approver };

interface ApproverRequest {
  readonly migration: string;
  readonly key: NamedKey;
  readonly options: ApproverOptions;
}

/** `ferry approver add` and `ferry approver remove`. */
export function addApprover(context: Context): void {
  const { program, run, terminal } = context;
  const group = program
    .command('approver')
    .description('Add and remove the people whose signed decisions are accepted');
  const add = group
    .command('add')
    .description(
      'Accept decisions that a person signs with this key. First ask this person by phone for the fingerprint of the key',
    );
  const remove = group
    .command('remove')
    .description(
      'Stop accepting decisions that are signed with this key, for example because its owner has left or lost the device. If the owner registered the key in the portal, this also revokes the invitation of the owner',
    );
  for (const [command, action] of [
    [add, addKey],
    [remove, removeKey],
  ] as const) {
    const withArguments = command
      .argument('<migration>')
      .argument('<key>', 'fingerprint of the key, or role:name:key as printed by ferry keys create', parseKey)
      .option('--by <name>', `name of the person at support who decides ${DEFAULT_BY}`)
      .option('--reason <text>', 'reason for the decision; the audit trail records it');
    addYesOption(withArguments).action((migration: string, key: NamedKey, options: ApproverOptions) =>
      run(() => withLedgerClient(terminal.env, (ferry) => action(context, ferry, { migration, key, options }))),
    );
  }
}

function parseKey(text: string): NamedKey {
  const fingerprint = parseFingerprint(text);
  if (fingerprint !== null) return { fingerprint };
  if (!text.includes(':'))
    throw new InvalidArgumentError(
      'Expected a fingerprint (eight groups of four characters, 0-9 and a-f), or role:name:key.',
    );
  return { approver: parseApprover(text) };
}

/** Adds an approver, and marks the key of their invitation to the portal as confirmed. */
async function addKey(context: Context, ferry: LedgerClient, request: ApproverRequest): Promise<CommandResult> {
  const { migration: id, key } = request;
  const { before, content } = await prepare(ferry, 'addApprover', request, (approvers) =>
    'approver' in key ? key.approver : keyOfInvitation(ferry, id, key.fingerprint, approvers),
  );
  const { approver } = content;
  const isFirst = !before.mustSign.includes(approver.role);
  const accepted = await confirm(context, request.options, {
    question: `Has ${approver.by} told you this fingerprint: ${approverFingerprint(approver)}?`,
    // Adding the first approver of a role cannot be undone, because the last key of a role cannot be removed.
    consequence: isFirst
      ? `from now on, ${id} accepts decisions of ${roleText(approver.role)} only if an approver has signed them`
      : null,
  });
  if (!accepted)
    throw new CommandFailed(
      'nothing was changed',
      `ask ${approver.by} for the fingerprint by phone; if it is the same, run the command again`,
    );
  const result = await sendDecision(ferry, id, 'addApprover', content);
  if (result.json['outcome'] !== 'applied') return result;
  for (const invitation of await invitationsOf(ferry, id, approver)) await markKeyConfirmed(ferry.db, invitation.id);
  return withMoreText(result, (output) => {
    output.line(
      '  Keep the fingerprint. To verify later what was signed with this key and the keys added before it, run:',
    );
    for (const each of verificationCommands(id, [...before.everyApprover, approver])) output.line(`  ${each}`);
    if (isFirst) output.line(`  ${unsignedDecisionsText(approver.role)}`);
    output.line('  If you add another key, print these commands again, with all keys:');
    output.line(`  ferry invite --list ${id}`);
  });
}

/** Removes an approver, and revokes their invitation to the portal, because a lost device can still be signed in. */
async function removeKey(context: Context, ferry: LedgerClient, request: ApproverRequest): Promise<CommandResult> {
  const { migration: id, key, options } = request;
  const { content } = await prepare(ferry, 'removeApprover', request, (approvers) => {
    const found =
      'approver' in key
        ? approverWithKey(approvers, key.approver.publicKey)
        : approvers.find((each) => approverFingerprint(each) === key.fingerprint);
    if (found) return found;
    const known = approvers.map((each) => `${each.by} (${each.role}) ${approverFingerprint(each)}`);
    throw new CommandFailed(
      `no approver of ${id} has this key`,
      known.length === 0 ? 'the migration has no approvers' : `the approvers of the migration: ${known.join(', ')}`,
    );
  });
  const { approver } = content;
  const isInvited = (await invitationsOf(ferry, id, approver)).length > 0;
  const revokes = isInvited ? `, and revoke the invitation of ${approver.by} to the portal` : '';
  const accepted = await confirm(context, options, {
    question: `From now on, refuse decisions that are signed with the key ${approverFingerprint(approver)} of ${approver.by} (${approver.role})${revokes}?`,
    consequence: null,
  });
  if (!accepted)
    throw new CommandFailed('nothing was changed', `to stop moves while you decide, run: ferry pause ${id}`);
  const result = await sendDecision(ferry, id, 'removeApprover', content);
  if (result.json['outcome'] !== 'applied') return result;
  const invitations = await invitationsOf(ferry, id, approver);
  for (const invitation of invitations) await revokeInvitation(ferry.db, invitation.id, options.by);
  if (invitations.length === 0) return result;
  return withMoreText(result, (output) =>
    output.line(`  The invitation of ${approver.by} to the portal was revoked, and its sessions have ended.`),
  );
}

/**
 * Returns the content of the decision, and the signing rules that apply before it.
 *
 * @throws CommandFailed if the migration would refuse the decision
 */
async function prepare(
  ferry: LedgerClient,
  message: 'addApprover' | 'removeApprover',
  { migration: id, options: { by, reason } }: ApproverRequest,
  find: (approvers: readonly Approver[]) => Approver | Promise<Approver>,
) {
  const { migration } = await readOpenMigration(
    ferry,
    id,
    () => 'nothing was changed; approvers can be added or removed only until the migration ends',
  );
  const recorded = await readRecordedDecisions(ferry.db, id);
  const { approverChanges } = recorded;
  const atStart = migration.rules?.approvers ?? null;
  const before = { ...signingRules(atStart, approverChanges), everyApprover: everyApprover(atStart, approverChanges) };
  const approver = await find(before.approvers);
  const content = { role: 'support' as const, by, approver, ...(reason === undefined ? {} : { reason }) };
  const kind = message === 'addApprover' ? 'add-approver' : 'remove-approver';
  const refusal = approverRefusal({ kind, decisionId: '', ...content }, before);
  if (refusal !== null) throw new CommandFailed(refusal, 'nothing was changed');
  const { rules, suppliedBy } = migration;
  const earlier = { ...recorded, suppliers: [suppliedBy, ...recorded.suppliers] };
  const deadlock = message === 'removeApprover' && rules ? removalDeadlock(rules, before, approver, earlier) : null;
  if (deadlock !== null)
    throw new CommandFailed(
      deadlock,
      `nothing was changed; to add an approver, run: ${addApproverCommand(id, approver.role)}`,
    );
  const problem = await signatureProblem(ferry, migration, message, content);
  if (problem !== null) {
    const advice = await adviceToSign(ferry, id, content, { problem, message });
    throw new CommandFailed(problem, `nothing was changed; ${advice}`);
  }
  return { before, content };
}

/**
 * Returns the approver who owns a key: a person at the client who registered it with an invitation, or an existing
 * approver.
 *
 * @throws CommandFailed if the key is not known
 */
async function keyOfInvitation(
  { db }: LedgerClient,
  migrationId: string,
  fingerprint: string,
  approvers: readonly Approver[],
): Promise<Approver> {
  const invitation = await findInvitationByFingerprint(db, migrationId, fingerprint);
  if (invitation?.publicKey != null && invitation.role === 'client')
    return { role: 'client', by: invitation.person, publicKey: invitation.publicKey };
  const known = approvers.find((each) => approverFingerprint(each) === fingerprint);
  if (known) return known;
  throw new CommandFailed(
    `no valid invitation to ${migrationId} has a key with this fingerprint`,
    'ask the person for the fingerprint again; if this person does not use the portal, pass role:name:key',
  );
}

async function invitationsOf(
  { db }: LedgerClient,
  migrationId: string,
  { publicKey }: Approver,
): Promise<readonly Invitation[]> {
  const invitations = await listInvitations(db, migrationId);
  return invitations.filter((each) => each.publicKey === publicKey && each.revokedAt === null);
}
