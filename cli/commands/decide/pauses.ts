import { liftedPauses } from '../../../domain/decisions/pauses';
import { digestOfPauses, pausesOfOthers } from '../../../domain/migration/pauses';
import { isOver } from '../../../domain/migration/terminated';
import { reviewedPauseText } from '../../../domain/progress/ledger-behind';
import { pausesIn, type Progress } from '../../../domain/progress/progress';
import { sentence } from '../../../domain/text/sentences';
import { withMigrationClient } from '../../connections/clients';
import { resumeConsequence } from '../../shared/consequences';
import { addYesOption, confirm, type Context, type YesOption } from '../../shared/context';
import { addDecisionOptions, contentFrom, sendDecision, type DecisionOptions } from '../../shared/decisions';
import { CommandFailed } from '../../shared/errors';
import { readProgressToResume } from '../../connections/unanswered';
import type { CommandResult } from '../../terminal/output';
import { inLocalTime } from '../../terminal/times';

/** `ferry pause`, `ferry resume`: stop new moves, and let them begin again. */
export function addPauses(context: Context): void {
  const { program, run, terminal, now } = context;
  addDecisionOptions(
    program.command('pause <migration>').description('Pause a migration: no more moves begin'),
    now,
  ).action((migration: string, options: DecisionOptions) =>
    run(() =>
      withMigrationClient(terminal.env, (ferry) => sendDecision(ferry, migration, 'pause', contentFrom(options))),
    ),
  );
  addYesOption(
    addDecisionOptions(
      program
        .command('resume <migration>')
        .description(
          'Resume a paused migration; if no pause is left, earlier failures no longer count towards the limits at which the migration pauses itself',
        ),
      now,
    ),
  ).action((migration: string, options: DecisionOptions & YesOption) => run(() => resume(context, migration, options)));
}

/**
 * Resumes a migration. Asks for confirmation if this lifts a pause by the other side, or if no worker answers. Binds
 * the decision to the current pauses with their digest.
 */
function resume(
  { output, terminal }: Context,
  migrationId: string,
  options: DecisionOptions & YesOption,
): Promise<CommandResult> {
  return withMigrationClient(terminal.env, async (ferry) => {
    const { progress, unanswered } = await readProgressToResume(ferry, migrationId);
    const overrides = progress
      ? overridesOf(progress, options)
      : unanswered.so('it is unknown who has paused the migration');
    if (overrides !== undefined) {
      if (terminal.prompts && !output.json && !options.yes) output.line(`${sentence(overrides)}.`);
      const question = `Resume ${migrationId} as ${options.as} (${options.by})?`;
      const show = `see who has paused the migration with: ferry show ${migrationId}`;
      const advice = progress ? show : `${unanswered.remedy}; then ${show}`;
      const overridesAdvice = progress
        ? undefined
        : `to resume without knowing, run the command again with --yes; otherwise, ${advice}`;
      const consequence = progress && liftsAll(progress, options) ? resumeConsequence(progress) : null;
      const asked = { question, consequence, reversible: true, overrides, overridesAdvice };
      if (!(await confirm({ output, terminal }, options, asked)))
        throw new CommandFailed('nothing was decided', advice);
    }
    const pauses = progress ? pausesIn(progress) : [];
    const digest = pauses.length === 0 ? {} : { digest: digestOfPauses(pauses) };
    return sendDecision(ferry, migrationId, 'resume', { ...digest, ...contentFrom(options) });
  });
}

/**
 * Describes all pauses that a resume would lift, if the other side made at least one of them; otherwise undefined. Also
 * undefined if the migration has ended, because it then refuses the decision.
 */
function overridesOf(progress: Progress, { as: role, by }: DecisionOptions): string | undefined {
  if (isOver(progress.state)) return undefined;
  const lifted = liftedPauses(progress, role, pausesIn(progress));
  if (pausesOfOthers(lifted, role, by).length === 0) return undefined;
  return lifted.map((pause) => `paused ${inLocalTime(reviewedPauseText(progress, pause))}`).join('; ');
}

function liftsAll(progress: Progress, { as: role }: DecisionOptions): boolean {
  const pauses = pausesIn(progress);
  return liftedPauses(progress, role, pauses).length === pauses.length;
}
