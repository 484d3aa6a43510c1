import type { CompanyDataClient } from '../../company-data-client';
import { CompanyDataError, createCompanyDataClient } from '../../company-data-client';
import type { Config } from '../../config';
import { loadConfig } from '../../config';
import { CommandFailed } from './command-failed';

/** A person waits: an outage is told, not waited out. */
const RETRY_BUDGET_MS = 3_000;

/**
 * Opens a line to the Company Data Service for the time of one command.
 *
 * @throws CommandFailed when the service refuses or does not answer
 */
export async function withService<Result>(
  env: NodeJS.ProcessEnv,
  work: (service: CompanyDataClient) => Promise<Result>,
): Promise<Result> {
  const { service: config } = loadConfig(['service'], env);
  try {
    return await usingService(config, work);
  } catch (error) {
    if (!(error instanceof CompanyDataError)) throw error;
    throw new CommandFailed(error.message, `look at the service at ${config.url} and at its API key`, { cause: error });
  }
}

/** @throws CompanyDataError */
export async function usingService<Result>(
  { url, apiKey }: Config<'service'>['service'],
  work: (service: CompanyDataClient) => Promise<Result>,
): Promise<Result> {
  const service = createCompanyDataClient({ baseUrl: url, apiKey, retryBudgetMs: RETRY_BUDGET_MS });
  try {
    return await work(service);
  } finally {
    await service.close();
  }
}
