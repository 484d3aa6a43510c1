/** Makes a decision in the dashboard: shows the content, asks for role, name and reason, and asks for confirmation. */
import { reviewedPauseText } from '../../domain/progress/ledger-behind';
import { isOver } from '../../domain/migration/terminated';
import { pausesIn, type Progress } from '../../domain/progress/progress';
import { digestOfPauses, pauserText } from '../../domain/migration/pauses';
import { isPartial } from '../../domain/migration/partial-outcome';
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { isStep, ROLES, type Role, type Step } from '../../domain/migration/steps';
import { counted, sentence } from '../../domain/text/sentences';
import { refusalForEveryRole } from '../shared/approval-refusal';
import { assertApplicable } from '../shared/applicable-companies';
import { explainMissing } from '../connections/clients';
import {
  approvalConsequence,
  endingConsequence,
  resumeConsequence,
  withdrawalConsequence,
} from '../shared/consequences';
import { CommandFailed, withAdvice } from '../shared/errors';
import { nameRejection } from '../options/person-name';
import { missingDigestWarning } from '../shared/required-digest';
import { assertNoneMoving, readReview, type Review } from '../shared/review';
import { readProgressOrUnanswered, readProgressToResume, type ProgressOrUnanswered } from '../connections/unanswered';
import { decide, MigrationClosed, readProgressIfAnswered, type LedgerClient, type DecisionContent } from '../../client';
import type { Terminal } from '../terminal/terminal';
import { Output } from '../terminal/output';
import { Unanswered, type Prompts } from '../terminal/prompts';
import { inLocalTime } from '../terminal/times';
import { printCut } from './cut-text';
import type { RequestedDecision } from './keys';
import { askNextAttempt } from './next-attempt';
import type { ActionResult } from './state';

interface Person {
  readonly role: Role;
  readonly by: string;
}

/** Contains the role and name that the first dialog suggests. */
export interface DialogContext extends Person {
  readonly ferry: LedgerClient;
  readonly terminal: Terminal;
  readonly prompts: Prompts;
}

/** A decision that is about to be sent. */
interface Draft {
  readonly message: DecisionMessage;
  /** The question for confirmation. */
  readonly question: string;
  /** Says what the person cannot review or does not know, with the reason; absent or undefined if there is nothing. */
  readonly warning?: string | undefined;
  /** The effect of the decision, as a clause; absent or null if none is shown. */
  readonly consequence?: string | null;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly reason: 'required' | 'optional';
}

const NO_DECISION: ActionResult = { outcome: 'nothing', text: 'Nothing was decided.' };

/** Maximum number of companies shown, to leave room for the questions in a terminal of 24 lines. */
const MAX_COMPANIES = 6;

/**
 * Opens the dialogs. Each dialog suggests the role and name that were used last.
 *
 * @returns a function that runs one dialog and returns its result. An error with advice becomes a result; any other
 * error is thrown.
 */
export function openDialogs(
  context: DialogContext,
): (request: RequestedDecision, listedStep: string) => Promise<ActionResult> {
  let lastPerson: Person = { role: context.role, by: context.by };
  return async (request, listedStep) => {
    try {
      const draft = await draftOf(context, request, listedStep);
      lastPerson = await askWho(context.prompts, draft.message, lastPerson);
      const reason = await askReason(context.prompts, draft.reason);
      const output = new Output(context.terminal, false);
      for (const clause of [draft.warning, draft.consequence])
        if (clause !== undefined && clause !== null) output.line(`${sentence(clause)}.`);
      if (!(await context.prompts.confirm(draft.question))) return NO_DECISION;
      const sent: DecisionContent = { ...draft.fields, ...lastPerson, ...(reason === '' ? {} : { reason }) };
      const { outcome, text } = await decide(context.ferry, request.migrationId, draft.message, sent);
      return {
        outcome: outcome === 'applied' && isPartial({ text }) ? 'partial' : outcome,
        text: `${request.migrationId}: ${text}`,
      };
    } catch (error) {
      if (error instanceof Unanswered) return NO_DECISION;
      const advised = withAdvice(
        await explainMissing(context.ferry, error, context.terminal.env),
        context.terminal.env,
      );
      if (!(advised instanceof CommandFailed)) throw advised;
      return { outcome: 'failed', text: `${advised.message.replace(/\.$/, '')}; ${advised.advice}` };
    }
  };
}

