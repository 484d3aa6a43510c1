/** Reads the tables of the Company Data Service and of its sandbox platforms directly. */
import type { Client } from 'pg';
import { withClient, type LedgerRow } from './ledger';

/** The tag with which the orchestrator marks the companies that it creates: `<migration>/<row>`. */
const ROW_TAG = 'ferryRow';

export interface ServiceConnection {
  readonly id: string;
  readonly companyId: string;
  readonly platformKey: string;
  readonly status: string;
  readonly organizationId: string | null;
  /** The `statusText` is for example `GrantRefused`; the `status` says whether the error is still active. */
  readonly errors: readonly { readonly statusText: string; readonly errorMessage: string; readonly status: string }[];
  /** The digest of the authorization body that was accepted last; null if the service holds no credential. */
  readonly acceptedDigest: string | null;
  /** True if the service has begun a refresh and has not stored the new tokens. */
  readonly exchangePending: boolean;
  /** The number of its data types, and the number of data types without a successful sync. */
  readonly dataTypes: number;
  readonly incomplete: number;
  /**
   * `syncErrors`: true if a sync has ended without being complete. `authErrors`: true if a sync has ended with
   * `AuthError`, for example because the grant was refused.
   */
  readonly syncErrors: boolean;
  readonly authErrors: boolean;
  readonly invoices: number;
}

export interface ServiceCompany {
  readonly id: string;
  readonly name: string;
  /** `<migration>/<row>`; null if the orchestrator did not create it. */
  readonly tag: string | null;
  readonly connections: readonly ServiceConnection[];
}

/** A token that the sandbox platform knows. */
export interface PlatformToken {
  readonly sha256: string;
  readonly platformKey: string;
  /**
   * True if the service has exchanged the token for new tokens. False if it is unused, or another application used it.
   */
  readonly usedByService: boolean;
}

export interface Service {
  readonly companies: ReadonlyMap<string, ServiceCompany>;
  readonly byTag: ReadonlyMap<string, readonly ServiceCompany[]>;
  readonly tokens: ReadonlyMap<string, PlatformToken>;
}

/**
 * Reads the companies that have a tag of the rows' migrations or that the ledger names, and the platforms' records of
 * the tokens with these digests.
 */
export async function readService(
  url: string,
  rows: readonly LedgerRow[],
  digests: readonly string[],
): Promise<Service> {
  return withClient(url, async (client) => {
    const connections = await readConnections(client, rows);
    const companies = (await readCompanies(client, rows)).map((company) => ({
      ...company,
      connections: connections.filter(({ companyId }) => companyId === company.id),
    }));
    const byTag = new Map<string, ServiceCompany[]>();
    for (const company of companies) {
      if (company.tag !== null) byTag.set(company.tag, [...(byTag.get(company.tag) ?? []), company]);
    }
    const tokens = await client.query<PlatformToken>(
      `select encode(digest, 'hex') as sha256, platform_key as "platformKey",
         spent_at is not null and exchange_id is not null as "usedByService"
       from company_data_service.sandbox_tokens where encode(digest, 'hex') = any($1)`,
      [digests],
    );
    return {
      companies: new Map(companies.map((company) => [company.id, company])),
      byTag,
      tokens: new Map(tokens.rows.map((token) => [token.sha256, token])),
    };
  });
}

/**
 * The companies with a tag of these migrations, and those that the ledger names. `$1`: migrations, `$2`: company ids.
 */
const COMPANIES = `
  select id, name, tags ->> '${ROW_TAG}' as tag from company_data_service.companies
  where split_part(tags ->> '${ROW_TAG}', '/', 1) = any($1) or id = any($2::uuid[])`;

function parametersOf(rows: readonly LedgerRow[]): unknown[] {
  const ids = rows.flatMap(({ companyId }) => (companyId === null ? [] : [companyId]));
  return [[...new Set(rows.map(({ migration }) => migration))], ids];
}

async function readCompanies(client: Client, rows: readonly LedgerRow[]) {
  const found = await client.query<Omit<ServiceCompany, 'connections'>>(
    `${COMPANIES} order by created_at, id`,
    parametersOf(rows),
  );
  return found.rows;
}

async function readConnections(client: Client, rows: readonly LedgerRow[]): Promise<readonly ServiceConnection[]> {
  const found = await client.query<ServiceConnection>(
    `select c.id, c.company_id as "companyId", c.platform_key as "platformKey", c.status,
       c.organization_id as "organizationId", c.errors, encode(g.accepted_digest, 'hex') as "acceptedDigest",
       exists (select from company_data_service.token_exchanges x where x.connection_id = c.id) as "exchangePending",
       cardinality(c.data_types) as "dataTypes",
       (select count(*)::integer from unnest(c.data_types) as wanted (name) where not exists (
          select from company_data_service.data_sets s
          where s.connection_id = c.id and s.data_type = wanted.name and s.latest_successful_sync_id is not null
        )) as incomplete,
       exists (select from company_data_service.syncs s where s.connection_id = c.id and s.due_at is null
         and s.status <> 'Complete') as "syncErrors",
       exists (select from company_data_service.syncs s where s.connection_id = c.id
         and s.status = 'AuthError') as "authErrors",
       (select count(*)::integer from company_data_service.records r
        where r.connection_id = c.id and r.data_type = 'invoices') as invoices
     from company_data_service.connections c
     join (${COMPANIES}) company on company.id = c.company_id
     left join company_data_service.credentials g on g.connection_id = c.id
     order by c.created_at, c.id`,
    parametersOf(rows),
  );
  return found.rows;
}
