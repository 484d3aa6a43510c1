import type { NextAfterRejection } from '../../../domain/migration/decision';
import type { Step } from '../../../domain/migration/steps';
import { STEPS, stepText } from '../../../domain/migration/steps';
import { isOver } from '../../../domain/migration/terminated';
import type { MigrationClient } from '../../../client';
import { firstOpening } from '../../../domain/progress/first-opening';
import { readProgressIfAnswered } from '../../../client';
import { exampleTime, parseTime } from '../../terminal/times';
import { withMigrationClient } from '../../shared/clients';
import { endingConsequence } from '../../shared/consequences';
import type { Context, YesOption } from '../../shared/context';
import { addYesOption, confirm } from '../../shared/context';
import type { DecisionOptions } from '../../shared/decisions';
import {
  addDecisionOptions,
  assertCompany,
  contentFrom,
  parseStep,
  isRejectedFirst,
  sameCompany,
  sendDecision,
} from '../../shared/decisions';
import { CommandFailed } from '../../shared/errors';
import { choicesAfterRejection, choiceText, insteadText } from '../../shared/first-company-commands';
import type { LimitOptions } from '../../shared/limit-options';
import { addWindowOptions, windowsFrom } from '../../shared/limit-options';
import { choiceOption } from '../../shared/options';
import { byClientNamed, shellQuoted } from '../../shared/remedy-commands';
import { findCompany } from '../../../store';
import { firstNotReadyText } from '../../../domain/companies/credential-state';
import { currentStep, readProgressOrUnanswered } from '../../shared/unanswered';
import { printFirstOpening } from '../../shared/start-times';
import type { CommandResult } from '../../terminal/output';

/** `ferry reject`, `ferry propose-time`: send the decision of the same name. */
export function addDecisions(context: Context): void {
  const { program, run, terminal, now } = context;
  addYesOption(
    addDecisionOptions(
      program
        .command('reject <migration> [step]')
        .description(
          'Reject a step (default: the current step), so that it can be corrected and approved again. To reject the first company, add --next or --company',
        )
        .addOption(
          choiceOption(
            '--next <what>',
            'what to do after rejecting the first company; abandon ends the migration for good',
            NEXT,
          ),
        )
        .option('--company <reference>', 'the other company to try; implies --next another-company'),
      now,
      'reason required',
    ),
  ).action((migration: string, step: string | undefined, options: RejectOptions) =>
    run(() => withMigrationClient(terminal.env, (ferry) => reject(context, ferry, { migration, step, options }))),
  );

  addDecisionOptions(
    addWindowOptions(
      program
        .command('propose-time')
        .argument('<migration>')
        .argument('<when>', undefined, parseTime)
        .description(
          `Propose when to move the first company: "${exampleTime(now)}" in your time zone, ISO 8601, or now`,
        ),
    ),
    now,
  ).action((migration: string, when: Date, options: DecisionOptions & Pick<LimitOptions, 'window'>) =>
    run(() =>
      withMigrationClient(terminal.env, async (ferry) => {
        const startAt = when.toISOString();
        const content = { startAt, ...windowsFrom(options), ...contentFrom(options) };
        const result = await sendDecision(ferry, migration, 'proposeTime', content);
        return result.json['outcome'] === 'applied' ? withFirstOpening(ferry, migration, startAt, result) : result;
      }),
    ),
  );
}

type RejectOptions = DecisionOptions & NextOptions & YesOption;

interface Rejection {
  readonly migration: string;
  readonly step: string | undefined;
  readonly options: RejectOptions;
}

