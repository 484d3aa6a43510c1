/** Runs self-service migrations with the client's own API key, as a client does. */
import { randomUUID } from 'node:crypto';
import { createCompanyDataClient, type CompanyDataClient } from '../../../company-data-client';
import { createAccount, createKey } from '../../../company-data-service';
import type { Platform } from '../../../platforms/platforms';
import { Secret } from '../../../security';
import { removeTempFiles, tempFile } from '../manifest/manifest-files';
import { startOrchestrator, type Orchestrator } from '../../support/servers/orchestrator';
import { platform } from '../../support/migrations/platforms';
import { ferry } from '../captured-terminal';

export interface Row {
  readonly credential: string;
  readonly invoices?: number;
  readonly serviceCompanyId?: string;
  readonly serviceConnectionId?: string;
}

/** Writes a manifest with the companies `S-1`, `S-2`, ... and their credentials, which were obtained an hour ago. */
export function manifestOf({ requiredFields, organizationField }: Platform, rows: readonly Row[]): string {
  const secret = requiredFields.includes('refreshToken') ? 'refreshToken' : 'accessToken';
  return tempFile(
    JSON.stringify(
      rows.map(({ credential, invoices = null, ...ids }, index) => {
        const organization = `o-${randomUUID()}`;
        return {
          reference: `S-${index + 1}`,
          name: `Company ${index + 1}`,
          ...Object.fromEntries(requiredFields.map((field) => [field, 'any'])),
          [organizationField]: organization,
          // The suffix of the test credential is the organization, for platforms whose authorization has no field for
          // it.
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

interface CommandResult {
  readonly exitCode: number;
  readonly json: Record<string, unknown>;
}

interface ReportedCompany {
  readonly reference: string;
  readonly state: string;
  readonly organization: string;
  readonly companyId: string;
  readonly connectionId: string;
  readonly failure: string | null;
  readonly failureText: string | null;
}

/** A client with its own API key, and its commands. */
export interface SelfServiceClient {
  readonly orchestrator: Orchestrator;
  /** Calls the service with the client's own key. */
  readonly client: CompanyDataClient;
  readonly env: NodeJS.ProcessEnv;
  run(...args: string[]): ReturnType<typeof ferry>;
  /** Runs a command with `--json`. */
  asJson(...args: string[]): Promise<CommandResult>;
  /** Runs `ferry self-service` for companies with these credentials, as the migration `me.<slug>.<label>`. */
  selfService(slug: string, label: string, rows: readonly Row[], ...more: string[]): Promise<CommandResult>;
  companiesOf(id: string): Promise<readonly ReportedCompany[]>;
  close(): Promise<void>;
}

export async function openSelfServiceClient(): Promise<SelfServiceClient> {
  const orchestrator = await startOrchestrator();
  const { serviceDatabaseUrl, service } = orchestrator;
  const accountId = await createAccount(serviceDatabaseUrl, { name: 'A client', plan: 'paid' });
  const { key } = await createKey(serviceDatabaseUrl, { accountId, role: 'client' });
  const apiKey = new Secret(key);
  const client = createCompanyDataClient({ baseUrl: service.url, apiKey });
  const env = { ...orchestrator.env, COMPANY_DATA_API_KEY: key };
  await orchestrator.startWorker({ service: { url: service.url, apiKey } });

  const run = (...args: string[]) => ferry(args, undefined, env);
  const asJson = async (...args: string[]): Promise<CommandResult> => {
    const { exitCode, out } = await run(...args, '--json');
    return { exitCode, json: JSON.parse(out) as Record<string, unknown> };
  };
  return {
    orchestrator,
    client,
    env,
    run,
    asJson,
    selfService: (slug, label, rows, ...more) => {
      const file = manifestOf(platform(slug), rows);
      return asJson('self-service', file, '--platform', slug, '--client', 'me', '--label', label, '--yes', ...more);
    },
    companiesOf: async (id) => (await asJson('report', id)).json['companies'] as readonly ReportedCompany[],
    close: async () => {
      await client.close();
      await orchestrator.close();
      removeTempFiles();
    },
  };
}
