import { Client, Connection } from '@temporalio/client';
import type { Config } from '../config';
import type { SigningKey } from '../security';
import { createDataConverter, withoutPayloadCodec } from '../security';
import type { Database } from '../store';
import { openDatabase } from '../store';
import { Unreachable } from './unreachable';

/** A line to migrations. To see how far they are and to decide, Temporal is enough: that is all that a client may have. */
export interface MigrationClient {
  readonly temporal: Client;
  /** The same line for states, dates and counts alone: it opens no payload, and so works where a payload key is missing. */
  readonly closed: Client;
  /** The ledger: every company, newer than Temporal knows it. Absent: it is not ours to read. */
  readonly db?: Database;
  /** Signs what the person at the keyboard decides; absent: nothing is signed. */
  readonly signer?: SigningKey;
  close(): Promise<void>;
}

/** A line to the whole orchestrator, as those have it who run migrations. */
export interface LedgerClient extends MigrationClient {
  readonly db: Database;
}

export type MigrationClientConfig = Config<'temporal' | 'payloadKeys'> & Partial<Config<'databaseUrl' | 'signingKey'>>;
export type LedgerClientConfig = MigrationClientConfig & Config<'databaseUrl'>;

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * To the ledger too, where it is configured.
 *
 * @throws Unreachable
 */
export async function openMigrationClient(config: MigrationClientConfig): Promise<MigrationClient> {
  const { databaseUrl } = config;
  return databaseUrl === undefined
    ? migrationClientOver(await connect(config), config)
    : openLedgerClient({ ...config, databaseUrl });
}

/** @throws Unreachable */
export async function openLedgerClient(config: LedgerClientConfig): Promise<LedgerClient> {
  const url = config.databaseUrl.reveal();
  const [connected, opened] = await Promise.allSettled([
    connect(config),
    openDatabase({ url, connections: 4, connectTimeoutMs: CONNECT_TIMEOUT_MS }),
  ]);
  if (connected.status === 'fulfilled' && opened.status === 'fulfilled') {
    const line = migrationClientOver(connected.value, config);
    const db = opened.value;
    return {
      ...line,
      db,
      close: async () => {
        await Promise.all([line.close(), db.destroy()]);
      },
    };
  }
  if (connected.status === 'fulfilled') await connected.value.close();
  if (opened.status === 'fulfilled') await opened.value.destroy();
  if (connected.status === 'rejected') throw connected.reason;
  throw new Unreachable('Postgres', hostOf(url), { cause: opened.status === 'rejected' ? opened.reason : undefined });
}

async function connect({ temporal }: MigrationClientConfig): Promise<Connection> {
  try {
    return await Connection.connect({ ...temporal.connectionOptions, connectTimeout: CONNECT_TIMEOUT_MS });
  } catch (error) {
    throw new Unreachable('Temporal', temporal.address, { cause: error });
  }
}

function migrationClientOver(
  connection: Connection,
  { temporal, payloadKeys, signingKey }: MigrationClientConfig,
): MigrationClient {
  const { namespace } = temporal;
  const dataConverter = createDataConverter(payloadKeys);
  return {
    temporal: new Client({ connection, namespace, dataConverter }),
    closed: new Client({ connection, namespace, dataConverter: withoutPayloadCodec(dataConverter) }),
    ...(signingKey === undefined ? {} : { signer: signingKey }),
    close: () => connection.close(),
  };
}

/** Without user and password. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an address that is no URL';
}
