import { WorkflowFailedError } from '@temporalio/client';
import { counted } from '../../../domain/text/sentences';
import { findPlatform } from '../../../platforms/platforms';
import type { LedgerClient, WorkflowPresence } from '../../../client';
import {
  closeTerminated,
  discardUnbegun,
  NoSuchMigration,
  readPresence,
  sweep,
  WorkflowHadNoEffect,
  WorkflowIdOccupied,
} from '../../../client';
import type { StoredMigration } from '../../../store';
import { readMigration, readNamespace } from '../../../store';
import type { CommandResult } from '../../terminal/output';
import type { Context, YesOption } from '../../shared/context';
import { addYesOption, confirm } from '../../shared/context';
import { CommandFailed, withAdvice } from '../../shared/errors';
import { DEFAULT_BY } from '../../shared/decisions';
import { referenceList } from '../../shared/results';
import { withLedgerClient, workflowNotStarted } from '../../shared/clients';

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
      'close these migrations like cancelled migrations: release their organizations and destroy their credentials. A named migration that no worker has begun is deleted instead',
    )
    .option('--by <name>', `name of the person who closes the migrations ${DEFAULT_BY}`);
  addYesOption(command).action((migrationId: string | undefined, options: Options) =>
    run(() => runSweep(context, migrationId, options)),
  );
}

async function runSweep(context: Context, requested: string | undefined, options: Options): Promise<CommandResult> {
  const { by, close } = options;
  return withLedgerClient(context.terminal.env, async (ferry) => {
    if (close && requested !== undefined) {
      const unbegun = await readUnbegun(ferry, requested);
      if (unbegun?.presence === 'ended') return discard(context, ferry, unbegun.migration, options);
    }
    const { schedulesDeleted, open } = await sweep(ferry, {
      only: requested,
      beforeDeleting: async (found, scheduled) => {
        if (requested !== undefined && found.length + scheduled.length === 0) throw await notToClose(ferry, requested);
        if (close && found.length > 0 && !(await confirm(context, options, closingOf(found))))
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
      json: { schema: 'ferry.sweep/1', schedulesDeleted, closed, closing, open: stillOpen, discarded: [], failed },
      printQuietly: (output) => {
        for (const id of stillOpen) output.line(id);
      },
      print: (output) => {
        for (const id of schedulesDeleted) output.line(`Deleted the schedule of ${id}.`);
        for (const id of closed) output.line(`Closed ${id}. See its outcome with: ferry report ${id}`);
        for (const id of closing)
          output.line(
            `${id} is not closed yet. A worker closes this migration once its last requests to the service have ended.`,
          );
        for (const { migrationId, why } of failed) output.line(`${migrationId} could not be closed: ${why}`);
        for (const id of close ? [] : stillOpen) {
          output.line(
            `${id} is no longer running in Temporal, but is still open in the ledger: its organizations cannot join another migration, and its credentials have not been destroyed.`,
          );
        }
        const [first] = close ? [] : stillOpen;
        if (first !== undefined) {
          output.line(
            `If Temporal or the ledger was restored or lost, first reconcile each migration, beginning with: ferry reconcile ${first}`,
          );
          output.line(
            requested === undefined
              ? 'To close such migrations as if they had been cancelled, run: ferry sweep --close'
              : `To close this migration as if it had been cancelled, run: ferry sweep --close ${requested}`,
          );
        }
        if (schedulesDeleted.length + open.length === 0) output.line('Nothing to clean up.');
      },
    };
  });
}

/** Returns the error for a migration that a sweep does not find. */
async function notToClose(ferry: LedgerClient, migrationId: string): Promise<Error> {
  const { db, temporal } = ferry;
  const migration = await readMigration(db, migrationId);
  if (migration === undefined) return new NoSuchMigration(migrationId);
  const namespace = await readNamespace(db, migrationId);
  if (namespace !== null && namespace !== temporal.options.namespace)
    return new CommandFailed(
      `${migrationId} is in another namespace of Temporal: ${namespace}`,
      'connect to this namespace, and run the command again',
    );
  if (migration.state === 'supplied') return notBegun(migration, await readPresence(ferry, migrationId));
  return migration.vaultDestroyedAt === null
    ? new CommandFailed(
        `${migrationId} is still running in Temporal`,
        `to see its state, run: ferry show ${migrationId}`,
      )
    : new CommandFailed(`${migrationId} is already closed`, `to see its outcome, run: ferry report ${migrationId}`);
}

function notBegun(migration: StoredMigration, presence: WorkflowPresence): CommandFailed {
  const { id } = migration;
  switch (presence) {
    case 'missing':
      return workflowNotStarted(migration);
    case 'running':
      return new CommandFailed(
        `no worker has begun ${id}, so there is nothing to close`,
        'start a worker; to see what is missing, run: ferry doctor',
      );
    case 'ended':
      return new CommandFailed(
        `the workflow of ${id} has ended, but no worker had begun it`,
        `to delete this migration from the ledger, run: ferry sweep --close ${id}`,
      );
  }
}

interface UnbegunMigration {
  readonly migration: StoredMigration;
  readonly presence: WorkflowPresence;
}

/** Returns a migration of this namespace that no worker has begun; null if the id names no such migration. */
async function readUnbegun(ferry: LedgerClient, migrationId: string): Promise<UnbegunMigration | null> {
  const migration = await readMigration(ferry.db, migrationId);
  if (migration?.state !== 'supplied') return null;
  const namespace = await readNamespace(ferry.db, migrationId);
  if (namespace !== null && namespace !== ferry.temporal.options.namespace) return null;
  return { migration, presence: await readPresence(ferry, migrationId) };
}

/** Deletes a migration that no worker has begun, because nothing else would release its organizations. */
async function discard(
  context: Context,
  ferry: LedgerClient,
  { id, client, platformKey, route }: StoredMigration,
  options: Options,
): Promise<CommandResult> {
  const asked = await confirm(context, options, {
    question: `Delete ${id}?`,
    consequence: `no worker has begun ${id}, so it will be deleted from the ledger with its manifest; no company was touched`,
    notDone: 'nothing was deleted',
  });
  if (!asked || !(await discardUnbegun(ferry, id)))
    throw new CommandFailed('nothing was deleted', 'list the migrations with: ferry list');
  const slug = findPlatform(platformKey)?.slug ?? platformKey;
  const label = id.endsWith('.again') ? 'once-more' : 'again';
  const start =
    route === 'managed'
      ? `ferry start companies.csv --platform ${slug} --client ${client} --label ${label}`
      : `ferry self-service companies.csv --platform ${slug} --client ${client} --label ${label}`;
  return {
    failed: false,
    json: {
      schema: 'ferry.sweep/1',
      ...{ schedulesDeleted: [], closed: [], closing: [], open: [], discarded: [id], failed: [] },
    },
    printQuietly: () => undefined,
    print: (output) => {
      output.line(`Deleted ${id}, which no worker had begun. Its organizations can join another migration.`);
      output.line(`To start this migration under another id, run: ${start}`);
    },
  };
}

/** Maximum number of migrations that the question lists. */
const MAX_NAMED = 10;

function closingOf(open: readonly string[]) {
  const these = counted(open.length, 'migration');
  const them = open.length === 1 ? 'it' : 'them';
  return {
    question: `Close ${these} for good?`,
    consequence: `${these} (${referenceList(open, MAX_NAMED)}) will be closed as if cancelled, and all credentials that are still stored for ${them} will be destroyed; companies that have moved stay connected`,
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
