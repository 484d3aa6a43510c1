/**
 * The job that the benchmarks compare: eight requests that move one company, in the order and with the bodies of a
 * Tokenferry worker. Uses undici and no code of the product, so that the job does not share the limits of the product's
 * HTTP client.
 *
 * The job stores no state. If it stops early, it is unknown which tokens have been used.
 */
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';

export interface JobCompany {
  readonly name: string;
  readonly organization: string;
  readonly expectedInvoices: number;
  /** The authorization body that is sent to the service. */
  readonly credential: Readonly<Record<string, string>>;
}

export interface JobSettings {
  readonly url: string;
  readonly key: string;
  readonly platformKey: string;
  /** The maximum number of connections. */
  readonly connections: number;
}

/** The ids of an imported company. */
export interface Imported {
  readonly companyId: string;
  readonly connectionId: string;
}

export interface Job {
  /** Creates the company and its connection, authorizes the connection and starts the syncs: four requests. */
  importCompany(company: JobCompany): Promise<Imported>;
  /**
   * Checks the syncs, the connection and the invoices, and reads the settings: four requests.
   *
   * @returns false if a sync is not complete; only one request was then sent
   */
  verifyCompany(company: JobCompany, imported: Imported): Promise<boolean>;
  close(): Promise<void>;
}

interface LinkedConnection {
  readonly id: string;
  readonly status: string;
  readonly connectionInfo?: { readonly organizationId?: string };
}

export function openJob({ url, key, platformKey, connections }: JobSettings): Job {
  const pool = new Pool(url, { connections });
  const authorization = `Basic ${Buffer.from(key).toString('base64')}`;
  const reading = { accept: 'application/json', authorization };

  /** Returns the parsed body, or undefined if there is none. */
  async function send<T>(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown): Promise<T> {
    const answer = await pool.request({
      method,
      path,
      headers: {
        ...reading,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
    // The caller names the type of the response.
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  function assertLinked({ name, organization }: JobCompany, { status, connectionInfo }: LinkedConnection): void {
    if (status !== 'Linked' || connectionInfo?.organizationId !== organization) throw new Error(`${name} is ${status}`);
  }

  return {
    async importCompany(company) {
      const { name, credential } = company;
      const { id: companyId } = await send<{ id: string }>('POST', '/companies', { name, tags: { row: name } });
      const path = `/companies/${companyId}`;
      const { id: connectionId } = await send<LinkedConnection>('POST', `${path}/connections`, { platformKey });
      assertLinked(company, await send('PUT', `${path}/connections/${connectionId}/authorization`, credential));
      await send('POST', `${path}/data/all`);
      return { companyId, connectionId };
    },

    async verifyCompany(company, { companyId, connectionId }) {
      const path = `/companies/${companyId}`;
      const sets = Object.values(await send<Record<string, { currentStatus: string }>>('GET', `${path}/dataStatus`));
      if (sets.length === 0 || sets.some(({ currentStatus }) => currentStatus !== 'Complete')) return false;
      assertLinked(company, await send('GET', `${path}/connections/${connectionId}`));
      const { totalResults } = await send<{ totalResults: number }>('GET', `${path}/data/invoices?pageSize=1`);
      if (totalResults < company.expectedInvoices) throw new Error(`${company.name} has ${totalResults} invoices`);
      await send('GET', `${path}/syncSettings`);
      return true;
    },

    close: () => pool.close(),
  };
}

/** Limits how many tasks run at the same time. */
export function createLimit(atOnce: number): <T>(task: () => Promise<T>) => Promise<T> {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
