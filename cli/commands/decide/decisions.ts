import type { Command } from 'commander';
import { STEPS, type Step } from '../../../domain/migration/steps';
import { isOver } from '../../../domain/migration/terminated';
import { firstOpening } from '../../../domain/progress/first-opening';
import { readProgressIfAnswered, type MigrationClient } from '../../../client';
import { exampleTime, parseTime } from '../../terminal/times';
import { withMigrationClient } from '../../connections/clients';
import { endingConsequence } from '../../shared/consequences';
import { addYesOption, confirm, type Context, type YesOption } from '../../shared/context';
import { addDecisionOptions, contentFrom, parseStep, sendDecision, type DecisionOptions } from '../../shared/decisions';
import { CommandFailed } from '../../shared/errors';
import { addWindowOptions, windowsFrom, type LimitOptions } from '../../options/limit-options';
import { choiceOption } from '../../options/options';
import { currentStep, readProgressOrUnanswered } from '../../connections/unanswered';
import { printFirstOpening } from '../../options/start-times';
import { withReadiness } from './first-company';
import {
  assertNextFits,
  assertNextGiven,
  assertOther,
  NEXT,
  nextFrom,
  withChoice,
  type NextAfterRejectionOptions,
} from './next-company';
import { insteadText } from '../../suggestions/first-company-commands';
import { withMoreText, type CommandResult } from '../../terminal/output';

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
        .option('--company <reference>', 'the company to try; without --next, it must be another company'),
      now,
      'required',
    ),
  ).action((migration: string, step: string | undefined, given: RejectOptions, command: Command) =>
    run(() => {
      const isByGiven = command.getOptionValueSource('by') === 'cli';
      const options = { ...given, ...(isByGiven && { givenBy: given.by }) };
      return withMigrationClient(terminal.env, (ferry) => reject(context, ferry, migration, step, options));
    }),
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

type RejectOptions = NextAfterRejectionOptions & YesOption;

async function reject(
  context: Context,
  ferry: MigrationClient,
  migration: string,
  given: string | undefined,
  options: RejectOptions,
): Promise<CommandResult> {
  const read = () => readProgressOrUnanswered(ferry, migration);
  const step = given === undefined ? currentStep(await read(), STEPS) : parseStep(given);
  if ((options.company ?? options.next) !== undefined) {
    const progress = await readProgressIfAnswered(ferry, migration);
    if (progress?.route === 'self-service') return rejectInSelfService(ferry, migration, step, options);
    assertNextFits(progress, migration, { step, options });
  }
  // Skips these checks for the client, because the migration refuses the client's rejection of the first company.
  if (step === 'migrate-first-company' && options.as !== 'client') {
    await assertNextGiven(ferry, migration, options);
    await assertOther(ferry, migration, options);
  }
  const next = await nextFrom(ferry, migration, options);
  if (next['next'] === 'abandon') {
    const { progress, unanswered } = await read();
    const consequence = endingConsequence(progress);
    const when = unanswered ? `${unanswered.once}, ` : '';
    // The migration will refuse the rejection, so the answer to the question would make no difference.
    const isTooLate = progress !== undefined && (isOver(progress.state) || progress.step === 'complete-migration');
    const isRefused = options.as === 'client' || isTooLate;
    if (!isRefused && !(await confirm(context, options, { question: `End ${migration} for good?`, consequence })))
      throw new CommandFailed('nothing was decided', `${when}review the migration with: ferry show ${migration}`);
  }
  const result = await sendDecision(ferry, migration, 'reject', { step, ...contentFrom(options), ...next });
  if (result.json['outcome'] === 'refused') return withChoice(ferry, migration, options, result);
  return withReadiness(ferry, options.company, result);
}

/**
 * Sends the rejection without what to try next, because a self-service migration refuses every rejection. A migration
 * that is to be abandoned can be cancelled instead.
 */
async function rejectInSelfService(
  ferry: MigrationClient,
  migration: string,
  step: Step,
  options: RejectOptions,
): Promise<CommandResult> {
  const { company: _company, ...others } = options;
  const result = await sendDecision(ferry, migration, 'reject', { step, ...contentFrom(options) });
  if (options.next !== 'abandon') return result;
  return withMoreText(result, (output) => output.line(`  ${insteadText(migration, others)}`));
}

/**
 * Adds the first window after the proposed start to the result; adds null if there is none, no worker answers, or the
 * proposal has changed since.
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
  const json = { ...result.json, firstOpening: firstOpening(progress, now) };
  return withMoreText({ ...result, json }, (output) => printFirstOpening(output, progress, now));
}
