import { randomUUID } from 'node:crypto';
import { createAccount, createKey, startService, type ServiceOptions } from '../../company-data-service';
import { createTestDatabase, type TestDatabase } from '../support/servers/database';
import { SERVICE_CIPHER } from '../support/servers/keys';

/** Matches any string. */
export const ANY_STRING: unknown = expect.any(String);

interface Link {
  href: string;
}

/** The body of any response, with the fields that most tests read. A field is present only if the response has it. */
export interface Body {
  // A list
  results: Body[];
  totalResults: number;
  _links: { self: Link; current: Link; next?: Link; previous?: Link };
  // An error
  error: string;
  service: string;
  correlationId: string;
  validation: { errors: { itemId: string; message: string }[] };
  // A company, a connection
  id: string;
  name: string;
  redirect: string;
  lastSync: string;
  linkUrl: string;
  status: string;
  connectionInfo: { organizationId: string; lastAuthorized: string };
  dataConnections: Body[];
  dataConnectionErrors: { status: string; statusText: string }[];
  // An integration
  key: string;
  logoUrl: string;
  migrationRoutes: string[];
  // A sync, a data set's status
  dataType: string;
  progress: number;
  isCompleted: boolean;
  requested: string;
  completed: string;
  invoices: Body;
  currentStatus: string;
  latestSyncId: string;
  latestSuccessfulSyncId: string;
  lastSuccessfulSync: string;
  // An invoice
  totalAmount: number;
  invoiceNumber: string;
  // The sandbox's token endpoint
  refresh_token: string;
}

interface Answer {
  status: number;
  headers: Headers;
  text: string;
  body: Body;
}

interface Call {
  body?: unknown;
  headers?: Record<string, string>;
}

/** Calls the service with one API key, or without a key. */
export type Caller = (method: string, path: string, call?: Call) => Promise<Answer>;

export interface RunningService {
  url: string;
  database: TestDatabase;
  accountId: string;
  /** Callers with the keys of one paid account. */
  administrator: Caller;
  client: Caller;
  /** Returns a caller with an administrator's key of a new account. */
  newAccount(plan: 'trial' | 'free' | 'paid', createdAt?: Date): Promise<Caller>;
  close(): Promise<void>;
}

/** Starts a service with fast syncs on a new database. */
export async function runService(options: Partial<ServiceOptions> = {}): Promise<RunningService> {
  const database = await createTestDatabase('service');
  const databaseUrl = database.url;
  const service = await startService({
    requestsPerMinute: 100_000,
    syncBaseMs: 20,
    syncMsPerRecord: 1,
    cipher: SERVICE_CIPHER,
    ...options,
    databaseUrl,
  });
  const accountId = await createAccount(databaseUrl, { name: 'Example', plan: 'paid' });
  const callerFor = async (id: string, role: 'administrator' | 'client') =>
    callerWith(service.url, (await createKey(databaseUrl, { accountId: id, role })).key);
  return {
    url: service.url,
    database,
    accountId,
    administrator: await callerFor(accountId, 'administrator'),
    client: await callerFor(accountId, 'client'),
    newAccount: async (plan, createdAt) => {
      const id = await createAccount(databaseUrl, { name: 'Another', plan, ...(createdAt && { createdAt }) });
      return callerFor(id, 'administrator');
    },
    close: async () => {
      await service.close();
      await database.drop();
    },
  };
}

/** Returns a caller that uses this key. Without a key, the caller sends no `Authorization` header. */
export function callerWith(url: string, key?: string): Caller {
  const authorization = key === undefined ? {} : { authorization: `Basic ${Buffer.from(key).toString('base64')}` };
  return async (method, path, { body: sent, headers } = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: { ...authorization, ...(sent !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(sent !== undefined && { body: typeof sent === 'string' ? sent : JSON.stringify(sent) }),
    });
    const text = await response.text();
    const isJson = text !== '' && response.headers.get('content-type')?.includes('json');
    const body = (isJson ? JSON.parse(text) : {}) as Body;
    return { status: response.status, headers: response.headers, text, body };
  };
}

export async function newCompany(call: Caller, name = 'Acme'): Promise<string> {
  return (await call('POST', '/companies', { body: { name } })).body.id;
}

/** Creates a company with a connection and returns the paths of both. */
export async function newConnection(
  call: Caller,
  platformKey = 'qhyg',
): Promise<{ company: string; connection: string }> {
  const company = `/companies/${await newCompany(call)}`;
  const { body } = await call('POST', `${company}/connections`, { body: { platformKey } });
  return { company, connection: `${company}/connections/${body.id}` };
}

/** Returns an authorization body of QuickBooks Online. Adds a unique suffix to a test credential without a suffix. */
export function quickBooksCredential(credential: string, realmId = 'realm-1') {
  const refreshToken = credential.includes('.') ? credential : `${credential}.${randomUUID()}`;
  return { accessToken: 'access', refreshToken, realmId };
}

/** Creates a company and authorizes its QuickBooks Online connection with a test credential. */
export async function newAuthorizedConnection(
  call: Caller,
  credential: string,
): Promise<{ company: string; connection: string }> {
  const paths = await newConnection(call);
  await call('PUT', `${paths.connection}/authorization`, { body: quickBooksCredential(credential) });
  return paths;
}

/** Waits until no sync of the company is in progress, and returns the status of its data sets. */
export async function waitForSyncs(call: Caller, company: string): Promise<Record<string, Body>> {
  for (;;) {
    const states = byDataType((await call('GET', `${company}/dataStatus`)).body);
    if (!Object.values(states).some(({ currentStatus }) => ['Queued', 'Fetching'].includes(currentStatus)))
      return states;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Returns the body of `dataStatus` as an object with a field per data type. */
export function byDataType(body: unknown): Record<string, Body> {
  return body as Record<string, Body>;
}

/** Creates a company with an authorized connection, starts its syncs, and waits until they have ended. */
export async function newSyncedConnection(
  call: Caller,
  credential: string,
): Promise<{ company: string; connection: string }> {
  const paths = await newAuthorizedConnection(call, credential);
  await call('POST', `${paths.company}/data/all`);
  await waitForSyncs(call, paths.company);
  return paths;
}

/** Returns the `statusText` of each active error of a connection. */
export function activeErrors({ dataConnectionErrors }: Body): string[] {
  return dataConnectionErrors.filter(({ status }) => status === 'Active').map(({ statusText }) => statusText);
}
