/** Checks that the Company Data Service answers, and reads the role of the API key and the limits of its account. */
import {
  AccessDenied,
  CompanyDataError,
  createCompanyDataClient,
  DeferredUntil,
  ForeignResponse,
  KeyRefused,
  LimitReached,
  Throttled,
  UnreadableResponse,
} from '../../company-data-client';
import { isCertificateRefused } from '../../portal/client/failed-connection';
import { serviceAdvice } from '../suggestions/stack-advice';
import {
  check,
  notChecked,
  ok,
  CHECK_TIMEOUT_MS,
  problem,
  type CheckResult,
  type ClockReading,
  type ConfigPart,
} from './check-result';
import { aheadByDateHeader } from './this-machine';

const SERVICE = 'service';
/** The API of the service, which can fail although the service answers. */
const API = 'API of the service';
const KEY = 'API key';

const CERTIFICATE =
  'check the host in COMPANY_DATA_URL and the clock of this machine; if the certificate is of your own certificate authority, set NODE_EXTRA_CA_CERTS to the file with the certificate of this authority, also for the workers; otherwise, ask the support team of the service to replace the certificate';

export async function checkService(
  service: ConfigPart<'service'>,
  clocks: ClockReading[],
  env: NodeJS.ProcessEnv,
): Promise<readonly CheckResult[]> {
  const keyNotChecked = notChecked(KEY, 'not checked, because the service is not configured or does not answer');
  if ('unusable' in service) return [service.unusable, keyNotChecked];
  const { url, apiKey } = service.value;
  const adviceFor = (error: unknown): string => (isCertificateRefused(error) ? CERTIFICATE : serviceAdvice(env));
  const answers = await check(SERVICE, adviceFor, () => reach(url, clocks));
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
 * Reports a problem with the API key only if the service has refused it, or its account has expired. After any other
 * failure, the key is still unchecked.
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
  if (error instanceof LimitReached)
    return problem(KEY, why, 'renew the plan of the account, or set COMPANY_DATA_API_KEY to a key of another account');
  const { host } = new URL(url);
  if (error instanceof DeferredUntil || error instanceof Throttled) {
    return problem(
      API,
      `${host} can be reached, but does not serve requests at the moment: ${why}`,
      'COMPANY_DATA_API_KEY could not be checked; to check it later, run: ferry doctor',
    );
  }
  const advice =
    error instanceof ForeignResponse || error instanceof UnreadableResponse
      ? 'correct COMPANY_DATA_URL, or check the proxies in front of the service'
      : 'check that the service is healthy and can reach its database';
  return problem(
    API,
    `${host} can be reached, but the API of the service does not work: ${why}`,
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
  if (!Number.isNaN(date)) clocks.push({ whose: 'the service', aheadMs: aheadByDateHeader(date, sentAt, Date.now()) });
  return ok(SERVICE, `answers at ${new URL(url).host}`);
}
