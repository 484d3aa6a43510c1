/**
 * Moves a company from its claim to the end of its migration, and injects a fault at every point: each SQL statement,
 * each call to the service and each request for a key.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Activities } from '../../../activities';
import { terminationRecord } from '../../../domain/decisions/audit-trail';
import { readMigration, recordDecisions } from '../../../store';
import { activityEnvironment, statusAtService, useImportRig } from '../../support/migrations/company-import';
import {
  startCrashableWorker,
  type Fault,
  type CrashableWorker,
  type InjectedFault,
} from '../../support/faults/crash-points';
import { rowsWithCredential, msFromNow, readRow } from '../../support/migrations/ledger';
import { mapConcurrently } from '../../support/async';

const rig = useImportRig();

const SINGLE_USE = 'vxvy';
const KEPT = 'rwuv';
/** The ways in which platforms treat a refresh token after it has been used. */
const PLATFORMS = [
  ['used once', SINGLE_USE],
  ['changed daily', 'qhyg'],
  ['kept', KEPT],
] as const;
const RUN = { run: 'run-1', slice: 1 };
const SYNC = { atOnce: 4, syncTimeoutMs: 60_000 };

/** Retries a failed activity on a restarted worker, as Temporal does. */
async function withRetries<T>(worker: CrashableWorker, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await activityEnvironment().run<[], T, () => Promise<T>>(work);
    } catch (error) {
      if (tries === 10) throw error;
      worker.restart();
    }
  }
}

/** Ends every lease, and makes every retry and check due. */
async function letTimePass(id: string): Promise<void> {
  const { db } = rig.ledger;
  const due = { lease_ends_at: msFromNow(-1), not_before: null, next_check_at: msFromNow(-1) };
  await db.updateTable('companies').set(due).where('migration_id', '=', id).execute();
}

/**
 * Moves a company, and closes its migration.
 *
 * @returns the rows that still have a credential just before the migration is closed
 */
async function moveCompany(migrationId: string, worker: CrashableWorker): Promise<readonly number[]> {
  const service = rig.client(worker.serviceUrl, { requestTimeoutMs: 1_500, authorizationTimeoutMs: 1_500 });
  const activities: Activities = rig.worker({ db: worker.db, keys: worker.keys, service });
  const step = <T>(work: () => Promise<T>) => withRetries(worker, work);
  for (;;) {
    const report = await step(() => activities.importSlice({ migrationId, ...RUN, ledgerMark: 0 }));
    if (report.nextClaimInMs === null && report.nextReclaimInMs === null) break;
    await letTimePass(migrationId);
  }
  while ((await step(() => activities.verifySlice({ migrationId, ...SYNC }))).nextCheckInMs !== null) {
    await delay(20);
    await letTimePass(migrationId);
  }
  await step(() => activities.resolveInterrupted({ migrationId }));
  const left = await rowsWithCredential(rig.ledger.db, migrationId);
  const ended = { ...terminationRecord('ended', null, new Date().toISOString()), verified: true };
  await recordDecisions(rig.ledger.db, migrationId, [ended]);
  await step(() => activities.closeMigration({ migrationId }));
  await step(() => activities.deleteUnused({ migrationId }));
  return left;
}

/** Moves one company, and returns its final state in the ledger, at the service and at the platform. */
async function moveWithFaults(platformKey: string, faults: readonly InjectedFault[]) {
  const { db, keys } = rig.ledger;
  const { id } = await rig.migration(['sbx-ok-10'], { platformKey });
  const worker = await startCrashableWorker({ db, keys, serviceUrl: rig.service.url }, faults);
  let unerased: Awaited<ReturnType<typeof moveCompany>>;
  try {
    unerased = await moveCompany(id, worker);
  } finally {
    await worker.close();
  }
  const { state, failure, evidence } = await readRow(db, id, 1);
  const accepted = worker.crossings.findIndex((crossing) => crossing.accepted);
  return {
    points: worker.points,
    seen: {
      faults: faults.map(({ at, fault }) => `${worker.points[at]} ${fault}`),
      state,
      failure,
      passed: evidence?.every(({ passed }) => passed) ?? false,
      atTheService: await statusAtService(rig.directClient, id, 1),
      accepted: worker.crossings.filter((crossing) => crossing.accepted).length,
      usedAfterwards: accepted === -1 ? 0 : worker.crossings.length - accepted - 1,
      unerased,
      credentials: await rowsWithCredential(db, id),
      vaultDestroyed: (await readMigration(db, id))?.vaultDestroyedAt instanceof Date,
    },
  };
}

