import { Client, Connection } from '@temporalio/client';
import type { Config } from '../../config';
import type { SigningKey } from '../../security';
import { dataConverterOf } from '../../security';
import type { Database } from '../../store';
import { openDatabase } from '../../store';
import { Unreachable } from './unreachable';

/** An open line to the orchestrator. */
export interface Ferry {
  readonly temporal: Client;
  /** The same line for states, dates and counts alone: it opens no payload, and so works where a payload key is missing. */
  readonly closed: Client;
  readonly db: Database;
  /** Signs what the person at the keyboard decides; absent: nothing is signed. */
  readonly signer?: SigningKey;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;

/** @throws Unreachable */
export async function openFerry(
  config: Config<'temporal' | 'databaseUrl' | 'payloadKeys'> & Partial<Config<'signingKey'>>,
): Promise<Ferry> {
  const { temporal, signingKey } = config;
  const [connected, opened] = await Promise.allSettled([
    Connection.connect({ ...temporal.connectionOptions, connectTimeout: CONNECT_TIMEOUT_MS }),
    openDatabase({ url: config.databaseUrl.reveal(), connections: 4, connectTimeoutMs: CONNECT_TIMEOUT_MS }),
  ]);
  if (connected.status === 'fulfilled' && opened.status === 'fulfilled') {
    const connection = connected.value;
    const db = opened.value;
    const { namespace } = temporal;
    const dataConverter = dataConverterOf(config.payloadKeys);
    return {
      temporal: new Client({ connection, namespace, dataConverter }),
      closed: new Client({ connection, namespace, dataConverter: { ...dataConverter, payloadCodecs: [] } }),
      db,
      ...(signingKey === undefined ? {} : { signer: signingKey }),
      close: async () => {
        await Promise.all([connection.close(), db.destroy()]);
      },
    };
  }
  if (connected.status === 'fulfilled') await connected.value.close();
  if (opened.status === 'fulfilled') await opened.value.destroy();
  if (connected.status === 'rejected') {
    throw new Unreachable('Temporal', temporal.address, { cause: connected.reason });
  }
  throw new Unreachable('Postgres', hostOf(config.databaseUrl.reveal()), {
    cause: opened.status === 'rejected' ? opened.reason : undefined,
  });
}

/** Without user and password. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an address that is no URL';
}
