import type { ConnectedCompany, ServiceFacts } from '../domain/preflight';
import { organizationKey } from '../domain/preflight';
import type { CompanyDataClient } from './client';
import { CompanyDataError } from './errors';
import type { Company } from './schemas';

/** What a preflight asks about. */
export interface FactsQuestion {
  readonly platformKey: string;
  /** Organizations of the manifest, as `organizationKey` writes them: nothing is remembered of any other. */
  readonly organizations: ReadonlySet<string>;
  /** Companies that the migration has created itself are no findings. */
  readonly isOwn: (company: Company) => boolean;
  readonly signal?: AbortSignal;
  /** Told after each so many companies: to heartbeat. */
  readonly onProgress?: (companies: number) => void;
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
): Promise<ServiceFacts | { readonly refused: string }> {
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
  { platformKey, organizations, isOwn, signal, onProgress }: FactsQuestion,
  companiesUsed: number | undefined,
): Promise<ReadonlyMap<string, ConnectedCompany>> {
  const connected = new Map<string, ConnectedCompany>();
  if (organizations.size === 0 || companiesUsed === 0) return connected;
  let read = 0;
  for await (const company of service.companies({ pageSize: PAGE }, signal === undefined ? {} : { signal })) {
    read += 1;
    if (read % PAGE === 0) onProgress?.(read);
    for (const { integrationKey, status, connectionInfo } of company.dataConnections ?? []) {
      const organization = organizationKey(connectionInfo?.['organizationId'] ?? '');
      if (integrationKey !== platformKey || !organizations.has(organization) || isOwn(company)) continue;
      // One that is linked says more than one that no longer is.
      if (connected.get(organization)?.status === 'Linked') continue;
      connected.set(organization, { companyId: company.id, name: company.name, status: status ?? 'Unlinked' });
    }
  }
  return connected;
}

/** An outage passes; what is refused stays refused until somebody changes something. */
function isAboutUs(error: CompanyDataError): boolean {
  const failure = error.toFailure();
  return failure.kind === 'answer' && failure.status >= 400 && failure.status < 500 && failure.status !== 429;
}
