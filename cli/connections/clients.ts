/** Opens the clients that a command needs, and closes them when its work is finished. */
import { loadConfig } from '../../config';
import {
  isBug,
  listMigrations,
  NoSuchMigration,
  openLedgerClient,
  openMigrationClient,
  type LedgerClient,
  type MigrationClient,
} from '../../client';
import { findPlatform, type Platform } from '../../platforms/platforms';
import { readMigration, readNamespace, type StoredMigration } from '../../store';
import { MIGRATIONS } from '../../workflows/messages';
import { CommandFailed } from '../shared/errors';
import { openFollowingClient, type FollowedConfig, type FollowingClient, type FollowStack } from './follow-stack';
import { eitherOf } from '../../domain/text/sentences';
import { withLedgerLimit } from './ledger-limit';
import { similar } from '../options/options';
import { databaseAdvice, otherLedgerAdvice } from '../suggestions/stack-advice';

/**
 * Runs the work of a command that needs the ledger.
 *
 * @param work receives a client, and for a command that runs until the user stops it, a function that follows the stack
 * @throws CommandFailed if no database is configured
 */
export async function withLedgerClient<Result>(
  env: NodeJS.ProcessEnv,
  work: (ferry: LedgerClient, followStack: FollowStack) => Promise<Result>,
): Promise<Result> {
  const load = () => {
    const { databaseUrl, ...config } = clientConfig(env);
    if (databaseUrl === undefined) throw needsDatabase();
    return { ...config, databaseUrl };
  };
  return withClient(env, await openFollowingClient(load, (config) => openLedgerClient(config, CLOSING)), work);
}

/**
 * Runs the work of a command that does not need the ledger, because people who work for the client might not have
 * access to it. Uses the ledger if a database is configured.
 *
 * @param work receives a client, and for a command that runs until the user stops it, a function that follows the stack
 */
export async function withMigrationClient<Result>(
  env: NodeJS.ProcessEnv,
  work: (ferry: MigrationClient, followStack: FollowStack) => Promise<Result>,
): Promise<Result> {
  const load = () => clientConfig(env);
  return withClient(env, await openFollowingClient(load, (config) => openMigrationClient(config, CLOSING)), work);
}

/** Short, because a command prints its result only after it has closed its connections. */
export const CLOSING = { closeWithinMs: 1_000 };

function clientConfig(env: NodeJS.ProcessEnv): FollowedConfig {
  return loadConfig(['temporal', 'payloadKeys'], env, [
    'databaseUrl',
    'signingKey',
    'clientUi',
    'providerFingerprint',
    'portalUrl',
    'tracing',
    'runningStack',
  ]);
}

async function withClient<Client extends MigrationClient, Result>(
  env: NodeJS.ProcessEnv,
  { ferry, followStack, close }: FollowingClient<Client>,
  work: (ferry: Client, followStack: FollowStack) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(ferry, followStack);
  } catch (error) {
    throw await explainMissing(ferry, error, env);
  } finally {
    await close();
  }
}

/**
 * Replaces NoSuchMigration with an error that says where the migration still is, or that suggests similar ids. If the
 * ledger cannot be read, says so, because the migration can be there. Returns any other error unchanged.
 *
 * @param error the error of a command or a dialog
 * @param env the environment variables, which decide what the advice about the database is
 * @throws the error of a bug in this program that prevents the explanation
 */
export async function explainMissing(ferry: MigrationClient, error: unknown, env: NodeJS.ProcessEnv): Promise<unknown> {
  if (!(error instanceof NoSuchMigration)) return error;
  const { migrationId } = error;
  const place = await withLedgerLimit(readFromLedger(ferry, migrationId)).then(
    (migration) => (migration === null ? null : onlyInLedger(migration)),
    (failure: unknown) => {
      if (isBug(failure)) throw failure;
      return perhapsInLedger(ferry, migrationId, failure, env);
    },
  );
  if (place !== null) return place;
  if (ferry.db && (await isInTemporal(ferry, migrationId))) return onlyInTemporal(migrationId);
  return withSuggestion(ferry, error);
}

/**
 * Returns the migration if the ledger has it; null otherwise. A migration of another namespace does not count, because
 * several namespaces can share a ledger.
 */
export async function readFromLedger(
  { db, temporal }: MigrationClient,
  migrationId: string,
): Promise<StoredMigration | null> {
  const migration = db && (await readMigration(db, migrationId));
  if (!migration) return null;
  const namespace = await readNamespace(db, migrationId);
  return namespace === null || namespace === temporal.options.namespace ? migration : null;
}

/**
 * Checks that the ledger's migration belongs to the namespace in which the command looks for its workflow.
 *
 * @throws CommandFailed if it belongs to another namespace, because several namespaces can share a ledger
 */
export async function assertNamespace({ db, temporal }: LedgerClient, migrationId: string): Promise<void> {
  const namespace = await readNamespace(db, migrationId);
  if (namespace !== null && namespace !== temporal.options.namespace)
    throw new CommandFailed(
      `${migrationId} is in another namespace of Temporal: ${namespace}`,
      `set TEMPORAL_NAMESPACE to ${namespace}, and run the command again`,
    );
}

/** Returns whether Temporal has the migration. Best effort: false if Temporal does not answer in time. */
async function isInTemporal(
  { temporalWithoutCodec: temporal }: MigrationClient,
  migrationId: string,
): Promise<boolean> {
  try {
    const { type } = await temporal.withDeadline(Date.now() + COMPARE_WITHIN_MS, () =>
      temporal.workflow.getHandle(migrationId).describe(),
    );
    return Object.values<string>(MIGRATIONS).includes(type);
  } catch (error) {
    if (isBug(error)) throw error;
    return false;
  }
}