/** Names the decision, because the reviews of an approval and of a rejection are the same. */
async function askWho(prompts: Prompts, message: Draft['message'], lastPerson: Person): Promise<Person> {
  const role = await prompts.choose(
    `${sentence(message)}: whose decision is it?`,
    ROLES.map((each) => ({ name: each, value: each })),
    lastPerson.role,
  );
  const by = await prompts.text('What is the name of the person who decides?', {
    ...(role === lastPerson.role ? { defaultAnswer: lastPerson.by } : {}),
    rejection: nameRejection,
  });
  return { role, by };
}

function askReason(prompts: Prompts, reason: Draft['reason']): Promise<string> {
  if (reason === 'optional') return prompts.text('Why? (Enter: no reason)');
  return prompts.text('Why?', { rejection: (answer) => (answer === '' ? 'Enter a reason' : null) });
}

async function draftOf(context: DialogContext, request: RequestedDecision, listedStep: string): Promise<Draft> {
  const { migrationId } = request;
  switch (request.kind) {
    case 'approve':
    case 'reject': {
      const read = await readProgressOrUnanswered(context.ferry, migrationId);
      const { progress, unanswered } = read;
      assertOpen(progress);
      if (progress?.route === 'self-service' || listedStep === 'self-service')
        throw new CommandFailed(
          `there is no step to ${request.kind}, because a self-service migration needs no approvals`,
          `to see what the migration is waiting for, run: ferry show ${migrationId}`,
        );
      const step = progress?.step ?? listedStep;
      if (!isStep(step))
        throw new CommandFailed(
          unanswered?.so('the current step is unknown') ?? 'the current step is unknown',
          unanswered?.remedy ?? `see the migration with: ferry show ${migrationId}`,
        );
      return request.kind === 'approve'
        ? draftApproval(context, read, step, request)
        : draftRejection(context, read, step, request);
    }
    case 'pause':
      return pauseDraft(migrationId);
    case 'resume':
      return draftResume(context, request);
    case 'retry':
      return draftRetry(context, request);
  }
}

/** @throws MigrationClosed if the migration accepts no more decisions, because an answer would make no difference */
function assertOpen(progress: Progress | undefined): void {
  if (progress && isOver(progress.state)) throw new MigrationClosed(progress.migrationId, progress.state);
}

/**
 * Drafts the decision to resume, after showing who paused the migration. If the migration has paused itself and support
 * has not paused it, also offers to pause it.
 */
async function draftResume(
  { ferry, prompts, terminal }: DialogContext,
  { migrationId }: RequestedDecision,
): Promise<Draft> {
  const { progress, unanswered } = await readProgressToResume(ferry, migrationId);
  assertOpen(progress);
  const pauses = progress ? pausesIn(progress) : [];
  printCut(terminal, `ferry show ${migrationId}`, (output) => {
    if (progress) for (const each of pauses) output.line(`Paused ${inLocalTime(reviewedPauseText(progress, each))}`);
  });
  const canPause =
    pauses.some(({ stopReason }) => stopReason !== null) && !pauses.some(({ role }) => role === 'support');
  const chosen = canPause
    ? await prompts.choose('Resume the migration, or add a pause of your own?', [
        { name: 'resume', value: 'resume' },
        { name: 'add a pause', value: 'pause' },
      ])
    : 'resume';
  if (chosen === 'pause') return pauseDraft(migrationId);
  const people = pauses.filter(({ stopReason }) => stopReason === null).map(pauserText);
  const also =
    people.length === 0 ? '' : ` and lift the ${people.length === 1 ? 'pause' : 'pauses'} of ${people.join(' and ')}`;
  const fields = pauses.length === 0 ? {} : { digest: digestOfPauses(pauses) };
  const warning = unanswered?.so('it is unknown who has paused the migration');
  // Conditional: the role is not known yet, and in the managed route a resume by the client keeps an automatic pause.
  const accepted = resumeConsequence(progress);
  const consequence = accepted && `if no pause remains, ${accepted}`;
  const question = `Resume ${migrationId}${also}?`;
  return { message: 'resume', question, warning, consequence, fields, reason: 'optional' };
}

const pauseDraft = (migrationId: string): Draft => ({
  ...{ message: 'pause', question: `Pause ${migrationId}?` },
  ...{ fields: {}, reason: 'optional' },
});

