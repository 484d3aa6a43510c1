import { isEnding } from '../../../domain/migration/migration-state';
import { roleRefusal } from '../../../domain/decisions/roles';
import { roleText, STEP_RULES, STEPS, type Role, type Step } from '../../../domain/migration/steps';
import { isStepDone, type Progress } from '../../../domain/progress/progress';
import {
  addAnotherText,
  excludedPeople,
  needsAnotherApprover,
  otherPersonText,
} from '../../../domain/progress/four-eyes';
import { checkAgainCommand } from '../../../domain/preflight/preflight';
import { eitherOf } from '../../../domain/text/sentences';
import { checkReconnected, type MigrationClient } from '../../../client';
import { clientCommand, readSigningPortal, throughPortal } from '../../connections/client-portal';
import { withMigrationClient } from '../../connections/clients';
import { addYesOption, confirm, type Context, type YesOption } from '../../shared/context';
import { approvalRefusal } from '../../shared/approval-refusal';
import { approvalConsequence } from '../../shared/consequences';
import {
  actorFrom,
  addDecisionOptions,
  contentFrom,
  parseStep,
  sendDecision,
  type DecisionOptions,
} from '../../shared/decisions';
import { CommandFailed } from '../../shared/errors';
import { byClient, bySupport } from '../../suggestions/remedy-commands';
import { missingDigestWarning } from '../../shared/required-digest';
import { assertNoneMoving, readReview } from '../../shared/review';
import { currentStep, readProgressOrUnanswered, type ProgressOrUnanswered } from '../../connections/unanswered';
import { withMoreText, type CommandResult } from '../../terminal/output';

interface ApproveOptions extends DecisionOptions, YesOption {
  readonly digest?: string;
  readonly evidence?: true;
}

/**
 * `ferry approve`, `ferry sign-off`: shows the content to approve, asks for confirmation, and sends the approval with
 * the digest of this content.
 */
export function addApprove(context: Context): void {
  const { program, run, now } = context;
  const addOptions = (command: ReturnType<typeof program.command>) =>
    addYesOption(addDecisionOptions(command, now)).option(
      '--digest <digest>',
      'digest of what you reviewed, as ferry show prints it with --json; the approval is refused if the digest has changed',
    );

  addOptions(program.command('approve <migration> [step]').description('Approve a step (default: the current step)'))
    .option(
      '--evidence',
      'list every check of the first company, with its correlation id, in the review of migrate-first-company',
    )
    .action((migration: string, step: string | undefined, options: ApproveOptions) =>
      run(() => approve(context, migration, step === undefined ? undefined : parseStep(step), options)),
    );

  addOptions(
    program
      .command('sign-off <migration>')
      .description('Sign off the handover: accept which companies were moved, and which were not'),
  ).action((migration: string, options: ApproveOptions) =>
    run(() => approve(context, migration, 'complete-migration', options)),
  );
}

const STEPS_TO_APPROVE = STEPS.filter((step) => STEP_RULES[step].approvers.length > 0);

function approve(
  { output, terminal }: Context,
  migrationId: string,
  requestedStep: Step | undefined,
  options: ApproveOptions,
): Promise<CommandResult> {
  return withMigrationClient(terminal.env, async (ferry) => {
    const read = await readCurrentProgress(ferry, migrationId, requestedStep);
    const { progress, unanswered } = read;
    const step = requestedStep ?? currentStep(read, STEPS_TO_APPROVE);
    const portal = await readSigningPortal(ferry, progress);
    const refusedAs = progress && refusalHint(progress, step, options, portal);
    if (refusedAs !== undefined)
      return withHint(await sendDecision(ferry, migrationId, 'approve', { step, ...contentFrom(options) }), refusedAs);
    const { digest } = options;
    const content = { step, ...contentFrom(options), ...(digest === undefined ? {} : { digest }) };
    // Without a worker there is nothing to review, so the approval has no digest unless `--digest` was given. Temporal
    // keeps the approval until a worker runs.
    const review = progress && (await readReview(ferry, progress, step));
    if (!output.json && !(output.quiet && options.yes)) review?.print(output, options.evidence);
    if (review) assertNoneMoving(review, progress);
    const other = progress && roleSoFar(progress, options);
    if (other)
      output.warn(
        `note: ${options.by} now approves as ${options.as}, but has approved or proposed only as ${other} so far; to approve as ${other} instead, add --as ${other}`,
      );
    const others = progress && othersText(progress, step, options, portal);
    if (unanswered) {
      output.warn(unanswered.so('you cannot review what you approve'));
      const refused =
        digest === undefined ? await missingDigestWarning(ferry, migrationId, 'approval', unanswered) : null;
      if (refused !== null) output.warn(refused);
    }
    const question = `Approve ${step} as ${options.as} (${options.by})${review ? '' : ' without a review'}?`;
    const consequence = approvalConsequence(step, progress);
    // The migration will refuse the approval with a reason, so the answer to the question would make no difference.
    const isRefused =
      progress !== undefined &&
      (hasProblems(progress, step) || others != null || approvalRefusal(progress, step, actorFrom(options)) !== null);
    if (!isRefused && !(await confirm({ output, terminal }, options, { question, consequence, reversible: true }))) {
      const when = unanswered ? `${unanswered.once}, ` : '';
      throw new CommandFailed('nothing was decided', `${when}review the migration with: ferry show ${migrationId}`);
    }
    const fields = { ...(review && { digest: review.digest }), ...content };
    const result = await sendDecision(ferry, migrationId, 'approve', fields);
    const hint = others ?? (progress && hasProblems(progress, step) ? checkAgainHint(migrationId) : null);
    return hint === null ? result : withHint(result, hint);
  });
}

