import { headline } from '../../../domain/progress/progress';
import { isEnding } from '../../../domain/migration/migration-state';
import type { Progress } from '../../../domain/progress/progress';
import { readOverviews } from '../../../store';
import type { MigrationClient } from '../../../client';
import {
  firstConnectionError,
  NoSuchMigration,
  readTerminationReason,
  readProgress,
  connectionErrorText,
} from '../../../client';
import { openPause, within } from '../../shared/pause';
import type { CommandResult } from '../../terminal';
import type { Context } from '../../shared/context';
import type { Looked } from '../../reporting/watch-view';
import { openWatchView } from '../../reporting/watch-view';
import { withMigrationClient } from '../../shared/with-ferry';

const LOOK_EVERY_MS = 250;
/** Where a look takes long, so many times as long as it took is waited: whoever watches must not be a burden. */
const REST_FOR_WORK = 2;
const ANSWER_WITHIN_MS = 5_000;
/** Temporal and its workers say in time that they do not answer; a database that has stopped says nothing. */
const LEDGER_WITHIN_MS = 5_000;

interface WatchOptions {
  readonly untilDecision?: true;
}

/** `ferry watch`: steps and a bar that move until the migration has ended, or until somebody is waited for. */
export function addWatch(context: Context): void {
  context.program
    .command('watch <migration>')
    .description('Watch a migration until it has ended; exit code 0: completed')
    .option('--until-decision', 'or until a person is waited for')
    .action((migration: string, options: WatchOptions) =>
      context.run(() =>
        withMigrationClient(context.terminal.env, async (ferry) =>
          watchResult(await watched(context, ferry, migration, options)),
        ),
      ),
    );
}

/** How it was when the watching ended. */
export interface Watched {
  readonly progress: Progress;
  /** How it was ended with Temporal's own tools, if it was. */
  readonly endedFromOutside: string | null;
  readonly print: CommandResult['print'];
}

/**
 * Watches until it has ended, somebody is waited for or has interrupted it. What does not answer on the way is said, and
 * asked again: Temporal, the database and the workers may be away for a while.
 */
export async function watched(
  { terminal, output }: Context,
  ferry: MigrationClient,
  migrationId: string,
  { untilDecision }: WatchOptions,
): Promise<Watched> {
  const interrupted = terminal.interruption();
  const pause = openPause();
  interrupted.addEventListener('abort', () => pause.end(), { once: true });
  const view = output.json || output.quiet ? null : openWatchView(terminal.stdout);
  let latest: Looked | null = null;
  try {
    for (;;) {
      const begunAt = Date.now();
      try {
        latest = await look(ferry, migrationId);
        view?.show(latest, null);
        if (isOver(latest) || (untilDecision && latest.progress.waitingFor.roles.length > 0)) return ended(latest);
      } catch (error) {
        // Whoever has seen nothing yet learns at once what is wrong.
        if (latest === null || error instanceof NoSuchMigration) throw error;
        view?.show(latest, connectionErrorText(error));
      }
      if (interrupted.aborted && latest) return stopped(latest);
      await pause.wait(Math.max(LOOK_EVERY_MS, (Date.now() - begunAt) * REST_FOR_WORK));
    }
  } finally {
    view?.close();
  }
}

/** @throws the cause, when something does not answer */
async function look(ferry: MigrationClient, migrationId: string): Promise<Looked> {
  const asked = await Promise.allSettled([
    readProgress(ferry, migrationId, ANSWER_WITHIN_MS),
    ferry.db ? within(LEDGER_WITHIN_MS, readOverviews(ferry.db, [migrationId])) : [],
    ferry.temporal.withDeadline(Date.now() + ANSWER_WITHIN_MS, () => readTerminationReason(ferry, migrationId)),
  ]);
  const [progress, overviews, end] = asked;
  if (progress.status === 'fulfilled' && overviews.status === 'fulfilled' && end.status === 'fulfilled') {
    const [overview = null] = overviews.value;
    return { progress: progress.value, overview, endedFromOutside: end.value, at: new Date() };
  }
  throw firstConnectionError(asked.flatMap((each): unknown[] => (each.status === 'rejected' ? [each.reason] : [])));
}

function isOver({ progress, endedFromOutside }: Looked): boolean {
  return isEnding(progress.state) || endedFromOutside !== null;
}

function ended({ progress, endedFromOutside }: Looked): Watched {
  const text = `${progress.migrationId}: ${endedFromOutside ?? headline(progress)}`;
  return { progress, endedFromOutside, print: (output) => output.line(text) };
}

function stopped({ progress }: Looked): Watched {
  const text = `You stopped watching ${progress.migrationId}.`;
  return { progress, endedFromOutside: null, print: (output) => output.line(text) };
}

function watchResult({ progress, endedFromOutside, print }: Watched): CommandResult {
  const { migrationId, step, waitingFor, counts } = progress;
  const state = endedFromOutside ?? progress.state;
  return {
    failed: state !== 'completed' && (endedFromOutside !== null || isEnding(state)),
    json: { schema: 'ferry.watch/1', migrationId, state, step, waitingFor, counts },
    print,
  };
}
