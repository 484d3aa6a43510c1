/** Connections to a Postgres database, as the ledger and the Company Data Service keep them. */
import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import type { PoolClient, PoolConfig } from 'pg';
import { DatabaseError, Pool } from 'pg';
import { PreparedStatements } from './prepared-statements';

/**
 * Opens a pool that survives the end of its connections: one that dies is replaced at its next use, and fails the
 * statement that it was dying under. Statements that are used often are kept prepared on each connection.
 */
export function openPool(config: PoolConfig): PostgresPool {
  const pool = new Pool(config);
  // Without listeners, on the pool while a connection is idle and on itself between two statements of a transaction, it
  // would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (connection) => connection.on('error', () => undefined));
  const statements = new PreparedStatements();
  return {
    connect: async () => new PreparingConnection(await pool.connect(), statements),
    end: () => pool.end(),
  };
}

class PreparingConnection implements PostgresPoolClient {
  constructor(
    private readonly connection: PoolClient,
    private readonly statements: PreparedStatements,
  ) {}

  query<Row>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
  query<Row>(statement: string | PostgresCursor<Row>, values: readonly unknown[] = []): unknown {
    if (typeof statement !== 'string') throw new Error('Kysely was given no cursors to use');
    return this.run<Row>(statement, values);
  }

  release(): void {
    this.connection.release();
  }

  private async run<Row>(text: string, values: readonly unknown[]) {
    const name = values.length > 0 ? this.statements.nameOf(text) : undefined;
    try {
      const query = { text, values: [...values], ...(name !== undefined && { name }) };
      const result = await this.connection.query(query);
      return result as PostgresQueryResult<Row>;
    } catch (failure) {
      if (isOutdated(failure)) this.statements.forget();
      throw failure;
    }
  }
}

/**
 * "cached plan must not change result type": another process has brought the schema up to date since the statement was
 * prepared. Whatever was asked for has not happened, and happens when it is asked for again.
 */
function isOutdated(failure: unknown): boolean {
  return failure instanceof DatabaseError && failure.routine === 'RevalidateCachedQuery';
}
