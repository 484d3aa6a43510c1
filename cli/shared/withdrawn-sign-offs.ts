import type { Progress } from '../../domain/progress/progress';
import { withdrawalConsequence } from './consequences';
import { confirm, type Context, type YesOption } from './context';
import { CommandFailed } from './errors';

/**
 * Asks before a decision withdraws sign-offs of the handover; with `--yes`, only warns. Does nothing if the decision
 * withdraws none, or if no worker answers.
 *
 * @param condition when the sign-offs are withdrawn, for example `if rows have changed, `. Default: in any case
 * @throws CommandFailed if the person does not agree, or cannot be asked
 */
export async function confirmWithdrawal(
  context: Pick<Context, 'output' | 'terminal'>,
  options: YesOption,
  migrationId: string,
  progress: Progress | undefined,
  condition = '',
): Promise<void> {
  const withdrawal = withdrawalConsequence(progress);
  if (withdrawal === null) return;
  const consequence = condition + withdrawal;
  if (options.yes) return context.output.warn(consequence);
  const question = `Decide this for ${migrationId}?`;
  if (!(await confirm(context, options, { question, consequence, reversible: true })))
    throw new CommandFailed('nothing was decided', `review the migration with: ferry show ${migrationId}`);
}
