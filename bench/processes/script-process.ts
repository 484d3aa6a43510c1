/**
 * The script that a batch is compared with. It makes the same calls through the same client, with the same checks, the
 * same polling and the same concurrency. Unlike a batch it stores no state: if it stops early, nobody knows which
 * tokens have been used.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { CompanyDataClient } from '../../company-data-client';
import { createCompanyDataClient } from '../../company-data-client';
import { pollDelayMs } from '../../domain/planning/pacing';
import { Secret } from '../../security';
import type { BenchCompany } from '../companies';
import { companiesOf, PLATFORM } from '../companies';
import type { MoveTimes, ScriptCalls, ScriptWork } from './script';
import { serveParent } from './child-process';
import { usage } from './usage';

let moved = 0;

async function move({ url, key, companies, concurrency: atOnce }: ScriptWork): Promise<MoveTimes> {
  const client = createCompanyDataClient({ baseUrl: url, apiKey: new Secret(key), authorizationTimeoutMs: 60_000 });
  const [imports, checks] = [pLimit(atOnce), pLimit(atOnce)];
  moved = 0;
  const rows = companiesOf(companies);
  const startedAt = performance.now();
  const before = usage();
  await Promise.all(rows.map((company) => moveOne(client, imports, checks, company)));
  const { cpuMs } = usage();
  const tookMs = performance.now() - startedAt;
  await client.close();
  return { tookMs, cpuMs: cpuMs - before.cpuMs };
}

/** Moves one company. A company that is waiting for its sync does not count against the concurrency. */
async function moveOne(
  client: CompanyDataClient,
  imports: pLimit.Limit,
  checks: pLimit.Limit,
  company: BenchCompany,
): Promise<void> {
  const { companyId, connectionId } = await imports(() => importOne(client, company));
  const syncingSince = Date.now();
  do await delay(pollDelayMs(Date.now() - syncingSince));
  while (!(await checks(() => isComplete(client, company, companyId, connectionId))));
  moved += 1;
}

async function importOne(client: CompanyDataClient, { name, organization, credential }: BenchCompany) {
  const { value: company } = await client.createCompany(
    { name, tags: { row: name } },
    { idempotencyKey: randomUUID() },
  );
  const { value: connection } = await client.createConnection(company.id, PLATFORM.key, {
    idempotencyKey: randomUUID(),
  });
  const { value: linked } = await client.putAuthorization(company.id, connection.id, new Secret(credential));
  if (linked.status !== 'Linked' || linked.connectionInfo?.['organizationId'] !== organization) {
    throw new Error(`${name} is ${linked.status}`);
  }
  await client.startSync(company.id);
  return { companyId: company.id, connectionId: connection.id };
}

async function isComplete(
  client: CompanyDataClient,
  { name, organization, expectedInvoices }: BenchCompany,
  companyId: string,
  connectionId: string,
): Promise<boolean> {
  const { value: status } = await client.dataStatus(companyId);
  const sets = Object.values(status);
  if (sets.length === 0 || sets.some(({ currentStatus }) => currentStatus !== 'Complete')) return false;
  const { value: connection } = await client.getConnection(companyId, connectionId);
  if (connection.status !== 'Linked' || connection.connectionInfo?.['organizationId'] !== organization) {
    throw new Error(`${name} is ${connection.status}`);
  }
  const { value: invoices } = await client.countRecords(companyId, 'invoices');
  if (invoices < expectedInvoices) throw new Error(`${name} has ${invoices} invoices`);
  await client.syncSettings(companyId);
  return true;
}

const served: ScriptCalls = { move, moved: async () => moved };

serveParent(served, async () => undefined);