/** The maximum number of migrations whose ids are compared with a wrong id, beginning with the newest. */
const MAX_COMPARED = 1_000;
const COMPARE_WITHIN_MS = 2_000;

async function withSuggestion(ferry: MigrationClient, error: NoSuchMigration): Promise<Error> {
  const near = similar(error.migrationId, await newestIds(ferry));
  if (near.length === 0) return error;
  return new CommandFailed(error.message, `did you mean ${eitherOf(near)}?`, { cause: error });
}

/**
 * Returns the ids that Temporal lists in time. Best effort, because they are only used for a suggestion. Does not read
 * the ledger, which might not answer.
 */
async function newestIds({ db: _ledger, ...ferry }: MigrationClient): Promise<readonly string[]> {
  const ids: string[] = [];
  try {
    await ferry.temporal.withDeadline(Date.now() + COMPARE_WITHIN_MS, async () => {
      for await (const { migrationId } of listMigrations(ferry)) if (ids.push(migrationId) >= MAX_COMPARED) break;
    });
  } catch (error) {
    if (isBug(error)) throw error;
  }
  return ids;
}

/**
 * Returns the error for a migration that only the ledger knows. Temporal deletes a migration some time after its end,
 * and loses all migrations if its database is lost.
 */
function onlyInLedger(migration: StoredMigration): CommandFailed {
  const { id, ending, state, vaultDestroyedAt } = migration;
  if (state === 'supplied') return workflowNotStarted(migration);
  if (ending !== null && vaultDestroyedAt === null)
    return new CommandFailed(
      `Temporal has deleted ${id}, and its closing was interrupted, so its credentials still exist`,
      `to destroy the credentials, run: ferry sweep --close ${id}`,
    );
  return ending === null
    ? new CommandFailed(
        `${id} is in the ledger, but not in Temporal`,
        `check that TEMPORAL_ADDRESS names the Temporal of this migration; if Temporal's database was lost or restored, docs/backup.md says what to do; to see what has been moved, run: ferry report ${id}`,
      )
    : new CommandFailed(
        `${id} has ended, and Temporal has deleted it`,
        `to see what was moved, run: ferry report ${id}`,
      );
}

/** Names the command that has started a migration of this route. */
export const sameStartCommand = (route: StoredMigration['route']): string =>
  `the same ferry ${route === 'managed' ? 'start' : 'self-service'} command`;

/** Returns the error for a migration that was stored, but that Temporal does not have and no worker has begun. */
export const workflowNotStarted = ({ id, route }: Pick<StoredMigration, 'id' | 'route'>): CommandFailed =>
  new CommandFailed(
    `${id} was stored, but is not in Temporal, and no worker has begun it`,
    `run ${sameStartCommand(route)} again`,
  );

/** Returns the error for a migration that Temporal does not have, while the ledger does not answer. */
async function perhapsInLedger(
  ferry: MigrationClient,
  migrationId: string,
  cause: unknown,
  env: NodeJS.ProcessEnv,
): Promise<CommandFailed> {
  const near = similar(migrationId, await newestIds(ferry));
  const advice = databaseAdvice(env, 'unclear');
  return new CommandFailed(
    `Temporal has no migration ${migrationId}, and the ledger cannot be read`,
    near.length === 0 ? advice : `did you mean ${eitherOf(near)}? If not, ${advice}`,
    { cause },
  );
}

/**
 * Returns the error for a migration that only Temporal knows: the ledger was restored from a backup that was made
 * before the start, or the command uses the ledger of other migrations.
 */
function onlyInTemporal(migrationId: string): CommandFailed {
  return new CommandFailed(`${migrationId} is in Temporal, but not in the ledger`, otherLedgerAdvice());
}

/**
 * Asserts that a ledger is configured, because an option of a command needs it.
 *
 * @param option the option, for example `--wave`
 * @param instead what to use if there is no database
 * @throws CommandFailed if no database is configured
 */
export function assertLedger(ferry: MigrationClient, option: string, instead: string): LedgerClient {
  const { db } = ferry;
  if (!db)
    throw new CommandFailed(
      `${option} needs the database, but no database is configured (DATABASE_URL)`,
      `set DATABASE_URL, or ${instead}`,
    );
  return { ...ferry, db };
}

function needsDatabase(): CommandFailed {
  return new CommandFailed(
    'this command needs the database, but no database is configured (DATABASE_URL)',
    'set DATABASE_URL, or ask someone with access to the database to run the command; without the database you can list, show, watch and decide',
  );
}

/**
 * Reads a migration that has not ended, and its platform.
 *
 * @param adviceIfEnded returns what to do if the migration has ended
 * @throws NoSuchMigration
 * @throws CommandFailed if the migration has ended, or if this version of ferry does not know the platform
 */
export async function readOpenMigration(
  { db }: LedgerClient,
  migrationId: string,
  adviceIfEnded: (migration: StoredMigration) => string,
): Promise<{ readonly migration: StoredMigration; readonly platform: Platform }> {
  const migration = await readMigration(db, migrationId);
  if (!migration) throw new NoSuchMigration(migrationId);
  if (migration.state === 'closed') {
    throw new CommandFailed(
      `migration ${migrationId} is already ${migration.ending ?? 'closed'}`,
      adviceIfEnded(migration),
    );
  }
  return { migration, platform: platformOf(migration) };
}

/**
 * Returns the platform of a migration.
 *
 * @throws CommandFailed if this version of ferry does not know the platform
 */
export function platformOf({ platformKey }: Pick<StoredMigration, 'platformKey'>): Platform {
  const platform = findPlatform(platformKey);
  if (!platform)
    throw new CommandFailed(
      `this version of ferry does not support the platform ${platformKey}`,
      'use a newer version',
    );
  return platform;
}