async function reject(
  context: Context,
  ferry: MigrationClient,
  { migration, step: given, options }: Rejection,
): Promise<CommandResult> {
  const step = await readStep(ferry, migration, given);
  await assertNextFits(ferry, migration, { step, options });
  if (step === 'migrate-first-company') {
    await assertNextGiven(ferry, migration, options);
    await assertOther(ferry, migration, options);
  }
  const next = await nextFrom(ferry, migration, options);
  if (next['next'] === 'abandon') {
    const { progress, unanswered } = await readProgressOrUnanswered(ferry, migration);
    const consequence = endingConsequence(progress);
    const when = unanswered ? `${unanswered.once}, ` : '';
    // The migration will refuse the rejection, so the answer to the question would make no difference.
    const isRefused = progress !== undefined && isOver(progress.state);
    if (!isRefused && !(await confirm(context, options, { question: `End ${migration} for good?`, consequence })))
      throw new CommandFailed('nothing was decided', `${when}review the migration with: ferry show ${migration}`);
  }
  const result = await sendDecision(ferry, migration, 'reject', { step, ...contentFrom(options), ...next });
  if (result.json['outcome'] === 'refused') return withChoice(ferry, migration, options, result);
  return withReadiness(ferry, options.company, result);
}

/**
 * Adds the first window after the proposed start to the result; adds null if no worker answers, or if the proposal has
 * changed since.
 */
async function withFirstOpening(
  ferry: MigrationClient,
  migrationId: string,
  startAt: string,
  result: CommandResult,
): Promise<CommandResult> {
  const progress = await readProgressIfAnswered(ferry, migrationId);
  const now = new Date().toISOString();
  if (progress?.proposal?.startAt !== startAt) return { ...result, json: { ...result.json, firstOpening: null } };
  return {
    ...result,
    json: { ...result.json, firstOpening: firstOpening(progress, now) },
    print: (output) => {
      result.print(output);
      printFirstOpening(output, progress, now);
    },
  };
}

/** Adds a warning if the company that was chosen to go first cannot be moved yet. */
async function withReadiness(
  { db }: MigrationClient,
  reference: string | undefined,
  result: CommandResult,
): Promise<CommandResult> {
  const { migrationId, outcome } = result.json;
  if (!db || reference === undefined || outcome !== 'applied') return result;
  const company = await findCompany(db, String(migrationId), { reference });
  const why = company ? firstNotReadyText(company) : null;
  if (why === null) return result;
  return {
    ...result,
    print: (output) => {
      result.print(output);
      const isLeftOut = company?.state === 'excluded' || company?.state === 'skipped';
      output.line(
        `  ${output.styled('yellow', '!')} ${
          isLeftOut
            ? `${reference} cannot go first, because ${why}. Choose another company: ferry companies ${String(migrationId)} --state not-moved-yet`
            : `${reference} is not ready yet: ${why}`
        }`,
      );
    },
  };
}

interface NextOptions {
  readonly next?: string;
  readonly company?: string;
}

async function readStep(ferry: MigrationClient, migrationId: string, step: string | undefined): Promise<Step> {
  return step === undefined ? currentStep(await readProgressOrUnanswered(ferry, migrationId), STEPS) : parseStep(step);
}

const NEXT = ['same-company', 'another-company', 'abandon'] as const satisfies readonly NextAfterRejection['next'][];

/**
 * Checks that a rejection of the first company says what to try next. Does nothing if there is no result to reject yet,
 * because the migration then refuses the rejection.
 *
 * @throws CommandFailed with a complete command as advice
 */
async function assertNextGiven(ferry: MigrationClient, migrationId: string, options: RejectOptions): Promise<void> {
  const { next, company } = options;
  if (company !== undefined || (next !== undefined && next !== 'another-company')) return;
  const first = (await readProgressIfAnswered(ferry, migrationId))?.firstCompany;
  if (next === undefined && (first?.stage ?? 'importing') === 'importing') return;
  const command = rejectCommand(migrationId, options);
  const { same, another } = await choicesAfterRejection(ferry, migrationId, first?.reference ?? null, command);
  throw next === undefined
    ? new CommandFailed(
        'the rejection does not say what to try next: add --next or --company',
        same === null ? another : `${same}; ${another}`,
      )
    : new CommandFailed('--next another-company does not say which company to try: add --company', another);
}

/**
 * Checks that `--company` and `--next` are given only for a rejection of the first company.
 *
 * @throws CommandFailed with the command that chooses the first company as advice
 */
