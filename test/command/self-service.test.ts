/** The self-service route as a client walks it: with a key of its own, over HTTP, from the manifest to the last company. */
import { randomUUID } from 'node:crypto';
import type { CompanyDataClient } from '../../company-data-client';
import { createCompanyDataClient } from '../../company-data-client';
import { createAccount, createKey } from '../../company-data-service';
import type { Platform } from '../../domain/platforms';
import { PLATFORMS } from '../../domain/platforms';
import { Secret } from '../../security';
import { removeWrittenFiles, written } from '../manifest/written-files';
import { until } from '../support/conditions';
import type { Orchestrator } from '../support/orchestrator';
import { startOrchestrator } from '../support/orchestrator';
import { ferry } from './captured';

let orchestrator: Orchestrator;
let client: CompanyDataClient;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  orchestrator = await startOrchestrator();
  const { serviceDatabaseUrl, service } = orchestrator;
  const accountId = await createAccount(serviceDatabaseUrl, { name: 'A client', plan: 'paid' });
  const { key } = await createKey(serviceDatabaseUrl, { accountId, role: 'client' });
  const apiKey = new Secret(key);
  client = createCompanyDataClient({ baseUrl: service.url, apiKey });
  env = { ...orchestrator.env, COMPANY_DATA_API_KEY: key };
  await orchestrator.startWorker({ service: { url: service.url, apiKey } });
});
afterAll(async () => {
  await client.close();
  await orchestrator.close();
  removeWrittenFiles();
});

const SELF_SERVICE = PLATFORMS.filter(({ routes }) => routes.includes('self-service'));

interface Row {
  readonly credential: string;
  readonly invoices?: number;
  readonly serviceCompanyId?: string;
  readonly serviceConnectionId?: string;
}

/** A manifest with everything in it: one company for each test credential, `S-1`, `S-2`, ..., obtained an hour ago. */
function manifestOf({ requiredFields, organizationField }: Platform, rows: readonly Row[]): string {
  const secret = requiredFields.includes('refreshToken') ? 'refreshToken' : 'accessToken';
  return written(
    JSON.stringify(
      rows.map(({ credential, invoices = null, ...ids }, index) => {
        const organization = `o-${randomUUID()}`;
        return {
          reference: `S-${index + 1}`,
          name: `Company ${index + 1}`,
          ...Object.fromEntries(requiredFields.map((field) => [field, 'any'])),
          [organizationField]: organization,
          // The suffix is the organization where the authorization does not name it.
          [secret]: `${credential}.${organization}`,
          expectedInvoices: invoices,
          obtainedAt: new Date(Date.now() - 3_600_000).toISOString(),
          ...ids,
        };
      }),
    ),
    'companies.json',
  );
}

function platform(slug: string): Platform {
  const found = PLATFORMS.find((each) => each.slug === slug);
  if (!found) throw new Error(`the platform table lacks ${slug}`);
  return found;
}

const run = (...args: string[]) => ferry(args, undefined, env);

async function asJson(...args: string[]): Promise<{ exitCode: number; json: Record<string, unknown> }> {
  const { exitCode, out } = await run(...args, '--json');
  return { exitCode, json: JSON.parse(out) as Record<string, unknown> };
}

const selfService = (slug: string, label: string, rows: readonly Row[], ...more: string[]) =>
  asJson(
    'self-service',
    manifestOf(platform(slug), rows),
    '--platform',
    slug,
    '--client',
    'me',
    '--label',
    label,
    ...more,
  );

interface Reported {
  readonly reference: string;
  readonly state: string;
  readonly organization: string;
  readonly companyId: string;
  readonly connectionId: string;
  readonly failure: string | null;
  readonly failureText: string | null;
}

async function companiesOf(id: string): Promise<readonly Reported[]> {
  return (await asJson('report', id)).json['companies'] as readonly Reported[];
}

test.each(SELF_SERVICE)('$name: a company is moved with the key of the client', async ({ slug, key }) => {
  const { exitCode, json } = await selfService(slug, 'table', [{ credential: 'sbx-ok-1' }]);
  expect(json).toMatchObject({ state: 'completed', counts: { migrated: 1, total: 1 } });
  expect(exitCode).toBe(0);
  const [moved] = await companiesOf(`me.${slug}.table`);
  expect((await client.getConnection(moved?.companyId ?? '', moved?.connectionId ?? '')).value).toMatchObject({
    status: 'Linked',
    integrationKey: key,
  });
  expect(Object.values((await client.dataStatus(moved?.companyId ?? '')).value)).toContainEqual(
    expect.objectContaining({ currentStatus: 'Complete' }),
  );
});

describe('what was not moved', () => {
  test('waits for the client, which tries again, gives a new credential, gives up; then it ends by itself', async () => {
    const id = 'me.xero.failures';
    const rows = [{ credential: 'sbx-ok-1' }, { credential: 'sbx-revoked' }, { credential: 'sbx-expired' }];
    const { exitCode, json } = await selfService('xero', 'failures', rows);
    expect(exitCode).toBe(1);
    expect(json).toMatchObject({
      state: 'waiting',
      waitingFor: { roles: ['client'], what: 'say what becomes of 2 companies not moved' },
      counts: { migrated: 1, failed: 2 },
      next: [{ who: 'client', command: `ferry exceptions ${id}` }],
    });

    const failed = (await companiesOf(id)).find(({ reference }) => reference === 'S-2');
    const credentials = written(
      `reference,accessToken,refreshToken,tenantId\nS-2,any,sbx-ok-2.${randomUUID()},${failed?.organization}`,
    );
    const as = ['--as', 'client', '--by', 'Cleo'];
    expect((await run('replace-credential', id, credentials, ...as)).out).toContain(
      'moved again with a new credential',
    );
    expect((await run('skip', id, 'S-3', '--reason', 'closed', ...as)).exitCode).toBe(0);
    expect((await run('watch', id)).exitCode).toBe(0);
    expect((await companiesOf(id)).map(({ state }) => state)).toEqual(['migrated', 'migrated', 'skipped']);
  });
});
