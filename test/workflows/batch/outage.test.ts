/**
 * The service is down, asks us to wait, or drops connections. Companies wait, people see why, and the run continues
 * automatically.
 */
import { dropped, failing } from '../../company-data-client/misbehaving-service';
import { ferry } from '../../cli/captured-terminal';
import { runJson } from '../../cli/command-line';
import type { Progress } from '../../../domain/progress/progress';
import { until } from '../../support/async';
import { startHttpProxy, sendAnswer, type Interceptor, type HttpProxy } from '../../support/faults/http-proxy';
import { countCompanies, readStoppages } from '../../../store';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { startTestMigration, SUPPORT, timerSummaries, type TestMigration } from '../running-migration';

const orchestrator = useOrchestrator({ syncMsPerRecord: 100 });
let between: HttpProxy;
beforeAll(async () => {
  between = await startHttpProxy(orchestrator.service.url);
  const { apiKey } = orchestrator.config.service;
  // Short limits, so that the test of an outage takes seconds instead of minutes.
  const timing = {
    retryBudgetMs: 1_000,
    authorizationTimeoutMs: 2_000,
    sendWithinMs: 2_000,
    marginMs: 500,
    sliceTimeLimitMs: 3_000,
  };
  await orchestrator.startWorker({ service: { url: between.url, apiKey } }, timing);
});
beforeEach(() => between.reset());
afterAll(() => between.close());

/** A FreshBooks refresh token can be used only once. */
const SINGLE_USE = 'freshbooks';
const COMPANIES = 24;

/**
 * Returns a migration whose first company has been moved but not approved. Its batch runs have two slices, each of
 * which imports four companies at once.
 */
async function withFirstCompanyMoved(
  client: string,
  token: string,
): Promise<TestMigration & { readonly approve: () => Promise<void> }> {
  const tokens = Array.from(
    { length: COMPANIES },
    (_, index) => `${index === 0 ? 'sbx-ok-1' : token}.${client}${index}`,
  );
  const migration = await startTestMigration(orchestrator, client, tokens, null, { slug: SINGLE_USE });
  const limits = { slicesAtOnce: 2, companiesPerSliceAtOnce: 4, rampCompanies: 0, toleratedShare: null };
  expect(await migration.send('adjust', { limits, ...SUPPORT })).toBe('applied');
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  return {
    ...migration,
    approve: async () => {
      expect(await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT })).toBe('applied');
    },
  };
}

type InterceptorArguments = Parameters<Interceptor>;

/** Applies the interference to every call after the first `calls` calls. */
function everyCallAfter(calls: number, interference: Interceptor): void {
  let arrived = 0;
  for (const method of ['GET', 'POST', 'PUT']) {
    between.on(method, /./, async (response, request, pass) => {
      arrived += 1;
      return arrived > calls ? interference(response, request, pass) : passOn(response, pass);
    });
  }
}

const passOn = async (...[response, pass]: [InterceptorArguments[0], InterceptorArguments[2]]): Promise<void> =>
  sendAnswer(response, await pass());

const inOutage = ({ outage }: Progress): boolean => outage !== null;
const allFinished = ({ counts }: Progress): boolean => counts.waiting + counts.importing + counts.syncing === 0;
const allMoved = ({ counts }: Progress): boolean => counts.moved === COMPANIES;

/** Returns the timer summaries of the batch run, and how many of its activities are pending. */
async function batchRunOf(id: string): Promise<{ readonly timers: readonly unknown[]; readonly activities: number }> {
  const { raw } = await orchestrator.ferry.temporal.workflow.getHandle(`${id}.batch`).describe();
  const timers = await timerSummaries(orchestrator, `${id}.batch`);
  return { timers, activities: raw.pendingActivities?.length ?? 0 };
}

test('a run tries few companies during an outage, shows the next attempt on a timer, and continues afterwards', async () => {
  const migration = await withFirstCompanyMoved('outage', 'sbx-ok-1');
  let over = false;
  everyCallAfter(20, (response, request, pass) =>
    over ? passOn(response, pass) : failing(503, 'Maintenance')(response, request),
  );
  await migration.approve();
  const { outage, waitingFor } = await migration.until(inOutage);
  expect(outage?.why).toContain('answered 503 Maintenance');
  expect(outage?.source).toBe('service');
  expect(waitingFor).toEqual({
    roles: [],
    what: expect.stringMatching(
      /^on hold since .+ UTC; retries automatically at .+ UTC; cause: .*503 Maintenance.*$/,
    ) as string,
  });
  await until(async () => (await batchRunOf(migration.id)).activities === 0);
  const { timers } = await batchRunOf(migration.id);
  expect(timers).toContainEqual(
    expect.stringMatching(/^Next attempt at .+ UTC: no call is getting through to the service$/),
  );
  const shown = await runJson(orchestrator, 'show', migration.id);
  expect(shown.json).toMatchObject({ outage: { why: expect.stringContaining('503') as string } });
  const { json } = await runJson(orchestrator, 'list');
  expect(json['migrations']).toContainEqual(
    expect.objectContaining({ migrationId: migration.id, onHoldSince: outage?.since }),
  );
  const { out } = await ferry(['list'], undefined, orchestrator.env);
  expect(out.split('\n').find((line) => line.startsWith(`${migration.id} `))).toMatch(/ on hold( |$)/);
  const tried = new Set(between.arrived('POST', /^\/companies$/).map(({ body }) => body));
  expect(tried.size).toBeLessThan(COMPANIES - 1);

  over = true;
  const { counts, outage: after } = await migration.until(allFinished);
  expect(after).toBeNull();
  // The outcome of a company is unknown if too many answers about its single-use token were lost.
  expect(counts).toMatchObject({ failed: 0, moved: COMPANIES - counts.outcomeUnknown });
  const [recorded, ...others] = await readStoppages(orchestrator.ferry.db, migration.id);
  expect(recorded).toMatchObject({ kind: 'outage', source: 'service', endedAt: expect.any(String) as string });
  expect(recorded?.why).toContain('answered 503 Maintenance');
  expect(others).toEqual([]);
  const sent = between.arrived('PUT', /\/authorization$/).map(({ body }) => body);
  for (const body of sent) expect(sent.filter((other) => other === body).length).toBeLessThanOrEqual(2);
});

