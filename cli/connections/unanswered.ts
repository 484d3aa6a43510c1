/** Says why a migration's progress is unknown, and what to do about it. */
import type { Step } from '../../domain/migration/steps';
import type { Progress } from '../../domain/progress/progress';
import { CHECK_WORKERS, SEE_WHAT_IS_WRONG, START_WORKER } from '../../domain/progress/worker-advice';
import { eitherOf } from '../../domain/text/sentences';
import { isBug, NoWorker, readProgressOrReason, WorkflowTaskFailing, type MigrationClient } from '../../client';
import { CommandFailed } from '../shared/errors';
import { withLedgerState } from './ledger-limit';

/** The progress of a migration, or the reason why it is unknown. */
export type ProgressOrUnanswered =
  | { readonly progress: Progress; readonly unanswered: undefined }
  | { readonly progress: undefined; readonly unanswered: Unanswered };

/** The reason why the progress is unknown. */
export interface Unanswered {
  /** The reason itself, for example `no worker is answering`. */
  readonly reason: string;
  /**
   * Says what follows from the missing answer, and names its reason.
   *
   * @param consequence a clause, for example `the current step is unknown`
   */
  so(consequence: string): string;
  /** The remedy for the missing answer. It can be followed by `; then ...`. */
  readonly remedy: string;
  /**
   * How to find the cause. Does not say that a worker must run, because a sentence with the field `once` precedes it.
   */
  readonly diagnosis: string;
  /** Says how to go on without an answer: `without` is a clause such as `add the step to the command`. */
  orWithout(without: string): string;
  /** When the progress will be known: `once a worker is running`. */
  readonly once: string;
}

/**
 * Reads the progress of a migration, or the reason why there is no answer.
 *
 * @throws NoSuchMigration
 * @throws PayloadKeyMissing
 */
export async function readProgressOrUnanswered(
  ferry: MigrationClient,
  migrationId: string,
): Promise<ProgressOrUnanswered> {
  const progress = await readProgressOrReason(ferry, migrationId);
  return progress instanceof NoWorker
    ? { progress: undefined, unanswered: unansweredOf(progress) }
    : { progress, unanswered: undefined };
}

/**
 * Reads the progress like {@link readProgressOrUnanswered}, for a review of the pauses before a resume. If the
 * migration has paused itself because of the ledger, also finds out whether the ledger has been reconciled.
 */
export async function readProgressToResume(ferry: MigrationClient, migrationId: string): Promise<ProgressOrUnanswered> {
  const read = await readProgressOrUnanswered(ferry, migrationId);
  const { progress } = read;
  if (progress?.pause?.stopReason !== 'ledger-behind') return read;
  try {
    return { progress: (await withLedgerState(ferry, progress)).progress, unanswered: undefined };
  } catch (error) {
    // The ledger does not answer. The migration can be resumed all the same.
    if (isBug(error)) throw error;
    return read;
  }
}

const NO_ANSWER = 'no worker is answering';

function unansweredOf(reason: NoWorker): Unanswered {
  return reason instanceof WorkflowTaskFailing
    ? {
        reason: reason.message,
        so: (consequence) => `${consequence}, because ${reason.message}`,
        remedy: CHECK_WORKERS,
        diagnosis: CHECK_WORKERS,
        orWithout: (without) => `${CHECK_WORKERS}; or ${without}`,
        once: 'once a worker can continue',
      }
    : {
        reason: NO_ANSWER,
        so: (consequence) => `${NO_ANSWER}, so ${consequence}`,
        remedy: START_WORKER,
        diagnosis: SEE_WHAT_IS_WRONG,
        orWithout: (without) => without,
        once: 'once a worker is running',
      };
}

/**
 * Returns the current step of a migration.
 *
 * @param steps the steps that the advice suggests as an argument of the command
 * @throws CommandFailed if there is no answer
 */
export function currentStep({ progress, unanswered }: ProgressOrUnanswered, steps: readonly Step[]): Step {
  if (progress) return progress.step;
  const advice = unanswered.orWithout(`add the step to the command: ${eitherOf(steps)}`);
  throw new CommandFailed(unanswered.so('the current step is unknown'), `nothing was decided; ${advice}`);
}
