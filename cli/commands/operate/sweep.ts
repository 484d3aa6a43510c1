import { WorkflowFailedError } from '@temporalio/client';
import { counted } from '../../../domain/text/sentences';
import {
  closeTerminated,
  NoSuchMigration,
  sweep,
  WorkflowHadNoEffect,
  WorkflowIdOccupied,
  type LedgerClient,
} from '../../../client';
import { readMigration } from '../../../store';
import type { CommandResult } from '../../terminal/output';
import { addYesOption, confirm, type Context, type YesOption } from '../../shared/context';
import { CommandFailed, withAdvice } from '../../shared/errors';
import { DEFAULT_BY } from '../../shared/decisions';
import { referenceList } from '../../shared/results';
import { assertNamespace, sameStartCommand, withLedgerClient } from '../../connections/clients';

interface Options extends YesOption {
  readonly close?: true;
  readonly by: string;
}

/** `ferry sweep`: cleans up after migrations that are open in the ledger but not running in Temporal. */
export function addSweep(context: Context): void {
  const { program, run } = context;
  const command = program
    .command('sweep')
    .description(
      'Clean up after migrations that are open in the ledger but not running in Temporal: they were terminated or failed there, or Temporal has lost them',
    )
    .argument('[migration]', 'list or close only this migration (default: all that do not run in Temporal)')
    .option(
      '--close',
      'close these migrations as if they had been cancelled: other migrations can then move their organizations, and their stored credentials are destroyed',
    )
    .option('--by <name>', `name of the person who closes the migrations ${DEFAULT_BY}`);
  addYesOption(command).action((migrationId: string | undefined, options: Options) =>
    run(() => runSweep(context, migrationId, options)),
  );
}

async function runSweep(context: Context, requested: string | undefined, options: Options): Promise<CommandResult> {
  const { by, close } = options;
  return withLedgerClient(context.terminal.env, async (ferry) => {
    let ended: readonly string[] = [];
    let lost: readonly string[] = [];
    const { schedulesDeleted, open } = await sweep(ferry, {
      only: requested,
      beforeDeleting: async ({ open: found, unknown }, scheduled) => {
        if (requested !== undefined && found.length + scheduled.length === 0) throw await notToClose(ferry, requested);
        ended = await findEnded(ferry, found);
        lost = without(ended, unknown);
        if (close && found.length > 0 && !(await confirm(context, options, closingOf(found, { ended, lost }))))
          throw new CommandFailed('nothing was closed or deleted', 'list the migrations with: ferry list');
      },
    });
    const closed: string[] = [];
    const closing: string[] = [];
    const failed: { readonly migrationId: string; readonly why: string }[] = [];
    for (const migrationId of close ? open : []) {
      try {
        ((await closeTerminated(ferry, migrationId, by)) ? closed : closing).push(migrationId);
      } catch (error) {
        failed.push({ migrationId, why: whyNotClosed(error, context.terminal.env) });
      }
    }
    const stillOpen = close ? failed.map(({ migrationId }) => migrationId) : open;
    return {
      failed: failed.length > 0,
      json: { schema: 'ferry.sweep/1', schedulesDeleted, closed, closing, open: stillOpen, failed },
      printQuietly: (output) => {
        for (const id of stillOpen) output.line(id);
      },
      print: (output) => {
        for (const id of schedulesDeleted) output.line(`Deleted the schedule that opened the windows of ${id}.`);
        for (const id of closed) output.line(`Closed ${id}. See its outcome with: ferry report ${id}`);
        for (const id of closing)
          output.line(
            `${id} is not closed yet. A running worker closes it, usually within three minutes. If it takes longer, check the workers, the service and the database with: ferry doctor`,
          );
        for (const { migrationId, why } of failed) output.line(`${migrationId} could not be closed: ${why}`);
        for (const id of close ? [] : stillOpen) {
          output.line(
            ended.includes(id)
              ? `${id} has ended, but its closing was interrupted: its organizations can join another migration, but its credentials have not been destroyed.`
              : `${lost.includes(id) ? `The ledger has ${id}, but Temporal does not` : `${id} is no longer running in Temporal, but is still open in the ledger`}: its organizations cannot join another migration, and its credentials have not been destroyed.`,
          );
        }
        if (!close) for (const line of nextLines(stillOpen, { ended, lost }, requested)) output.line(line);
        if (schedulesDeleted.length + open.length === 0) output.line('Nothing to clean up.');
      },
    };
  });
}

