/** Opens a client of the Company Data Service for the work of a command, and closes the client afterwards. */
import {
  CompanyDataError,
  createCompanyDataClient,
  DeferredUntil,
  ForeignResponse,
  type CompanyDataClient,
} from '../../company-data-client';
import { loadConfig, type Config } from '../../config';
import { CommandFailed } from '../shared/errors';

/** The time for which a failed request is retried. Short, because a person is waiting for the command. */
const RETRY_BUDGET_MS = 3_000;

/**
 * Runs work with a client of the configured Company Data Service.
 *
 * @throws CommandFailed if the service refuses a request or does not answer
 * @throws DeferredUntil if the service asks for a longer wait, for example because it limits requests
 * @throws ForeignResponse if something other than the service answers
 */
export async function withService<Result>(
  env: NodeJS.ProcessEnv,
  work: (service: CompanyDataClient) => Promise<Result>,
): Promise<Result> {
  const { service: config } = loadConfig(['service'], env);
  try {
    return await withServiceAt(config, work);
  } catch (error) {
    // `withAdvice` has better advice if the service asks for a wait, or if the answer is not from the service.
    const hasOwnAdvice = error instanceof DeferredUntil || error instanceof ForeignResponse;
    if (!(error instanceof CompanyDataError) || hasOwnAdvice) throw error;
    throw new CommandFailed(
      error.message,
      `check the service at ${config.url} and COMPANY_DATA_API_KEY with: ferry doctor`,
      { cause: error },
    );
  }
}

/** @throws CompanyDataError */
export async function withServiceAt<Result>(
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