/**
 * Reads the progress, or the reason why there is no answer. For a sign-off, first checks whether end customers have
 * reconnected.
 */
async function readCurrentProgress(
  ferry: MigrationClient,
  migrationId: string,
  requestedStep: Step | undefined,
): Promise<ProgressOrUnanswered> {
  const read = await readProgressOrUnanswered(ferry, migrationId);
  const { progress } = read;
  if (progress === undefined || (requestedStep ?? progress.step) !== 'complete-migration') return read;
  return { progress: await checkReconnected(ferry, progress), unanswered: undefined };
}

/**
 * Returns what to do instead of an approval that the migration will refuse because it has ended, or because this role
 * does not approve this step on this route. Such an approval is sent without a review. Returns undefined for any other
 * approval.
 */
function refusalHint(
  progress: Progress,
  step: Step,
  options: ApproveOptions,
  portal: string | null,
): string | undefined {
  const { migrationId: id, route, state } = progress;
  if (state === 'terminated') return `to close the migration, run: ferry sweep --close ${id}`;
  if (isEnding(state)) return `to see the outcome of the migration, run: ferry report ${id}`;
  if (roleRefusal(route, approvalOf(step, options)) === null) return undefined;
  const { approvers } = STEP_RULES[step];
  const isConfirmed = approvers.length === 0 && progress.counts.unconfirmed === 0;
  if (route === 'self-service' || isConfirmed || isStepDone(progress, step))
    return `to see what the migration is waiting for, run: ferry show ${id}`;
  if (approvers.length === 0) {
    const { command } = byClient(`ferry confirm-sync-disabled ${id} --all`);
    return `once syncing is off, the client confirms it with: ${clientCommand(command, portal)}`;
  }
  const commands = approvers.map((role) => (role === 'client' ? byClient : bySupport)(`ferry approve ${id} ${step}`));
  return throughPortal(commands, portal)
    .map(({ who, command }) => `${who} approves the step with: ${command}`)
    .join('; ');
}

function withHint(result: CommandResult, hint: string): CommandResult {
  return withMoreText(result, (output) => {
    if (result.failed) output.line(`  ${hint}`);
  });
}

/** Says who else can approve if the four-eyes rule refuses this person's approval; null if it does not. */
function othersText(
  progress: Progress,
  step: Step,
  { as: role, by }: ApproveOptions,
  portal: string | null,
): string | null {
  // The approval of a step that is done is refused for another reason.
  if (isStepDone(progress, step) || otherPersonText(progress, { step, role, by }) === null) return null;
  if (needsAnotherApprover(progress, step, role))
    return `four-eyes rule: no approver for ${roleText(role)} can approve the step; ${addAnotherText(progress, step, role)}`;
  const excluded = eitherOf(excludedPeople(progress, step, role));
  const approval = `ferry approve ${progress.migrationId} ${step}`;
  const own = role === 'client' ? byClient(approval) : bySupport(`${approval} --by "your name"`);
  const commands = throughPortal([own], portal).map(({ command }) => command);
  return `four-eyes rule: someone other than ${excluded} approves the step as ${role} with: ${commands.join('; ')}`;
}

const approvalOf = (step: Step, options: ApproveOptions) =>
  ({ kind: 'step', verdict: 'approve', step, ...actorFrom(options), decisionId: '' }) as const;

function hasProblems({ step: current, preflight }: Progress, step: Step): boolean {
  return step === 'supply-details' && current === step && (preflight?.problems.length ?? 0) > 0;
}

const checkAgainHint = (migrationId: string): string =>
  `after a correction made elsewhere, for example an application registered through another migration, check the details again with: ${checkAgainCommand(migrationId)}`;

/** Returns the other role if the person has acted only in that role so far; null otherwise. */
function roleSoFar({ proposal, steps }: Progress, { as: role, by }: ApproveOptions): Role | null {
  const acted = [...(proposal ? [proposal] : []), ...steps.flatMap(({ approvals }) => approvals)];
  const roles = acted.filter((each) => each.by === by).map((each) => each.role);
  return roles.includes(role) ? null : (roles[0] ?? null);
}
