/** Shows what a decision is about, asks for confirmation, signs it with the person's key, and sends it. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { RequestAnswer } from '../../portal/contract/requests';
import { type MigrationView } from '../../portal/contract/migration-view';
import type { Action, MigrationAnswer } from '../../portal/client/api';
import { readNotMoved } from '../../portal/client/not-moved';
import { isExcluded } from '../../portal/client/personal-texts';
import { sendInParts, signDecision, type DecisionFields } from '../../portal/client/decisions';
import { isOver } from '../../domain/migration/terminated';
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { eitherOf, oneLine } from '../../domain/text/sentences';
import { isPartial } from '../../domain/migration/partial-outcome';
import { confirm, type YesOption } from '../shared/context';
import { CommandFailed } from '../shared/errors';
import { PRINT_NOTHING, type CommandResult, type Output } from '../terminal/output';
import { clause } from './api-errors';
import { confirmAdvice, type Connection } from './connection';
import { commandText, type PortalContext } from './context';
import { eachCompany } from './reading';
import { assertStep, notOffered } from './refusals';
import { signingKeyOf } from './sign-ins';
import { commandOf, inReadersZone } from './summary';

export interface DecideOptions extends YesOption {
  readonly reason?: string;
  /** The digest of the content that the person reviewed earlier. */
  readonly digest?: string;
}

export interface Deciding {
  readonly message: DecisionMessage;
  /** Absent if the decision does not belong to a step, or if it is for the step that the migration offers. */
  readonly step?: string | undefined;
  /** Fields of the decision in addition to those of every decision. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** More facts that the person sees before the confirmation. */
  readonly facts?: readonly string[];
}

/**
 * Asks for confirmation, and sends the decision.
 *
 * @throws CommandFailed
 */
export async function decide(
  context: PortalContext,
  connection: Connection,
  deciding: Deciding,
  options: DecideOptions,
): Promise<CommandResult> {
  const { message, fields = {} } = deciding;
  const action = await review(context, connection, deciding, options);
  const { digest = action.digest, reason } = options;
  const isAboutStep = message === 'approve' || message === 'reject';
  const signed = {
    ...fields,
    ...(digest === undefined ? {} : { digest }),
    ...(reason === undefined ? {} : { reason }),
    ...(isAboutStep && action.step !== undefined ? { step: action.step } : {}),
  };
  let decisionId = '';
  const answer = await sendInParts(
    { message, fields: signed },
    (part) => send(connection, { ...part, decisionId: (decisionId = randomUUID()) }),
    (share) => connection.say(`${Math.round(share * 100)}% sent`),
  );
  return decisionResult(context, connection, { message, decisionId, answer });
}

/** Returns the decision with its signature. */
export function sign({ session, signIn }: Connection, decision: DecisionFields) {
  const key = signingKeyOf(signIn);
  return signDecision(session, { publicKey: key.publicKey, sign: (text) => key.sign(text) }, decision);
}

/** Signs and sends a decision, and waits for its outcome. */
export async function send(connection: Connection, decision: DecisionFields): Promise<RequestAnswer> {
  const signed = await sign(connection, decision);
  return connection.api.submit('/api/decisions', { message: decision.message, decision: signed }, connection.say);
}

/**
 * Shows what the decision is about, and asks for confirmation.
 *
 * @returns the decision as the migration offers it
 * @throws CommandFailed if the person cannot make it, or does not confirm it
 */
export async function review(
  context: PortalContext,
  connection: Connection,
  deciding: Deciding,
  options: DecideOptions,
): Promise<Action> {
  const { output } = context;
  const { view, action } = await offered(context, connection, deciding);
  // Without a terminal, the approvals of steps 2 and 6 require --yes, because they can become final without another
  // decision of the client about them: step 2 when the first company begins to move, step 6 when support approves too.
  const canBecomeFinal =
    action.message === 'approve' && (action.step === 'schedule' || action.step === 'complete-migration');
  const consequence = action.isIrreversible || canBecomeFinal ? clause(inReadersZone(action.consequence)) : null;
  if (!output.json && !(output.quiet && options.yes)) {
    output.line(output.styled('bold', `${action.title}, ${view.migrationId}`));
    for (const fact of [...action.facts, ...(deciding.facts ?? [])]) output.line(`  ${inReadersZone(fact)}`);
    if (action.step === 'complete-migration') await printNotMoved(context, connection, view);
    for (const warning of action.warnings ?? []) output.line(`! ${inReadersZone(warning)}`);
    if (consequence === null) output.line(`  ${inReadersZone(action.consequence)}`);
    output.line();
  }
  const question = `${action.title}${stepOf(action, view)}, as ${connection.session.person}?`;
  const overrides = action.overrides && clause(action.overrides);
  const asked = { question, overrides, consequence, reversible: !action.isIrreversible };
  if (!(await confirm(context, options, asked)))
    throw new CommandFailed(
      'nothing was sent',
      `see the migration with: ${commandText(context, 'show', view.migrationId)}`,
    );
  return action;
}

/** Maximum number of companies shown, because more would scroll the question off the screen. */
const COMPANIES_SHOWN = 20;
/** The longest text about a company, in characters. */
const MAX_COMPANY_LENGTH = 500;

async function printNotMoved(
  context: PortalContext,
  connection: Connection,
  { counts, migrationId }: MigrationView,
): Promise<void> {
  const { output } = context;
  const { companies, more } = await readNotMoved((filter) => eachCompany(connection, filter), counts, COMPANIES_SHOWN);
  for (const { reference, name, why } of companies)
    output.line(
      `  ${output.styled('yellow', reference)} ${oneLine(`${name}: ${inReadersZone(why)}`, MAX_COMPANY_LENGTH)}`,
    );
  if (more > 0)
    output.line(
      `  and ${more.toLocaleString('en-US')} more; list all companies with: ${commandText(context, 'companies', migrationId)}`,
    );
}

