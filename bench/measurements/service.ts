/** Measures the Company Data Service: requests per second, and pages of many companies. */
import autocannon from 'autocannon';
import { Client } from 'pg';
import { median, type Benchmark, type Measured, type Report } from '../figures';
import { startMeasuredService, UNLIMITED, type MeasuredService } from '../processes/service';

const CONNECTIONS = 64;
const PAGE_SIZE = 5_000;

export const service: Benchmark = {
  description: `the Company Data Service with ${CONNECTIONS} connections`,
  measure: async ({ quick, report }) => {
    const measured = await startMeasuredService({ requestsPerMinute: UNLIMITED });
    try {
      return await measureAll(measured, quick, report);
    } finally {
      await measured.stop();
    }
  },
};

async function measureAll(measured: MeasuredService, quick: boolean, report: Report): Promise<readonly Measured[]> {
  const [seconds, companies, samples] = quick ? [1, 10_000, 1] : [10, 100_000, 9];
  const STAGES = 4;
  report(0, STAGES, `inserting ${companies} companies`);
  const id = await insertCompanies(measured, companies);

  // Measure pages before the POSTs, because the POSTs add companies and so change the last page.
  report(1, STAGES, `pages of ${PAGE_SIZE}`);
  const first: number[] = [];
  const last: number[] = [];
  // The first sample of each page fills caches. It is dropped below.
  for (let sample = 0; sample <= samples; sample += 1) {
    first.push(await timePage(measured, 1, companies));
    last.push(await timePage(measured, companies / PAGE_SIZE, companies));
  }

  report(2, STAGES, 'GET of one company');
  const reads = await requestsPerSecond(measured, { path: `/companies/${id}` }, seconds);
  report(3, STAGES, 'POST of companies');
  const body = JSON.stringify({ name: 'One more' });
  const writes = await requestsPerSecond(measured, { path: '/companies', method: 'POST', body }, seconds);
  report(STAGES, STAGES, 'done');
  return [
    { name: 'service.get-company', value: reads, unit: 'requests/s', goal: ['>=', 1_000] },
    { name: 'service.post-company', value: writes, unit: 'requests/s', goal: ['>=', 400] },
    { name: 'service.first-page', value: median(first.slice(1)), unit: 'ms', goal: ['<', 300] },
    { name: 'service.last-page', value: median(last.slice(1)), unit: 'ms', goal: ['<', 300] },
  ];
}

/**
 * Inserts companies as if they had been moved and synced, because creating 100,000 through the API would take minutes.
 *
 * @returns the id of one of them
 */
async function insertCompanies({ databaseUrl }: MeasuredService, companies: number): Promise<string> {
  const database = new Client({ connectionString: databaseUrl, options: '-c search_path=company_data_service' });
  await database.connect();
  try {
    await database.query(
      `insert into companies (account_id, name, tags, created_at)
       select accounts.id, 'Company ' || n, jsonb_build_object('uid', n::text), now() - make_interval(secs => $1 - n)
       from accounts, generate_series(1, $1::integer) n`,
      [companies],
    );
    await database.query(
      `insert into connections (company_id, platform_key, status, data_types, organization_id, organization_name)
       select id, 'qhyg', 'Linked', '{bills,chartOfAccounts,customers,invoices,items,payments,suppliers}', tags ->> 'uid', name
       from companies`,
    );
    await database.query(
      `insert into data_sets (connection_id, company_id, data_type, latest_sync_id, last_successful_sync)
       select id, company_id, data_type, gen_random_uuid(), now() from connections, unnest(data_types) data_type`,
    );
    await database.query('vacuum analyze companies, connections, data_sets');
    const { rows } = await database.query<{ id: string }>('select id from companies limit 1');
    return rows[0]?.id ?? '';
  } finally {
    await database.end();
  }
}

interface RequestOptions {
  readonly path: string;
  readonly method?: 'POST';
  readonly body?: string;
}

/**
 * Sends requests for the given number of seconds, and returns the requests per second. Throws if a request failed or a
 * response was not 2xx.
 */
async function requestsPerSecond(
  { url, key }: MeasuredService,
  { path, ...options }: RequestOptions,
  seconds: number,
): Promise<number> {
  const result = await autocannon({
    url: url + path,
    ...options,
    connections: CONNECTIONS,
    duration: seconds,
    headers: { ...authorization(key), ...(options.body !== undefined && { 'content-type': 'application/json' }) },
  });
  if (result.non2xx + result.errors > 0 || result['2xx'] === 0) {
    throw new Error(`${path}: ${result.non2xx} responses were not 2xx, ${result.errors} requests failed`);
  }
  return result['2xx'] / result.duration;
}

/**
 * Returns how long it takes to request and read a page, in milliseconds. Throws if the page is not full, or if its link
 * to the next page is missing or unexpected.
 */
async function timePage({ url, key }: MeasuredService, page: number, companies: number): Promise<number> {
  const started = performance.now();
  const answer = await fetch(`${url}/companies?page=${page}&pageSize=${PAGE_SIZE}`, { headers: authorization(key) });
  const { results, totalResults, _links } = (await answer.json()) as Partial<Page>;
  const tookMs = performance.now() - started;
  const isLast = _links?.next === undefined;
  const isRight = results?.length === PAGE_SIZE && totalResults === companies;
  if (!answer.ok || !isRight || isLast !== (page === companies / PAGE_SIZE)) {
    throw new Error(`page ${page}: ${answer.status}, ${results?.length} of ${totalResults} companies`);
  }
  return tookMs;
}

interface Page {
  readonly results: readonly unknown[];
  readonly totalResults: number;
  readonly _links: { readonly next?: unknown };
}

function authorization(key: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(key).toString('base64')}` };
}
