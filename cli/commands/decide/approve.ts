import type { Step } from '../../../domain/migration/steps';
import { CommandFailed } from '../../shared/command-failed';
import type { MigrationClient, Sent } from '../../../client';
import { progressIfAnswered } from '../../../client';
import type { CommandResult } from '../../terminal';
import type { Context } from '../../shared/context';
import { send, stepNamed } from '../../shared/send';
import type { SenderOptions } from '../../shared/sender';
import { addDecider, sentBy } from '../../shared/sender';
import type { Review } from '../../shared/review';
import { readReview } from '../../shared/review';
import type { YesOption } from '../../shared/confirm';
import { confirm } from '../../shared/confirm';
import { withMigrationClient } from '../../shared/with-ferry';

interface ApproveOptions extends SenderOptions, YesOption {
  readonly digest?: string;
}

/** `ferry approve`, `ferry sign-off`: shows what it is about, asks, and sends the digest of just that. */
export function addApprove({ program, run, output, terminal }: Context): void {
  const options = (command: ReturnType<typeof program.command>) =>
    addDecider(command)
      .option('--yes', 'do not ask')
      .option('--digest <digest>', 'approve only what was seen before, by its digest in: ferry show --json');

  options(
    program.command('approve <migration> [step]').description('Approve a step; without one, the step that is open'),
  ).action((migration: string, step: string | undefined, given: ApproveOptions) =>
    run(() =>
      withMigrationClient(terminal.env, (ferry) =>
        approve(ferry, { output, terminal }, migration, step === undefined ? undefined : stepNamed(step), given),
      ),
    ),
  );

  options(
    program.command('sign-off <migration>').description('Accept the handover: what was moved, and what was not'),
  ).action((migration: string, given: ApproveOptions) =>
    run(() =>
      withMigrationClient(terminal.env, (ferry) =>
        approve(ferry, { output, terminal }, migration, 'complete-migration', given),
      ),
    ),
  );
}

async function approve(
  ferry: MigrationClient,
  { output, terminal }: Pick<Context, 'output' | 'terminal'>,
  migrationId: string,
  named: Step | undefined,
  options: ApproveOptions,
): Promise<CommandResult> {
  const subject = await subjectOf(ferry, migrationId, named);
  const step = subject?.step ?? named;
  if (step === undefined) throw new CommandFailed('no worker answers, so the open step is not known', 'name the step');
  const sent: Sent = { step, ...sentBy(options) };
  if (!subject) return send(ferry, migrationId, 'approve', sent);
  if (!output.json && !(output.quiet && options.yes)) subject.print(output);
  if (!(await confirm({ output, terminal }, options, `Approve ${step}?`))) {
    throw new CommandFailed('nothing was decided', `look at all of it with: ferry show ${migrationId}`);
  }
  return send(ferry, migrationId, 'approve', { ...sent, digest: options.digest ?? subject.digest });
}

/** Undefined: no worker answers. A decision is taken all the same, only not bound to what was seen. */
async function subjectOf(
  ferry: MigrationClient,
  migrationId: string,
  named: Step | undefined,
): Promise<Review | undefined> {
  const progress = await progressIfAnswered(ferry, migrationId);
  return progress && readReview(ferry, progress, named ?? progress.step);
}