const ALWAYS = { failure: null, usedAfterwards: 0, credentials: [], vaultDestroyed: true };
const MOVED = {
  ...ALWAYS,
  state: 'moved',
  unerased: [],
  passed: true,
  atTheService: ['company with Linked'],
  accepted: 1,
};
/** The expected result if it is unknown whether a single-use token was used. */
const UNKNOWN = {
  ...ALWAYS,
  state: 'outcome-unknown',
  unerased: [1],
  passed: false,
  atTheService: ['company with PendingAuth'],
  accepted: 0,
};

const COMPANY = 'POST /companies';
const CONNECTION = 'POST /companies/{id}/connections';
const SEND_INTENT = 'update companies c set connection_id';
const AUTHORIZATION = 'PUT /companies/{id}/connections/{id}/authorization';
const CLAIM = 'with claimable';
const EXPECTED_POINTS = [
  'insert slices',
  'unwrap the key',
  expect.stringContaining(CLAIM),
  COMPANY,
  CONNECTION,
  AUTHORIZATION,
  'POST /companies/{id}/data/all',
  expect.stringContaining('with written'),
  'GET /companies/{id}/dataStatus',
  'GET /companies/{id}/connections/{id}',
  'GET /companies/{id}/data/invoices',
  expect.stringContaining('with finished'),
  'delete credentials',
];
/** The number of points from the claim to the recorded outcome. */
const CROSSING_POINTS = 7;
/** The number of points of the next attempt before it reclaims the company. */
const BEFORE_RECLAIM = 7;

const expectedResult = ({ state }: { readonly state: string }, platformKey: string) =>
  state === 'outcome-unknown' && platformKey === SINGLE_USE ? UNKNOWN : MOVED;

const FAULTS: readonly Fault[] = ['dies', 'fails', 'loses the answer', 'is answered 500', 'is not answered'];
/**
 * One kind of fault is enough for tokens that are kept, because the import treats them like tokens that change daily.
 */
const faultsFor = (platformKey: string) => (platformKey === KEPT ? FAULTS.slice(0, 1) : FAULTS);
const isCall = (point: string) => /^(GET|POST|PUT|DELETE) /.test(point);
const canOccurAt = (fault: Fault, point: string) => isCall(point) || !/^is /.test(fault);

describe.each(PLATFORMS)('a token that is %s', (_, platformKey) => {
  let baseline: readonly string[];
  beforeAll(async () => {
    const { points, seen } = await moveWithFaults(platformKey, []);
    expect(seen).toEqual({ ...MOVED, faults: [] });
    baseline = points;
  });

  test('a move without faults includes every expected write and call', () => {
    expect(baseline).toEqual(expect.arrayContaining(EXPECTED_POINTS));
    // The send intent comes immediately before the authorization.
    expect(baseline[baseline.indexOf(AUTHORIZATION) - 1]).toContain(SEND_INTENT);
  });

  test.each(faultsFor(platformKey))(
    'if the worker %s at any one point, the company is moved once, and an accepted token is never used again',
    async (fault) => {
      const points = [...baseline.keys()].filter((at) => canOccurAt(fault, baseline[at] ?? ''));
      const seen = await mapConcurrently(
        8,
        points,
        async (at) => (await moveWithFaults(platformKey, [{ at, fault }])).seen,
      );
      for (const each of seen) expect(each).toEqual({ ...expectedResult(each, platformKey), faults: each.faults });
      expect(seen.filter(({ state }) => state === 'outcome-unknown')).toEqual([]);
    },
  );
});

test.each(PLATFORMS.filter(([, platformKey]) => platformKey !== KEPT))(
  'a company whose token is %s is moved once or becomes outcome-unknown, but is never moved twice, if a second fault follows the first',
  async (_, platformKey) => {
    const { points: baseline } = await moveWithFaults(platformKey, []);
    const from = baseline.findIndex((point) => point.startsWith(CLAIM));
    const firsts = [...baseline.keys()].filter((at) => at >= from && at < from + CROSSING_POINTS);
    const pairs = firsts.flatMap((first) =>
      Array.from({ length: CROSSING_POINTS + BEFORE_RECLAIM }, (_, after): readonly InjectedFault[] => [
        { at: first, fault: 'dies' },
        { at: first + 1 + after, fault: after % 2 === first % 2 ? 'dies' : 'loses the answer' },
      ]),
    );
    const seen = await mapConcurrently(8, pairs, async (pair) => (await moveWithFaults(platformKey, pair)).seen);
    for (const each of seen) expect(each).toEqual({ ...expectedResult(each, platformKey), faults: each.faults });
  },
  300_000,
);
