/** The contract's table of endpoints, row by row, for the rules that hold for all of them. */
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { synced, type Caller } from '../running-service';
import * as shapes from './shapes';

interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** As the contract writes it, with `{names}`. */
  readonly path: string;
  /** The exact status of success. */
  readonly success: 200 | 204;
  /** What a success holds; absent: no body. */
  readonly shape?: z.ZodType;
  /** Several results: the shape is a page. */
  readonly isList?: true;
  /** A body that succeeds. */
  readonly body?: object;
}

const COMPANY = '/companies/{companyId}';
const CONNECTION = `${COMPANY}/connections/{connectionId}`;
const CREDENTIAL = { accessToken: 'a', refreshToken: `sbx-ok-1.${randomUUID()}`, realmId: 'realm-1' };
const SETTING = { dataType: 'invoices', fetchOnFirstLink: true, syncSchedule: 24, syncOrder: 0 };
const APPLICATION = { clientId: 'mine', clientSecret: 'hidden', environment: 'sandbox' };

const get = (path: string, shape: z.ZodType): Endpoint => ({ method: 'GET', path, success: 200, shape });
const list = (path: string, item: z.ZodType): Endpoint => ({ ...get(path, shapes.pageOf(item)), isList: true });
const write = (
  method: 'POST' | 'PUT' | 'PATCH',
  path: string,
  body: object | undefined,
  shape: z.ZodType,
): Endpoint => ({ method, path, success: 200, shape, ...(body && { body }) });

/** All endpoints that need a key. */
export const ENDPOINTS: readonly Endpoint[] = [
  list('/companies', shapes.company),
  write('POST', '/companies', { name: 'Acme' }, shapes.company),
  get(COMPANY, shapes.company),
  write('PUT', COMPANY, { name: 'Acme', description: 'Tools' }, shapes.company),
  write('PATCH', COMPANY, { tags: { uid: '42' } }, shapes.company),
  { method: 'DELETE', path: COMPANY, success: 204 },
  list(`${COMPANY}/connections`, shapes.connection),
  write('POST', `${COMPANY}/connections`, { platformKey: 'gbol' }, shapes.connection),
  get(CONNECTION, shapes.connection),
  write('PATCH', CONNECTION, { status: 'Unlinked' }, shapes.connection),
  { method: 'DELETE', path: CONNECTION, success: 200 },
  write('PUT', `${CONNECTION}/authorization`, CREDENTIAL, shapes.connection),
  { method: 'POST', path: `${COMPANY}/data/all`, success: 204 },
  write('POST', `${COMPANY}/data/queue/{dataType}`, undefined, shapes.pullOperation),
  get(`${COMPANY}/dataStatus`, shapes.dataStatus),
  list(`${COMPANY}/data/history`, shapes.pullOperation),
  get(`${COMPANY}/data/history/{datasetId}`, shapes.pullOperation),
  list(`${COMPANY}/data/{dataType}`, shapes.invoice),
  get(`${COMPANY}/data/invoices/{invoiceId}`, shapes.invoice),
  get(`${COMPANY}/syncSettings`, shapes.syncSettings),
  { method: 'POST', path: `${COMPANY}/syncSettings`, body: { settings: [SETTING] }, success: 204 },
  write('POST', `${CONNECTION}/push/{dataType}`, { invoiceNumber: 'INV-1' }, shapes.pushOperation),
  list(`${COMPANY}/push`, shapes.pushOperation),
  get(`${COMPANY}/push/{pushOperationKey}`, shapes.pushOperation),
  list('/integrations', shapes.integration),
  get('/integrations/{platformKey}', shapes.integration),
  write('PUT', '/integrations/{platformKey}/credentials', APPLICATION, shapes.application),
  get('/account', shapes.account),
];

/** What stands in a path's braces. */
export type Names = Readonly<Record<string, string>>;

/** A path with what its braces stand for; what has no name gets one that nothing has. */
export function filledIn(path: string, names: Names = {}): string {
  return path.replace(/\{(\w+)\}/g, (_braces, name: string) => names[name] ?? randomUUID());
}

/** A company that has one of everything: the names that every endpoint succeeds with. */
export async function companyWithEverything(call: Caller): Promise<Names> {
  const { company, connection } = await synced(call, 'sbx-ok-3');
  const invoices = await call('GET', `${company}/data/invoices`);
  const history = await call('GET', `${company}/data/history`);
  const push = await call('POST', `${connection}/push/invoices`, { body: { invoiceNumber: 'INV-1' } });
  return {
    companyId: company.split('/').at(-1) ?? '',
    connectionId: connection.split('/').at(-1) ?? '',
    dataType: 'invoices',
    invoiceId: invoices.body.results[0]?.id ?? '',
    datasetId: history.body.results[0]?.id ?? '',
    pushOperationKey: shapes.pushOperation.parse(push.body).pushOperationKey,
    platformKey: 'qhyg',
  };
}