async function assertNextFits(
  ferry: MigrationClient,
  migrationId: string,
  { step, options }: { readonly step: Step; readonly options: RejectOptions },
): Promise<void> {
  const given = options.company === undefined ? '--next' : '--company';
  if (step === 'migrate-first-company' || (options.company ?? options.next) === undefined) return;
  // In step 6, no company can be chosen to move first any more. The rejection can name an earlier step.
  const current = (await readProgressIfAnswered(ferry, migrationId))?.step ?? step;
  const instead =
    current === 'complete-migration' && options.company !== undefined
      ? `run the command again without ${options.next === undefined ? given : '--company and --next'}`
      : insteadText(migrationId, options);
  throw new CommandFailed(
    `${given} belongs to a rejection of the first company, not of ${stepText(step)}`,
    `nothing was decided; ${instead}`,
  );
}

/** Adds to a refused rejection how to choose the company that moves first, if no first company has been tried yet. */
async function withChoice(
  ferry: MigrationClient,
  migrationId: string,
  options: RejectOptions,
  result: CommandResult,
): Promise<CommandResult> {
  if (options.company === undefined) return result;
  const progress = await readProgressIfAnswered(ferry, migrationId);
  if (progress?.firstCompany !== null || progress.step === 'complete-migration') return result;
  const print: CommandResult['print'] = (output) => {
    result.print(output);
    output.line(`  ${choiceText(migrationId, options)}`);
  };
  return { ...result, print };
}

/** Returns the command that rejects the first company, without what to try next. */
function rejectCommand(migrationId: string, { reason, as, by }: RejectOptions): string {
  const who = as === 'client' ? ` ${byClientNamed(by)}` : '';
  return `ferry reject ${migrationId} migrate-first-company --reason ${shellQuoted(reason ?? 'why')}${who}`;
}

/**
 * Checks that the other company to try is not the rejected one. The workflow accepts this, because histories can
 * contain it.
 *
 * @throws CommandFailed with a complete command as advice
 */
async function assertOther(ferry: MigrationClient, migrationId: string, options: RejectOptions): Promise<void> {
  const { next = 'another-company', company } = options;
  if (company === undefined || next !== 'another-company') return;
  const progress = await readProgressIfAnswered(ferry, migrationId);
  if (!isRejectedFirst(progress, company)) return;
  const { same, another } = await choicesAfterRejection(
    ferry,
    migrationId,
    company,
    rejectCommand(migrationId, options),
  );
  throw new CommandFailed(
    `${company} is the company that you reject, so it cannot be the other company to try`,
    same ?? another,
  );
}

async function nextFrom(
  ferry: MigrationClient,
  migrationId: string,
  { next, company }: NextOptions,
): Promise<Record<string, unknown>> {
  if (company !== undefined && next === 'same-company') {
    const progress = await readProgressIfAnswered(ferry, migrationId);
    // The workflow also checks which company the rejection is about, so no answer is needed.
    if (!progress || progress.firstCompany?.reference === company) return { next, company };
  }
  if (company !== undefined && next !== undefined && next !== 'another-company')
    throw new CommandFailed(
      `--company is only for another company, but --next is ${next}`,
      'nothing was decided; leave out --company, or name another company and leave out --next',
    );
  if (company === undefined && next === 'same-company')
    return sameCompany(await readProgressIfAnswered(ferry, migrationId));
  if (company === undefined) return next === undefined ? {} : { next };
  await assertCompany(ferry, migrationId, company);
  return { next: next ?? 'another-company', company };
}

/** `ferry first-company`: chooses the first company, or the next one to try if the first was not accepted. */
export function addFirstCompany({ program, run, terminal, now }: Context): void {
  addDecisionOptions(
    program
      .command('first-company <migration> <reference>')
      .description(
        'Choose the company to move first. If you do not accept its result, choose another company, or the same company again',
      ),
    now,
  ).action((migration: string, reference: string, options: DecisionOptions) =>
    run(() =>
      withMigrationClient(terminal.env, async (ferry) => {
        await assertCompany(ferry, migration, reference);
        const content = { company: reference, ...contentFrom(options) };
        return withReadiness(ferry, reference, await sendDecision(ferry, migration, 'chooseFirstCompany', content));
      }),
    ),
  );
}
