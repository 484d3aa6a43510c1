/** Keeps a long-running command connected to a stack whose addresses can change. */
import { ConfigurationError, type Config } from '../../config';
import { Unreachable, type MigrationClient, type MigrationClientConfig } from '../../client';
import { DatabaseUnavailable } from '../../store';
import { CommandFailed } from '../shared/errors';

/** The configuration of a client, and whether it is that of the running stack. */
export type FollowedConfig = MigrationClientConfig & Partial<Config<'runningStack'>>;

/**
 * Connects the client again if the running stack has other addresses than before, because `ferry up` was restarted
 * while another program used a port. Otherwise, or if the new addresses cannot be used, leaves the client as it is. A
 * client that was not connected to a stack never changes, because a stack that starts later has other migrations.
 *
 * @throws DatabaseUnavailable if a newer version of Tokenferry has updated the ledger of the stack. Only a restart of
 *   this program with the newer version can help.
 */
export type FollowStack = () => Promise<void>;

/** A client that follows the running stack. */
export interface FollowingClient<Client> {
  /** Has the latest connections. They change only in `followStack`. */
  readonly ferry: Client;
  readonly followStack: FollowStack;
  /** Closes the latest and all earlier connections. */
  readonly close: () => Promise<void>;
}

/**
 * Opens a client that can follow the running stack.
 *
 * @param load reads the configuration
 * @param open connects to the servers of a configuration
 * @throws the error of `load` or of `open`
 */
export async function openFollowingClient<Client extends MigrationClient, Loaded extends FollowedConfig>(
  load: () => Loaded,
  open: (config: Loaded) => Promise<Client>,
): Promise<FollowingClient<Client>> {
  let config = load();
  // Earlier connections stay open until the end, because a decision can still be using them.
  const first = await open(config);
  const opened = [first];
  const ferry: Client = { ...first };
  let isClosed = false;
  return {
    ferry,
    followStack: async () => {
      if (!config.runningStack?.isUsed) return;
      const latest = ifConfigured(load);
      if (!latest?.runningStack?.isUsed || addressesOf(latest) === addressesOf(config)) return;
      const next = await ifReachable(open(latest));
      if (next === undefined) return;
      if (isClosed) return next.close();
      config = latest;
      opened.push(next);
      Object.assign(ferry, next);
    },
    close: async () => {
      isClosed = true;
      await Promise.all(opened.map((client) => client.close()));
    },
  };
}

/** Returns the servers of a configuration as one text, which contains a password. */
function addressesOf({ temporal, databaseUrl }: FollowedConfig): string {
  return [temporal.address, temporal.namespace, databaseUrl?.reveal()].join(' ');
}

/** Returns the configuration; undefined if it is incomplete, because no stack is running at the moment. */
function ifConfigured<Loaded>(load: () => Loaded): Loaded | undefined {
  try {
    return load();
  } catch (error) {
    if (error instanceof ConfigurationError || error instanceof CommandFailed) return undefined;
    throw error;
  }
}

/**
 * Returns the client; undefined if a server does not answer or cannot be used at the moment.
 *
 * @throws DatabaseUnavailable if the schema is newer than this program
 */
async function ifReachable<Client>(opening: Promise<Client>): Promise<Client | undefined> {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof Unreachable) return undefined;
    if (error instanceof DatabaseUnavailable && !error.hasNewerSchema) return undefined;
    throw error;
  }
}