test('an outage dates from its first failed call, even if a slice ended before the outage was recognised', async () => {
  const migration = await withFirstCompanyMoved('early', 'sbx-ok-1');
  const limits = { slicesAtOnce: 1, companiesPerSliceAtOnce: 8, companiesPerMinute: 30 };
  expect(await migration.send('adjust', { limits, ...SUPPORT })).toBe('applied');
  let over = false;
  const failedAt = new Map<string, number>();
  let first: string | undefined;
  between.on('POST', /^\/companies$/, async (response, request, pass) => {
    first ??= request.body;
    if (over || request.body === first) return passOn(response, pass);
    if (!failedAt.has(request.body)) failedAt.set(request.body, Date.now());
    failing(503, 'Maintenance')(response, request);
  });
  await migration.approve();
  const { outage } = await migration.until(inOutage);
  over = true;
  const [recorded] = await readStoppages(orchestrator.ferry.db, migration.id);
  // The work on a company begins shortly before its call fails, so the outage can begin before the first failed call.
  const [firstFailedAt = 0, secondFailedAt = 0] = failedAt.values();
  expect(secondFailedAt).toBeGreaterThan(firstFailedAt);
  for (const since of [recorded?.beganAt, outage?.since])
    expect(Date.parse(since ?? '')).toBeLessThan((firstFailedAt + secondFailedAt) / 2);
});

test('a batch that has paused itself finishes the companies that it was moving', async () => {
  const tokens = ['sbx-ok-1.fin1', 'sbx-ok-1.fin2-lost', ...[3, 4, 5, 6].map((row) => `sbx-revoked.fin${row}`)];
  const migration = await startTestMigration(orchestrator, 'finishing', tokens, null, { slug: SINGLE_USE });
  const limits = { slicesAtOnce: 1, companiesPerSliceAtOnce: 4, toleratedFailures: 2 };
  expect(await migration.send('adjust', { limits, ...SUPPORT })).toBe('applied');
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  let isFirst = true;
  between.on('PUT', /\/authorization$/, async (response, request, pass) => {
    const isLost = isFirst && request.body.includes('fin2-lost');
    if (isLost) isFirst = false;
    return isLost ? dropped(response, request) : passOn(response, pass);
  });
  expect(await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT })).toBe('applied');
  await migration.until(({ pause }) => pause?.stopReason === 'too-many-failures');
  const { counts, pause } = await migration.until(({ counts: now }) => now.moved === 2);
  expect(pause?.reason).toMatch(
    /\(when the migration paused, \d of \d tried companies could not be moved, which is more than the limit of 2 companies\)/,
  );
  expect(counts).toMatchObject({ importing: 0, syncing: 0, outcomeUnknown: 0 });
  const { db } = orchestrator.ferry;
  const recorded = { kind: 'pause', stop: 'too-many-failures', why: pause?.reason };
  expect(await readStoppages(db, migration.id)).toMatchObject([{ ...recorded, endedAt: null }]);
  const audit = async () => (await ferry(['audit', migration.id], undefined, orchestrator.env)).out;
  expect(await audit()).toMatch(/Tokenferry +pause automatically[^]+still paused/);
  expect(await migration.send('resume', { reason: 'seen', ...SUPPORT })).toBe('applied');
  expect(await readStoppages(db, migration.id)).toMatchObject([{ ...recorded, endedAt: expect.any(String) as string }]);
});

test('at most two groups of companies are tried before a long Retry-After ends', async () => {
  const migration = await withFirstCompanyMoved('asked', 'sbx-ok-1');
  const WAIT_S = 12;
  let rateLimited = true;
  everyCallAfter(0, (response, request, pass) =>
    rateLimited ? failing(429, 'slowly', { 'retry-after': String(WAIT_S) })(response, request) : passOn(response, pass),
  );
  const startedAt = Date.now();
  await migration.approve();
  const { outage } = await migration.until(
    (progress) => Date.parse(progress.outage?.until ?? '') - startedAt > (WAIT_S - 3) * 1_000,
  );
  expect(outage?.why).toMatch(/asks for a retry after|the service's rate limit was reached/);
  // The first company, and at most twice the eight companies that are tried at once.
  expect(between.arrived('POST', /^\/companies$/).length).toBeLessThanOrEqual(1 + 2 * 8);
  rateLimited = false;
  await migration.until(allMoved);
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(WAIT_S * 1_000);
});

test('companies whose sync status cannot be read are checked again when the service responds', async () => {
  const migration = await withFirstCompanyMoved('dropped', 'sbx-ok-80');
  await migration.approve();
  const { db } = orchestrator.ferry;
  await until(async () => (await countCompanies(db, migration.id)).syncing === COMPANIES - 1);
  everyCallAfter(0, (response) => void response.destroy());
  const { outage } = await migration.until(inOutage);
  expect(outage?.why).toMatch(/dataStatus|account/);
  between.reset();
  const { counts } = await migration.until(allMoved);
  expect(counts.failed).toBe(0);
});
