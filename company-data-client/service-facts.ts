/** Collects the facts about the account that a preflight needs before anything is moved. */
import type { ServiceFacts } from '../domain/preflight/preflight';
import {
  organizationKey,
  type ConnectedCompany,
  type OrganizationConflicts,
} from '../domain/preflight/organization-conflicts';
import type { CompanyDataClient } from './client';
import { CompanyDataError } from './errors';
import type { Company } from './schemas';

/** A connection of the account to an organization of the platform. */
export interface FoundConnection {
  /** Normalized by `organizationKey`. */
  readonly organization: string;
  readonly status: string;
  readonly company: Company;
}

export interface ServiceFactsQuery {
  readonly platformKey: string;
  /**
   * Called with the connections found on one page of companies. Returns the connections to report. Default: no
   * companies are read, and no connections are reported.
   */
  readonly selectRelevant?: (found: readonly FoundConnection[]) => Promise<readonly FoundConnection[]>;
  readonly signal?: AbortSignal;
  /** Called after each full page with the number of companies read so far, to heartbeat. Optional. */
  readonly onProgress?: (companies: number) => void;
}

export interface AccountFacts extends ServiceFacts {
  readonly connected: OrganizationConflicts['connected'];
}

const PAGE_SIZE = 5_000;

/**
 * Reads the account, the platform, the registered application and, if `selectRelevant` is given, the organizations that
 * are already connected. The service cannot filter by connection, so finding the organizations means reading every
 * company of the account with its connections, 5,000 per page.
 *
 * @returns the facts, or `refused` with the reason if the service refused a request and would refuse it again
 * @throws {CompanyDataError} if a request fails for another reason, such as an outage or a rate limit
 */
export async function readServiceFacts(
  service: CompanyDataClient,
  query: ServiceFactsQuery,
): Promise<AccountFacts | { readonly refused: string }> {
  const { platformKey, signal } = query;
  const options = signal === undefined ? {} : { signal };
  try {
    const { value: account } = await service.account(options);
    const { value: integration } = await service.integration(platformKey, options);
    const { companyLimit = null, companiesUsed, expiresAt = null } = account;
    return {
      account: { plan: account.plan, role: account.role, companyLimit, companiesUsed: companiesUsed ?? 0, expiresAt },
      platformEnabled: integration.enabled,
      callbackUrl: integration.callbackUrl ?? null,
      ...(integration.application === undefined ? {} : { application: integration.application }),
      connected: await connectedCompanies(service, query, companiesUsed),
    };
  } catch (error) {
    if (error instanceof CompanyDataError && isRefusal(error)) return { refused: error.message };
    throw error;
  }
}

async function connectedCompanies(
  service: CompanyDataClient,
  { platformKey, selectRelevant, signal, onProgress }: ServiceFactsQuery,
  companiesUsed: number | undefined,
): Promise<OrganizationConflicts['connected']> {
  const connected = new Map<string, ConnectedCompany>();
  if (!selectRelevant || companiesUsed === 0) return connected;
  let read = 0;
  let found: FoundConnection[] = [];
  const report = async (): Promise<void> => {
    for (const { organization, status, company } of await selectRelevant(found)) {
      // If an organization has several connections, keep a linked one.
      if (connected.get(organization)?.status === 'Linked') continue;
      connected.set(organization, { companyId: company.id, name: company.name, status });
    }
    found = [];
  };
  for await (const company of service.companies({ pageSize: PAGE_SIZE }, signal === undefined ? {} : { signal })) {
    read += 1;
    found.push(...connectionsTo(platformKey, company));
    if (read % PAGE_SIZE !== 0) continue;
    await report();
    onProgress?.(read);
  }
  await report();
  return connected;
}

function connectionsTo(platformKey: string, company: Company): readonly FoundConnection[] {
  return (company.dataConnections ?? []).flatMap(({ integrationKey, status = 'Unlinked', connectionInfo }) => {
    const organization = connectionInfo?.['organizationId'];
    if (integrationKey !== platformKey || organization === undefined) return [];
    return [{ organization: organizationKey(organization), status, company }];
  });
}

/** Returns whether a retry would be refused again. False for an outage or a rate limit. */
function isRefusal(error: CompanyDataError): boolean {
  const failure = error.toFailure();
  return failure.kind === 'response' && failure.isFromService && failure.status < 500 && failure.status !== 429;
}
