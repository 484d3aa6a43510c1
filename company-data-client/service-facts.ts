import type { ServiceFacts } from '../domain/preflight/preflight';
import type { ConnectedCompany, OrganizationConflicts } from '../domain/preflight/organization-conflicts';
import { organizationKey } from '../domain/preflight/organization-conflicts';
import type { CompanyDataClient } from './client';
import { CompanyDataError } from './errors';
import type { Company } from './schemas';

/** A connection of the account to an organization of the platform. */
export interface FoundConnection {
  /** As `organizationKey` writes it. */
  readonly organization: string;
  readonly status: string;
  readonly company: Company;
}

/** What a preflight asks about. */
export interface FactsQuestion {
  readonly platformKey: string;
  /**
   * Which of these connections are to be remembered, and no other. Asked about one page of companies after the other.
   * Absent: none, and no company is read.
   */
  readonly concerning?: (found: readonly FoundConnection[]) => Promise<readonly FoundConnection[]>;
  readonly signal?: AbortSignal;
  /** Told after each so many companies: to heartbeat. */
  readonly onProgress?: (companies: number) => void;
}

export interface AnsweredFacts extends ServiceFacts {
  readonly connected: OrganizationConflicts['connected'];
}

const PAGE = 5_000;

/**
 * What the service says before anything is moved: the account, the platform, the application, and which organizations are
 * connected already. The service filters by nothing of a connection, so every company of the account is read, in pages of
 * 5,000 that hold their connections.
 *
 * @returns refused: the service answered, and its answer will be the same next time
 * @throws CompanyDataError when the service cannot answer now
 */
export async function readServiceFacts(
  service: CompanyDataClient,
  question: FactsQuestion,
): Promise<AnsweredFacts | { readonly refused: string }> {
  const { platformKey, signal } = question;
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
      connected: await connectedCompanies(service, question, companiesUsed),
    };
  } catch (error) {
    if (error instanceof CompanyDataError && isAboutUs(error)) return { refused: error.message };
    throw error;
  }
}

async function connectedCompanies(
  service: CompanyDataClient,
  { platformKey, concerning, signal, onProgress }: FactsQuestion,
  companiesUsed: number | undefined,
): Promise<OrganizationConflicts['connected']> {
  const connected = new Map<string, ConnectedCompany>();
  if (!concerning || companiesUsed === 0) return connected;
  let read = 0;
  let found: FoundConnection[] = [];
  const remember = async (): Promise<void> => {
    for (const { organization, status, company } of await concerning(found)) {
      // One that is linked says more than one that no longer is.
      if (connected.get(organization)?.status === 'Linked') continue;
      connected.set(organization, { companyId: company.id, name: company.name, status });
    }
    found = [];
  };
  for await (const company of service.companies({ pageSize: PAGE }, signal === undefined ? {} : { signal })) {
    read += 1;
    found.push(...connectionsTo(platformKey, company));
    if (read % PAGE !== 0) continue;
    await remember();
    onProgress?.(read);
  }
  await remember();
  return connected;
}

function connectionsTo(platformKey: string, company: Company): readonly FoundConnection[] {
  return (company.dataConnections ?? []).flatMap(({ integrationKey, status = 'Unlinked', connectionInfo }) => {
    const organization = connectionInfo?.['organizationId'];
    if (integrationKey !== platformKey || organization === undefined) return [];
    return [{ organization: organizationKey(organization), status, company }];
  });
}

/** An outage passes; what is refused stays refused until somebody changes something. */
function isAboutUs(error: CompanyDataError): boolean {
  const failure = error.toFailure();
  return failure.kind === 'answer' && failure.status >= 400 && failure.status < 500 && failure.status !== 429;
}
