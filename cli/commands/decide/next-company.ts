/** The options `--next` and `--company` of `ferry reject`: what to try after a rejection of the first company. */
import type { NextAfterRejection } from '../../../domain/migration/decision';
import { stepText, type Step } from '../../../domain/migration/steps';
import type { Progress } from '../../../domain/progress/progress';
import { readProgressIfAnswered, type MigrationClient } from '../../../client';
import { assertCompany, isRejectedFirst, sameCompany, type DecisionOptions } from '../../shared/decisions';
import { CommandFailed } from '../../shared/errors';
import {
  choicesAfterRejection,
  choiceText,
  insteadText,
  keptOptions,
  type KeptOptions,
} from '../../suggestions/first-company-commands';
import { withMoreText, type CommandResult } from '../../terminal/output';

interface NextOptions {
  readonly next?: string;
  readonly company?: string;
}

export type NextAfterRejectionOptions = DecisionOptions & NextOptions & KeptOptions;

export const NEXT = [
  'same-company',
  'another-company',
  'abandon',
] as const satisfies readonly NextAfterRejection['next'][];

/**
 * Checks that a rejection of the first company says what to try next. Accepts a rejection without `--next` and
 * `--company` if no worker answers, if there is no result to reject yet, or in step 6, because the migration then
 * refuses it.
 *
 * @throws CommandFailed with a complete command as advice
 */
export async function assertNextGiven(
  ferry: MigrationClient,
  migrationId: string,
  options: NextAfterRejectionOptions,
): Promise<void> {
  const { next, company } = options;
  if (company !== undefined || (next !== undefined && next !== 'another-company')) return;
  const progress = await readProgressIfAnswered(ferry, migrationId);
  const first = progress?.firstCompany;
  if (next === undefined && (first?.stage ?? 'importing') === 'importing') return;
  if (progress?.step === 'complete-migration') return;
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
 * Checks that a rejection with `--company` or `--next` is of the first company.
 *
 * @param progress undefined if no worker answers
 * @throws CommandFailed with the command to run instead as advice
 */
export function assertNextFits(
  progress: Progress | undefined,
  migrationId: string,
  { step, options }: { readonly step: Step; readonly options: NextAfterRejectionOptions },
): void {
  if (step === 'migrate-first-company') return;
  const given = options.company === undefined ? '--next' : '--company';
  // In step 6, no first company can be chosen any more. Uses the current step, because `step` can be another step. If
  // no worker answers, the migration might be in step 6.
  const current = progress?.step ?? 'complete-migration';
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
export async function withChoice(
  ferry: MigrationClient,
  migrationId: string,
  options: NextAfterRejectionOptions,
  result: CommandResult,
): Promise<CommandResult> {
  if (options.company === undefined) return result;
  const progress = await readProgressIfAnswered(ferry, migrationId);
  if (progress?.firstCompany !== null || progress.step === 'complete-migration') return result;
  return withMoreText(result, (output) => output.line(`  ${choiceText(migrationId, options)}`));
}

/** Returns the command with which support rejects the first company, without what to try next. */
function rejectCommand(migrationId: string, options: NextAfterRejectionOptions): string {
  return `ferry reject ${migrationId} migrate-first-company --reason ${keptOptions(options)}`;
}

/**
 * Checks that the other company to try is not the rejected company. The workflow does not check this, because its
 * history can contain a decision that names the rejected company.
 *
 * @throws CommandFailed with a complete command as advice
 */
export async function assertOther(
  ferry: MigrationClient,
  migrationId: string,
  options: NextAfterRejectionOptions,
): Promise<void> {
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

export async function nextFrom(
  ferry: MigrationClient,
  migrationId: string,
  { next, company }: NextOptions,
): Promise<Record<string, unknown>> {
  if (company !== undefined && next === 'same-company') {
    const progress = await readProgressIfAnswered(ferry, migrationId);
    // If no worker answers, the workflow checks later that `company` is the first company.
    if (!progress || progress.firstCompany?.reference === company) return { next, company };
  }
  if (company !== undefined && next !== undefined && next !== 'another-company')
    throw new CommandFailed(
      `--company is only for another company, but --next is ${next}`,
      'nothing was decided; leave out --company, or name another company and leave out --next',
    );
  if (company === undefined && next === 'same-company')
    return sameCompany(await readProgressIfAnswered(ferry, migrationId));
  // Only a rejection that the migration refuses gets here without the company to try; the refusal then says why.
  if (company === undefined) return next === 'abandon' ? { next } : {};
  await assertCompany(ferry, migrationId, company);
  return { next: next ?? 'another-company', company };
}
