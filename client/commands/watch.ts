import { settledCompanies } from '../../domain/company-state';
import { headline } from '../../domain/details';
import { isEnding } from '../../domain/migration-state';
import type { Progress } from '../../domain/progress';
import type { Ferry } from '../ferry';
import { readProgress } from '../ferry';
import type { CommandResult } from '../screen';
import { openProgressBar } from '../screen/progress-bar';
import type { Context } from './context';
import { withFerry } from './with-ferry';

const LOOK_EVERY_MS = 250;

interface WatchOptions {
  readonly untilDecision?: true;
}

/** `ferry watch`: a bar that moves until the migration has ended, or until somebody is waited for. */
export function addWatch(context: Context): void {
  context.program
    .command('watch <migration>')
    .description('Watch a migration until it has ended')
    .option('--until-decision', 'or until a person is waited for')
    .action((migration: string, options: WatchOptions) =>
      context.run(() =>
        withFerry(context.terminal.env, async (ferry) =>
          watchResult(await watched(context, ferry, migration, options)),
        ),
      ),
    );
}

/** How it was when the watching ended. */
export interface Watched {
  readonly progress: Progress;
  readonly print: CommandResult['print'];
}

/** Watches until it has ended, somebody is waited for or has interrupted it. */
export async function watched(
  { terminal, screen }: Context,
  ferry: Ferry,
  migrationId: string,
  { untilDecision }: WatchOptions,
): Promise<Watched> {
  const interrupted = terminal.interruption();
  const bar = screen.json ? undefined : openProgressBar(terminal.stdout);
  try {
    for (;;) {
      const progress = await readProgress(ferry, migrationId);
      const { counts } = progress;
      bar?.update(settledCompanies(counts), counts.total, noteOf(progress));
      if (isOver(progress) || (untilDecision && progress.waitingFor.roles.length > 0) || interrupted.aborted) {
        return ended(progress, interrupted.aborted);
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  } finally {
    bar?.close();
  }
}

function noteOf({ counts, waitingFor }: Progress): string {
  const failed = counts.failed > 0 ? `${counts.failed} failed, ` : '';
  return `${failed}${waitingFor.roles.length === 0 ? '' : `waiting for ${waitingFor.roles.join(' and ')}: `}${waitingFor.what}`;
}

function isOver({ state }: Progress): boolean {
  return isEnding(state);
}

function ended(progress: Progress, interrupted: boolean): Watched {
  const { migrationId } = progress;
  return {
    progress,
    print: (screen) => {
      if (interrupted) return screen.line(`You stopped watching ${migrationId}.`);
      screen.line(`${migrationId}: ${headline(progress)}`);
    },
  };
}

function watchResult({ progress, print }: Watched): CommandResult {
  const { migrationId, state, step, waitingFor, counts } = progress;
  return {
    failed: state === 'abandoned' || state === 'cancelled',
    json: { schema: 'ferry.watch/1', migrationId, state, step, waitingFor, counts },
    print,
  };
}