/** Returns the migrations that have ended. Their closing was interrupted, so their credentials still exist. */
async function findEnded({ db }: LedgerClient, migrationIds: readonly string[]): Promise<readonly string[]> {
  const migrations = await Promise.all(migrationIds.map((id) => readMigration(db, id)));
  return migrationIds.filter((_, index) => (migrations[index]?.ending ?? null) !== null);
}

/** The migrations that have ended, and those that have not ended although Temporal does not have them. */
interface Unusual {
  readonly ended: readonly string[];
  readonly lost: readonly string[];
}

function nextLines(
  found: readonly string[],
  { ended, lost }: Unusual,
  requested: string | undefined,
): readonly string[] {
  if (found.length === 0) return [];
  const command = requested === undefined ? 'ferry sweep --close' : `ferry sweep --close ${requested}`;
  const [first, ...others] = without(ended, found);
  if (first === undefined) return [`To destroy the credentials, run: ${command}`];
  const reconcile = others.length === 0 ? 'run' : 'reconcile each migration, beginning with';
  return [
    ...(lost.length === 0
      ? []
      : [
          `Before you go on, check that TEMPORAL_ADDRESS names the Temporal of ${lost.length === 1 ? 'this migration. If the address is wrong, it' : 'these migrations. If the address is wrong, they'} can still be running.`,
        ]),
    `If Temporal or the ledger was restored or lost, first ${reconcile}: ferry reconcile ${first}`,
    requested === undefined
      ? `To close every open migration that is no longer running in Temporal, as if it had been cancelled${ended.length === 0 ? '' : ', and to finish interrupted closings'}, run: ${command}`
      : `To close this migration as if it had been cancelled, run: ${command}`,
  ];
}

const without = (excluded: readonly string[], ids: readonly string[]): readonly string[] =>
  ids.filter((id) => !excluded.includes(id));

async function notToClose(ferry: LedgerClient, migrationId: string): Promise<Error> {
  const migration = await readMigration(ferry.db, migrationId);
  if (migration === undefined) return new NoSuchMigration(migrationId);
  await assertNamespace(ferry, migrationId);
  if (migration.state === 'supplied')
    return new CommandFailed(
      `no worker has begun ${migrationId}, so there is nothing to close`,
      `if its workflow was terminated, run ${sameStartCommand(migration.route)} again: it releases the organizations, and asks for another --label`,
    );
  return migration.vaultDestroyedAt === null
    ? new CommandFailed(
        `${migrationId} is still running in Temporal`,
        `to see its state, run: ferry show ${migrationId}`,
      )
    : new CommandFailed(`${migrationId} is already closed`, `to see its outcome, run: ferry report ${migrationId}`);
}

const MAX_NAMED = 10;

function closingOf(found: readonly string[], { ended, lost }: Unusual) {
  const open = without(ended, found);
  const named = (ids: readonly string[]): string =>
    `${counted(ids.length, 'migration')} (${referenceList(ids, MAX_NAMED)})`;
  const finished = `the closing of ${named(ended)} will be finished, which does not change ${ended.length === 1 ? 'its outcome' : 'their outcomes'}`;
  const effects = [
    ...(open.length === 0 ? [] : [`${named(open)} will be closed as if cancelled`]),
    ...(ended.length === 0 ? [] : [finished]),
  ];
  const them = found.length === 1 ? 'it' : 'them';
  const check =
    lost.length === 0
      ? ''
      : `. Temporal does not have ${named(lost)}: before you agree, check that TEMPORAL_ADDRESS names ${lost.length === 1 ? 'its' : 'their'} Temporal`;
  return {
    question: `Close ${counted(found.length, 'migration')} for good?`,
    consequence: `${effects.join('; ')}, and all credentials that are still stored for ${them} will be destroyed; companies that have moved stay connected${check}`,
    notDone: 'nothing was closed or deleted',
  };
}

/**
 * Returns why one migration could not be closed. The others are closed nevertheless.
 *
 * @throws the error itself if it concerns all migrations, for example because Temporal cannot be reached
 */
function whyNotClosed(error: unknown, env: NodeJS.ProcessEnv): string {
  const isOnlyThisOne = [WorkflowFailedError, WorkflowIdOccupied, WorkflowHadNoEffect].some(
    (each) => error instanceof each,
  );
  if (!isOnlyThisOne) throw error;
  const explained = withAdvice(error, env);
  return explained instanceof CommandFailed ? `${explained.message}; ${explained.advice}` : String(error);
}
