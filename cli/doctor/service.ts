/** The Company Data Service: whether it answers, and what the key may do. */
import { CompanyDataError, createCompanyDataClient } from '../../company-data-client';
import type { Configured } from './configured';
import type { ClockReading, Examined } from './finding';
import { examine, notChecked, ok, PATIENCE_MS, problem } from './finding';

const SERVICE = 'service';
const KEY = 'API key';

export async function examineService(
  service: Configured<'service'>,
  clocks: ClockReading[],
): Promise<readonly Examined[]> {
  const unasked = notChecked(KEY, 'the service has to answer first');
  if ('found' in service) return [service.found, unasked];
  const { url, apiKey } = service.value;
  const advice = 'start it, correct COMPANY_DATA_URL, or start everything with: ferry up';
  const answers = await examine(SERVICE, advice, () => reach(url, clocks));
  if (answers.some(({ verdict }) => verdict === 'problem')) return [...answers, unasked];
  const client = createCompanyDataClient({ baseUrl: url, apiKey, retryBudgetMs: 0 });
  try {
    const { value } = await client.account({ signal: AbortSignal.timeout(PATIENCE_MS) });
    const { role, plan, expiresAt, companiesUsed = 0, companyLimit } = value;
    const room = companyLimit == null ? '' : `, ${companiesUsed} of ${companyLimit} companies`;
    const until = expiresAt ? `, until ${expiresAt.slice(0, 10)}` : '';
    const may = role === 'administrator' ? '' : ': enough for the self-service route, not for the managed one';
    return [...answers, ok(KEY, `of the role ${role}${may}; plan ${plan}${until}${room}`)];
  } catch (error) {
    const why = error instanceof CompanyDataError ? error.message : 'no answer within 5 s';
    return [
      ...answers,
      problem(KEY, why, 'correct COMPANY_DATA_API_KEY; the correlation id helps whoever looks for it'),
    ];
  } finally {
    await client.close();
  }
}

/** Any answer will do: what it is, the key's check sees. */
async function reach(url: string, clocks: ClockReading[]): Promise<Examined> {
  const asked = Date.now();
  const answer = await fetch(url, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(PATIENCE_MS) });
  const date = Date.parse(answer.headers.get('date') ?? '');
  // Its clock is told in whole seconds: in the middle of one it is right.
  if (!Number.isNaN(date)) clocks.push({ whose: 'the service', aheadMs: date + 500 - (asked + Date.now()) / 2 });
  return ok(SERVICE, `answers at ${new URL(url).host}`);
}