/** Names the migration and the number of its companies, because a keystroke can have selected the wrong migration. */
function subjectOf(migrationId: string, progress: Progress | undefined): string {
  return progress ? `${migrationId}, ${counted(progress.counts.total, 'company')}` : migrationId;
}

/**
 * Binds the approval to the digest of the shown content. Without an answer about the progress, there is no content and
 * no digest. The dialog then says so, with the reason.
 */
async function draftApproval(
  context: DialogContext,
  { progress, unanswered }: ProgressOrUnanswered,
  step: Step,
  { migrationId }: RequestedDecision,
): Promise<Draft> {
  const impossible = progress ? refusalForEveryRole(progress, step) : null;
  if (impossible !== null)
    throw new CommandFailed(impossible, `to see what the migration is waiting for, run: ferry show ${migrationId}`);
  const review = progress && (await readReview(context.ferry, progress, step, MAX_COMPANIES));
  if (review) {
    printReview(context.terminal, review, migrationId);
    assertNoneMoving(review, progress);
  }
  const refused = unanswered && (await missingDigestWarning(context.ferry, migrationId, 'approval', unanswered));
  const warnings = unanswered && [
    unanswered.so('you cannot review what you approve'),
    ...(refused ? [sentence(refused)] : []),
  ];
  return {
    message: 'approve',
    question: `${subjectOf(migrationId, progress)}: approve ${step}${review ? '' : ' without a review'}?`,
    warning: warnings?.join('. '),
    consequence: approvalConsequence(step, progress),
    fields: { step, ...(review ? { digest: review.digest } : {}) },
    reason: 'optional',
  };
}

function printReview(terminal: Terminal, review: Review, migrationId: string): void {
  const command = review.step === 'complete-migration' ? `report ${migrationId}` : `show ${migrationId} --evidence`;
  printCut(terminal, `ferry ${command}`, (output) => review.print(output));
}

async function draftRejection(
  { ferry, prompts, terminal }: DialogContext,
  { progress, unanswered }: ProgressOrUnanswered,
  step: Step,
  { migrationId }: RequestedDecision,
): Promise<Draft> {
  const review = progress && (await readReview(ferry, progress, step, MAX_COMPANIES));
  if (review) printReview(terminal, review, migrationId);
  const nextAttempt =
    step === 'migrate-first-company' ? await askNextAttempt(ferry, prompts, migrationId, progress) : {};
  const question = `${subjectOf(migrationId, progress)}: reject ${step}?`;
  const isAbandoned = nextAttempt['next'] === 'abandon';
  const consequence = isAbandoned ? `this cannot be undone: ${endingConsequence(progress)}` : null;
  const warning = unanswered?.so('you cannot review what you reject');
  return { message: 'reject', question, warning, consequence, fields: { step, ...nextAttempt }, reason: 'required' };
}

/** Drafts a retry. Says which sign-offs it withdraws, and refuses it for companies that it cannot help. */
async function draftRetry(
  { ferry, prompts }: DialogContext,
  { migrationId, reference }: RequestedDecision,
): Promise<Draft> {
  const selected = reference === undefined ? [] : [{ name: companyText(reference), value: reference }];
  const chosen =
    selected.length === 0
      ? ALL_TO_RETRY.value
      : await prompts.choose('Which companies?', [...selected, ALL_TO_RETRY], reference);
  const isAll = chosen === ALL_TO_RETRY.value;
  const companies = isAll ? 'all' : [chosen];
  const progress = await readProgressIfAnswered(ferry, migrationId);
  assertOpen(progress);
  await assertApplicable(ferry.db, migrationId, { name: 'retry', message: 'retry' }, companies);
  return {
    message: 'retry',
    question: `In ${migrationId}, retry ${isAll ? ALL_TO_RETRY.name : companyText(chosen)}?`,
    consequence: withdrawalConsequence(progress),
    fields: { companies },
    reason: 'optional',
  };
}

/** Names one company. Without the word `company`, the reference `all` would look like all companies. */
const companyText = (reference: string): string => `company ${reference}`;

const ALL_TO_RETRY = {
  name: 'all companies that a retry can help',
  /** Empty, because no company has an empty reference, but a company can have the reference `all`. */
  value: '',
};