/**
 * How long to wait until the view offers a decision. Workers write the view every two seconds, so a decision that has
 * just become possible can still be missing.
 */
const VIEW_WITHIN_MS = 8_000;
const POLL_EVERY_MS = 500;

/**
 * Asserts that the person may decide. A command that asks for a secret or reads a file checks this first.
 *
 * @throws CommandFailed
 */
export function assertMayDecide(
  { role, publicKey, isKeyConfirmed }: Connection['session'],
  view: Pick<MigrationView, 'state' | 'contact'>,
): void {
  if (role !== 'client' || publicKey === null)
    throw new CommandFailed('your invitation is read-only', 'ask your contact for an invitation with the role client');
  if (!isKeyConfirmed && !isOver(view.state))
    throw new CommandFailed('support has not confirmed your key yet', confirmAdvice(view, publicKey));
}

async function offered(
  context: PortalContext,
  { session, readMigration }: Connection,
  { message, step }: Deciding,
): Promise<{ readonly view: MigrationView; readonly action: Action }> {
  assertStep(step);
  const until = Date.now() + VIEW_WITHIN_MS;
  for (;;) {
    const { view }: MigrationAnswer = await readMigration();
    assertMayDecide(session, view);
    const candidates = view.actions.filter((each) => each.message === message);
    const isOfStep = (each: Action): boolean => step === undefined || each.step === undefined || each.step === step;
    const ofStep = candidates.filter(isOfStep);
    const action = ofStep.find(({ isExpected }) => isExpected) ?? ofStep[0];
    const steps = ofStep.filter((each) => each.step !== undefined);
    if (action && !action.isExpected && step === undefined && steps.length > 1)
      throw severalSteps(context, message, view, steps);
    const isForOthers = action !== undefined && isExcluded(session, action);
    if (action && !isForOthers) return { view, action };
    // The view can be older than a decision that has just been made.
    if (Date.now() > until)
      throw isForOthers ? excluded(context, action, view) : notOffered(context, { message, step }, view);
    await delay(POLL_EVERY_MS);
  }
}

/** Returns the error about a decision from which the four-eyes rule excludes the person. */
function excluded(context: PortalContext, { title, excludedPeople = [] }: Action, view: MigrationView): CommandFailed {
  const decision = title.charAt(0).toLowerCase() + title.slice(1);
  return new CommandFailed(
    `under the four-eyes rule, someone other than ${eitherOf(excludedPeople)} must ${decision} for you`,
    `nothing was sent; see what you can do with: ${commandText(context, 'show', view.migrationId)}`,
  );
}

/** Returns an error that lists the command for each step, because a decision without a step could be for any step. */
function severalSteps(
  context: PortalContext,
  message: DecisionMessage,
  view: MigrationView,
  offers: readonly Action[],
): CommandFailed {
  const commands = offers.flatMap((each) => {
    const command = commandOf(each, view);
    const title = each.title.charAt(0).toLowerCase() + each.title.slice(1);
    return command === null ? [] : [`to ${title}: ${commandText(context, command, view.migrationId)}`];
  });
  return new CommandFailed(
    `you can ${message} ${offers.length} steps now, and the command names none`,
    `nothing was sent; name the step; ${commands.join('; ')}`,
  );
}

/** Returns the step of a rejection, in parentheses, to append to the title; empty for other decisions. */
function stepOf({ message, step }: Action, { steps }: MigrationView): string {
  const found = message === 'reject' && steps.find((each) => each.step === step);
  return found ? ` (step ${found.number}, ${found.title.toLowerCase()})` : '';
}

interface Decided {
  readonly message: DecisionMessage;
  readonly decisionId: string;
  readonly answer: RequestAnswer;
}

/** @throws CommandFailed if a worker did not carry out the request, or it is not known whether it did */
export function assertDecided(
  context: PortalContext,
  migrationId: string,
  { outcome, text }: Pick<RequestAnswer, 'outcome' | 'text'>,
): void {
  if (outcome !== 'applied' && outcome !== 'refused')
    throw new CommandFailed(clause(text), `see the migration with: ${commandText(context, 'show', migrationId)}`);
}

/**
 * Returns the result of a command that has sent a decision.
 *
 * @throws CommandFailed if a worker did not carry out the request, or it is not known whether it did
 */
export function decisionResult(
  context: PortalContext,
  { session: { migrationId, publicKey } }: Connection,
  { message, decisionId, answer: { outcome, text } }: Decided,
): CommandResult {
  assertDecided(context, migrationId, { outcome, text });
  const isDone = outcome === 'applied' && !isPartial({ text });
  return {
    failed: !isDone,
    json: { schema: 'ferry.decision/1', migrationId, message, outcome, decisionId, text, signedBy: publicKey },
    ...(isDone ? { printQuietly: PRINT_NOTHING } : {}),
    print: (output) => printOutcome(output, migrationId, { isDone, outcome, text }),
  };
}

interface Outcome extends Pick<RequestAnswer, 'outcome' | 'text'> {
  /** True if the request was applied in full. */
  readonly isDone: boolean;
  readonly isPartlyDone?: boolean;
}

export function printOutcome(
  output: Output,
  migrationId: string,
  { isDone, isPartlyDone, outcome, text }: Outcome,
): void {
  const failed = outcome === 'refused' ? '✗ refused:' : '✗';
  const unfinished = isPartlyDone ? output.styled('yellow', '!') : output.styled('red', failed);
  const mark = isDone ? output.styled('green', '✓') : unfinished;
  output.line(`${mark} ${migrationId}: ${inReadersZone(text)}`);
}
