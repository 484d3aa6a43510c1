/** Checks that the Company Data Service answers, and reads the role and the limits of the API key. */
import {
  AccessDenied,
  CompanyDataError,
  createCompanyDataClient,
  ForeignResponse,
  KeyRefused,
} from '../../company-data-client';
import type { ConfigPart } from './check-result';
import type { ClockReading, CheckResult } from './check-result';
import { check, notChecked, ok, CHECK_TIMEOUT_MS, problem } from './check-result';

const SERVICE = 'service';
const KEY = 'API key';

export async function checkService(
  service: ConfigPart<'service'>,
  clocks: ClockReading[],
): Promise<readonly CheckResult[]> {
  const keyNotChecked = notChecked(KEY, 'not checked, because the service is not configured or does not answer');
  if ('unusable' in service) return [service.unusable, keyNotChecked];
  const { url, apiKey } = service.value;
  const advice = 'start the service, correct COMPANY_DATA_URL, or start everything with: ferry up';
  const answers = await check(SERVICE, advice, () => reach(url, clocks));
  if (answers.some(({ verdict }) => verdict === 'problem')) return [...answers, keyNotChecked];
  const client = createCompanyDataClient({ baseUrl: url, apiKey, retryBudgetMs: 0 });
  try {
    const { value } = await client.account({ signal: AbortSignal.timeout(CHECK_TIMEOUT_MS) });
    const { role, plan, expiresAt, companiesUsed = 0, companyLimit } = value;
    const room = companyLimit == null ? '' : `, ${companiesUsed} of ${companyLimit} companies used`;
    const until = expiresAt ? `, until ${expiresAt.slice(0, 10)}` : '';
    const scope = role === 'administrator' ? '' : ' (self-service migrations only)';
    return [...answers, ok(KEY, `role ${role}${scope}; plan ${plan}${until}${room}`)];
  } catch (error) {
    return [...answers, accountProblem(url, error)];
  } finally {
    await client.close();
  }
}

/**
 * Reports a problem with the API key only if the service has refused it. After any other failure, the key is still
 * unchecked.
 */
function accountProblem(url: string, error: unknown): CheckResult {
  const why = error instanceof CompanyDataError ? error.message : 'GET /account was not answered within 5 s';
  if (error instanceof KeyRefused || error instanceof AccessDenied) {
    return problem(
      KEY,
      why,
      'correct COMPANY_DATA_API_KEY, or send the correlation id to the support team of the service',
    );
  }
  const advice =
    error instanceof ForeignResponse
      ? 'correct COMPANY_DATA_URL, or check the proxies in front of the service'
      : 'check that the service is healthy and can reach its database';
  return problem(
    SERVICE,
    `${new URL(url).host} can be reached, but the API of the service does not work: ${why}`,
    `${advice}; COMPANY_DATA_API_KEY could not be checked`,
  );
}

/** Accepts any HTTP response, because the check of the API key examines the service's answers. */
async function reach(url: string, clocks: ClockReading[]): Promise<CheckResult> {
  const sentAt = Date.now();
  const answer = await fetch(url, {
    method: 'HEAD',
    redirect: 'manual',
    signal: AbortSignal.timeout(CHECK_TIMEOUT_MS),
  });
  const date = Date.parse(answer.headers.get('date') ?? '');
  // Adds half a second, the average rounding error, because the Date header contains only whole seconds.
  if (!Number.isNaN(date)) clocks.push({ whose: 'the service', aheadMs: date + 500 - (sentAt + Date.now()) / 2 });
  return ok(SERVICE, `answers at ${new URL(url).host}`);
}
