/** Worker processes are killed during a batch, and other workers reclaim their companies. */
import { countCompanies } from '../../../store';
import { mapConcurrently, until } from '../../support/async';
import { startHttpProxy, sendAnswer, type HttpProxy } from '../../support/faults/http-proxy';
import { statusAtService } from '../../support/migrations/company-import';
import { readRow } from '../../support/migrations/ledger';
import { startOrchestrator, type OpenedOrchestrator } from '../../support/servers/orchestrator';
import { startWorkerProcess, type KillableProcess } from '../../support/servers/killable-process';
import { startTestMigration, SUPPORT, type TestMigration } from '../running-migration';

let orchestrator: OpenedOrchestrator;
let between: HttpProxy;
const processes: KillableProcess[] = [];
beforeAll(async () => {
  orchestrator = await startOrchestrator();
  between = await startHttpProxy(orchestrator.service.url);
});
afterAll(async () => {
  await Promise.all(processes.map((each) => each.kill()));
  await orchestrator.close();
  await between.close();
});

/** A FreshBooks refresh token can be used only once. */
const SINGLE_USE = 'freshbooks';
const SEED = 20_261_121;
const COMPANIES = 150;
const KILLS = 3;

/** Returns a generator (Mulberry32) whose numbers between 0 and 1 are the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const TOKENS = ['sbx-ok-2', 'sbx-ok-2', 'sbx-slow-60-ok-2', 'sbx-ok-2', 'sbx-slow-60-ok-2'] as const;
const tokenOf = (index: number) => (index % 25 === 7 ? 'sbx-revoked' : (TOKENS[index % TOKENS.length] ?? 'sbx-ok-2'));
const tokens = (owner: string) => Array.from({ length: COMPANIES }, (_, index) => `${tokenOf(index)}.${owner}${index}`);

test('no company is moved twice and no token is used twice, even if workers are killed repeatedly', async () => {
  const env = { ...orchestrator.env, COMPANY_DATA_URL: between.url };
  processes.push(...(await Promise.all([startWorkerProcess(env), startWorkerProcess(env)])));
  const migrations = await Promise.all([
    startTestMigration(orchestrator, 'killed', tokens('once'), null, { slug: SINGLE_USE }),
    startTestMigration(orchestrator, 'killed', tokens('daily')),
  ]);
  await Promise.all(migrations.map((each) => each.readyToMove()));
  await Promise.all(migrations.map((each) => each.until(({ firstCompany }) => firstCompany?.stage === 'verified')));

  const random = seeded(SEED);
  // A worker is killed when the service receives the calls with these numbers, so that work is always in progress.
  const killsAt = Array.from({ length: KILLS }, (_, kill) => Math.floor(((kill + random()) * 6 * COMPANIES) / KILLS));
  const sent: { token: string; accepted: boolean }[] = [];
  let calls = 0;
  let kills = 0;
  const countAndKill: Parameters<HttpProxy['on']>[2] = async (response, { method, body }, pass) => {
    calls += 1;
    if (killsAt.includes(calls)) {
      const index = kills % 2;
      kills += 1;
      void processes[index]?.kill().then(async () => (processes[index] = await startWorkerProcess(env)));
    }
    const answer = await pass();
    if (method === 'PUT') sent.push({ token: body, accepted: answer.body.includes('"status":"Linked"') });
    sendAnswer(response, answer);
  };
  for (const method of ['GET', 'POST', 'PUT']) between.on(method, /^\/companies/, countAndKill);

  await Promise.all(migrations.map(moveRemaining));
  expect(kills).toBe(KILLS);

  const reclaimed: number[] = [];
  for (const { id } of migrations) reclaimed.push(...(await expectServiceMatchesLedger(id)));
  expect(reclaimed).not.toEqual([]);
  const used = new Set<string>();
  for (const { token, accepted } of sent) {
    expect(used).not.toContain(token);
    if (accepted) used.add(token);
  }
}, 540_000);

/** Approves the first company, and waits until no company is waiting, importing or syncing. */
async function moveRemaining({ id, send }: TestMigration): Promise<void> {
  await send('approve', { step: 'migrate-first-company', ...SUPPORT });
  const isFinished = async (): Promise<boolean> => {
    const { waiting, importing, syncing } = await countCompanies(orchestrator.ferry.db, id);
    return waiting + importing + syncing === 0;
  };
  await until(isFinished, 480_000);
}

/**
 * Checks the state of every company in the ledger and at the service.
 *
 * @returns the rows of the companies that were tried more than once
 */
async function expectServiceMatchesLedger(id: string): Promise<readonly number[]> {
  const { db } = orchestrator.ferry;
  const rows = Array.from({ length: COMPANIES }, (_, index) => index + 1);
  const companies = await mapConcurrently(8, rows, async (row) => ({
    ...(await readRow(db, id, row)),
    atTheService: await statusAtService(orchestrator.client(), id, row),
  }));
  for (const { row, state, atTheService } of companies) {
    const unknown = state === 'outcome-unknown' && id.endsWith(SINGLE_USE);
    const expected = unknown ? 'outcome-unknown' : tokenOf(row - 1).startsWith('sbx-revoked') ? 'failed' : 'moved';
    const status = expected === 'moved' ? 'Linked' : 'PendingAuth';
    expect({ row, state, atTheService }).toEqual({ row, state: expected, atTheService: [`company with ${status}`] });
  }
  return companies.filter(({ tries }) => tries > 1).map(({ row }) => row);
}
