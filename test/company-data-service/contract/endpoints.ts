/** The specification's table of endpoints, for tests of rules that apply to all endpoints. */
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { newSyncedConnection, type Caller } from '../running-service';
import * as schemas from './response-schemas';

interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path in the specification, with parameters in braces, for example `{companyId}`. */
  readonly path: string;
  /** The exact status of a successful response. */
  readonly success: 200 | 204;
  /** The schema of a successful response; absent if it has no body. */
  readonly schema?: z.ZodType;
  /** True if the response is a page of results. */
  readonly isList?: true;
  /** A valid request body. */
  readonly body?: object;
}

const COMPANY = '/companies/{companyId}';
const CONNECTION = `${COMPANY}/connections/{connectionId}`;
const CREDENTIAL = { accessToken: 'a', refreshToken: `sbx-ok-1.${randomUUID()}`, realmId: 'realm-1' };
const SETTING = { dataType: 'invoices', fetchOnFirstLink: true, syncSchedule: 24, syncOrder: 0 };
const APPLICATION = { clientId: 'mine', clientSecret: 'hidden', environment: 'sandbox' };

const get = (path: string, schema: z.ZodType): Endpoint => ({ method: 'GET', path, success: 200, schema });
const list = (path: string, item: z.ZodType): Endpoint => ({ ...get(path, schemas.pageOf(item)), isList: true });
const write = (
  method: 'POST' | 'PUT' | 'PATCH',
  path: string,
  body: object | undefined,
  schema: z.ZodType,
): Endpoint => ({ method, path, success: 200, schema, ...(body && { body }) });

/** All endpoints that require an API key. */
export const ENDPOINTS: readonly Endpoint[] = [
  list('/companies', schemas.company),
  write('POST', '/companies', { name: 'Acme' }, schemas.company),
  get(COMPANY, schemas.company),
  write('PUT', COMPANY, { name: 'Acme', description: 'Tools' }, schemas.company),
  write('PATCH', COMPANY, { tags: { uid: '42' } }, schemas.company),
  { method: 'DELETE', path: COMPANY, success: 204 },
  list(`${COMPANY}/connections`, schemas.connection),
  write('POST', `${COMPANY}/connections`, { platformKey: 'gbol' }, schemas.connection),
  get(CONNECTION, schemas.connection),
  write('PATCH', CONNECTION, { status: 'Unlinked' }, schemas.connection),
  { method: 'DELETE', path: CONNECTION, success: 200 },
  write('PUT', `${CONNECTION}/authorization`, CREDENTIAL, schemas.connection),
  { method: 'POST', path: `${COMPANY}/data/all`, success: 204 },
  write('POST', `${COMPANY}/data/queue/{dataType}`, undefined, schemas.pullOperation),
  get(`${COMPANY}/dataStatus`, schemas.dataStatus),
  list(`${COMPANY}/data/history`, schemas.pullOperation),
  get(`${COMPANY}/data/history/{datasetId}`, schemas.pullOperation),
  list(`${COMPANY}/data/{dataType}`, schemas.invoice),
  get(`${COMPANY}/data/invoices/{invoiceId}`, schemas.invoice),
  get(`${COMPANY}/syncSettings`, schemas.syncSettings),
  { method: 'POST', path: `${COMPANY}/syncSettings`, body: { settings: [SETTING] }, success: 204 },
  write('POST', `${CONNECTION}/push/{dataType}`, { invoiceNumber: 'INV-1' }, schemas.pushOperation),
  list(`${COMPANY}/push`, schemas.pushOperation),
  get(`${COMPANY}/push/{pushOperationKey}`, schemas.pushOperation),
  list('/integrations', schemas.integration),
  get('/integrations/{platformKey}', schemas.integration),
  write('PUT', '/integrations/{platformKey}/credentials', APPLICATION, schemas.application),
  get('/account', schemas.account),
];

/** The values of the parameters in a path. */
export type PathParameters = Readonly<Record<string, string>>;

/** Fills in the parameters of a path. A parameter without a value gets an unknown id. */
export function fillPath(path: string, names: PathParameters = {}): string {
  return path.replace(/\{(\w+)\}/g, (_braces, name: string) => names[name] ?? randomUUID());
}

/** Creates a company with one of everything, so that every endpoint succeeds with the returned path parameters. */
export async function companyWithEverything(call: Caller): Promise<PathParameters> {
  const { company, connection } = await newSyncedConnection(call, 'sbx-ok-3');
  const invoices = await call('GET', `${company}/data/invoices`);
  const history = await call('GET', `${company}/data/history`);
  const push = await call('POST', `${connection}/push/invoices`, { body: { invoiceNumber: 'INV-1' } });
  return {
    companyId: company.split('/').at(-1) ?? '',
    connectionId: connection.split('/').at(-1) ?? '',
    dataType: 'invoices',
    invoiceId: invoices.body.results[0]?.id ?? '',
    datasetId: history.body.results[0]?.id ?? '',
    pushOperationKey: schemas.pushOperation.parse(push.body).pushOperationKey,
    platformKey: 'qhyg',
  };
}
