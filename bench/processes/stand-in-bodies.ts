/** The bodies of the stand-in's responses, as JSON text. Shares no code with the product, like the stand-in. */
const DATA_TYPES = ['bills', 'chartOfAccounts', 'customers', 'invoices', 'items', 'payments', 'suppliers'];
export const PLATFORM = { key: 'qhyg', name: 'QuickBooks Online', sourceType: 'Accounting' };

/** A company of the stand-in. */
export interface Company {
  readonly id: string;
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly created: string;
  requests: number;
  connection: Connection | undefined;
  syncedAt: number;
}

export interface Connection {
  readonly id: string;
  status: 'PendingAuth' | 'Linked';
  organization: string;
}

export function companyText(company: Company, origin: string): string {
  const { id, name, tags, created: at, connection } = company;
  return (
    `{"id":"${id}","name":${JSON.stringify(name)},"redirect":"${origin}/link/company/${id}","created":"${at}",` +
    `"createdByUserName":null,"products":[],"tags":${JSON.stringify(tags)},` +
    `"dataConnections":[${connection ? connectionText(company, connection, origin) : ''}]}`
  );
}

export function connectionText(
  { created: at }: Company,
  { id, status, organization }: Connection,
  origin: string,
): string {
  const info =
    status === 'Linked'
      ? `"connectionInfo":{"organizationId":"${organization}","organizationName":"Organization ${organization}"},`
      : '';
  return (
    `{"id":"${id}","integrationId":"${idOf('a', 1)}","integrationKey":"${PLATFORM.key}","sourceId":"${id}",` +
    `"sourceType":"${PLATFORM.sourceType}","platformName":"${PLATFORM.name}","linkUrl":"${origin}/link/connection/${id}",` +
    `"status":"${status}","created":"${at}",${info}"dataConnectionErrors":[]}`
  );
}

/** @param syncTime ISO 8601; shown as the time of the last sync */
export function statusText({ id, syncedAt }: Company, syncTime: string): string {
  const isComplete = syncedAt !== 0 && Date.now() >= syncedAt;
  const sync = `"latestSyncId":"${id}"`;
  const at = isComplete ? `,"lastSuccessfulSync":"${syncTime}","latestSuccessfulSyncId":"${id}"` : '';
  const state = isComplete ? 'Complete' : syncedAt === 0 ? 'Initial' : 'Fetching';
  const sets = DATA_TYPES.map((name) => `"${name}":{"dataType":"${name}","currentStatus":"${state}",${sync}${at}}`);
  return `{${sets.join()}}`;
}

export function historyText({ id, created: at }: Company): string {
  const syncs = DATA_TYPES.map((dataType) =>
    JSON.stringify({
      ...{ id, companyId: id, connectionId: id, dataType, status: 'Complete', statusDescription: null },
      ...{ errorMessage: null, requested: at, completed: at, progress: 100, isCompleted: true, isErrored: false },
    }),
  );
  return pageText(syncs, 1, 100);
}

export function pageText(
  results: readonly string[],
  pageNumber: number,
  pageSize: number,
  totalResults = results.length,
  next?: string,
): string {
  const self = '{"href":"/companies"}';
  const more = next === undefined ? '' : `,"next":{"href":${JSON.stringify(next)}}`;
  return (
    `{"results":[${results.join()}],"pageNumber":${pageNumber},"pageSize":${pageSize},` +
    `"totalResults":${totalResults},"_links":{"self":${self},"current":${self}${more}}}`
  );
}

/** The only record of each data set. JSON. */
export const RECORD = JSON.stringify({
  ...{ id: idOf('b', 1), status: 'Paid', dueDate: '2025-01-31T00:00:00.000Z', currency: 'USD', amountDue: 0 },
  ...{ issueDate: '2025-01-01T00:00:00.000Z', customerRef: { id: idOf('b', 2), name: 'Customer 1' }, totalAmount: 100 },
  ...{ modifiedDate: '2025-01-01T00:00:00.000Z', invoiceNumber: 'INV-000001', totalTaxAmount: 16 },
});
/** The sync settings of a company as JSON, without the opening brace, because the company's id comes first. */
export const SYNC_SETTINGS = JSON.stringify({
  settings: DATA_TYPES.map((dataType, syncOrder) => ({
    dataType,
    fetchOnFirstLink: true,
    syncSchedule: 24,
    syncOrder,
  })),
  overridesDefaults: false,
}).slice(1);

/** Finds the ids in a path. */
export const ID = /[0-9a-f]{8}-0000-4000-8000-[0-9a-f]{12}/g;

/** Returns a GUID that contains the number. */
export function idOf(kind: string, number: number): string {
  return `${kind}0000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;
}
