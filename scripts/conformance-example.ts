/**
 * Creates the companies that the requests of `npm run conformance` refer to, because with random ids schemathesis would
 * mostly get 404.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { CompanyDataClient } from '../company-data-client';
import { Secret } from '../security';

/**
 * Xero. It has the self-service route, so client API keys can authorize its connections too, not only administrator
 * keys.
 */
const PLATFORM = 'gbol';
const POLL_MS = 50;

type Parameters = Readonly<Record<string, string>>;

/** Creates one resource of each kind, and returns their ids as the text of a schemathesis configuration file. */
export async function createExample(client: CompanyDataClient): Promise<string> {
  const main = await createLinkedCompany(client);
  const ids = { ...main, ...(await createResources(client, main)), platformKey: PLATFORM, file: `${PLATFORM}.svg` };
  const settings = [`parameters = ${inlineTable(ids)}`];
  // These operations remove or change their company, so each gets its own.
  for (const operation of [
    'DELETE /companies/{companyId}',
    'DELETE /companies/{companyId}/connections/{connectionId}',
    'PATCH /companies/{companyId}/connections/{connectionId}',
  ]) {
    const parameters = inlineTable({ ...(await createLinkedCompany(client)) });
    settings.push('[[operations]]', `include-name = ${JSON.stringify(operation)}`, `parameters = ${parameters}`);
  }
  return `${settings.join('\n')}\n`;
}

interface LinkedCompany {
  readonly companyId: string;
  readonly connectionId: string;
}

async function createLinkedCompany(client: CompanyDataClient): Promise<LinkedCompany> {
  const creation = () => ({ idempotencyKey: randomUUID() });
  const { value: company } = await client.createCompany({ name: 'Example' }, creation());
  const { value: connection } = await client.createConnection(company.id, PLATFORM, creation());
  const credential = new Secret({ accessToken: 'any', refreshToken: `sbx-ok-12.${company.id}`, tenantId: company.id });
  await client.putAuthorization(company.id, connection.id, credential);
  return { companyId: company.id, connectionId: connection.id };
}

/** Creates a push, a finished sync and records in a company, and returns their ids. */
async function createResources(
  client: CompanyDataClient,
  { companyId, connectionId }: LinkedCompany,
): Promise<Parameters> {
  const record = { invoiceNumber: 'EXAMPLE' };
  const { value: push } = await client.push(companyId, connectionId, 'invoices', record, {
    idempotencyKey: randomUUID(),
  });
  await client.startSync(companyId);
  let datasetId = '';
  for await (const { id } of client.syncHistory(companyId)) {
    while (!(await client.getSync(companyId, id)).value.isCompleted) await delay(POLL_MS);
    datasetId = id;
  }
  const { value: invoices } = await client.records(companyId, 'invoices', { pageSize: 1 });
  return {
    invoiceId: invoices.results[0]?.id ?? '',
    datasetId,
    pushOperationKey: push.pushOperationKey,
  };
}

/** Returns an inline TOML table. JSON strings are valid TOML strings. */
function inlineTable(parameters: Parameters): string {
  const entries = Object.entries(parameters).map(
    ([name, value]) => `${JSON.stringify(`path.${name}`)} = ${JSON.stringify(value)}`,
  );
  return `{ ${entries.join(', ')} }`;
}
