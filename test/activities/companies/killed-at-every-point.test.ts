/**
 * A company's way from its claim to the end of its migration, broken at each point between two writes or calls: every
 * statement, every call and every key that a faultless way asks for is one.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Activities } from '../../../activities';
import { readMigration } from '../../../store';
import type { ImportRig } from '../../support/company-import';
import { activityEnvironment, statusAtService, openImportRig } from '../../support/company-import';
import type { Fault, CrashableWorker, InjectedFault } from '../../support/crash-points';
import { startCrashableWorker } from '../../support/crash-points';
import { credentialRows, msFromNow, readRow } from '../../support/ledger';
import { sideBySide } from '../../support/side-by-side';

let rig: ImportRig;
beforeAll(async () => {
  rig = await openImportRig();
});
afterAll(() => rig.close());

const SINGLE_USE = 'vxvy';
const KEPT = 'rwuv';
/** How platforms treat a refresh token that was used. */
const PLATFORMS = [
  ['used once', SINGLE_USE],
  ['changed daily', 'qhyg'],
  ['kept', KEPT],
] as const;
const RUN = { run: 'run-1', slice: 1 };
const SYNC = { atOnce: 4, syncTimeoutMs: 60_000 };

/** As Temporal does: an activity that failed is tried again, by whichever worker is there. */
async function done<T>(fate: CrashableWorker, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await activityEnvironment().run<[], T, () => Promise<T>>(work);
    } catch (error) {
      if (tries === 10) throw error;
      fate.restart();
    }
  }
}

/** Whatever was held, lent or put off until later is due now; what was on its way has ended. */
async function timePasses(id: string): Promise<void> {
  const { db } = rig.ledger;
  const due = { held_until: msFromNow(-1), not_before: null, next_check_at: msFromNow(-1) };
  await db.updateTable('companies').set(due).where('migration_id', '=', id).execute();
}

/** @returns rows whose credential is still there when all that can be verified is */
async function goTheWay(migrationId: string, fate: CrashableWorker): Promise<readonly number[]> {
  const service = rig.client(fate.serviceUrl, { requestTimeoutMs: 1_500, authorizationTimeoutMs: 1_500 });
  const activities: Activities = rig.worker({ db: fate.db, keys: fate.keys, service });
  const step = <T>(work: () => Promise<T>) => done(fate, work);
  for (;;) {
    const report = await step(() => activities.importSlice({ migrationId, ...RUN }));
    if (report.nextClaimInMs === null && report.nextTakeOverInMs === null) break;
    await timePasses(migrationId);
  }
  while ((await step(() => activities.verifyDue({ migrationId, ...SYNC }))).nextInMs !== null) {
    await delay(20);
    await timePasses(migrationId);
  }
  await step(() => activities.settleInterrupted({ migrationId }));
  const left = await credentialRows(rig.ledger.db, migrationId);
  await step(() => activities.closeMigration({ migrationId, ending: 'completed' }));
  await step(() => activities.removeUnused({ migrationId }));
  return left;
}

/** One migration of one company, and what can be seen of it afterwards: in the ledger, at the service, at the platform. */
async function afterTheWay(platformKey: string, blows: readonly InjectedFault[]) {
  const { db, keys } = rig.ledger;
  const { id } = await rig.migration(['sbx-ok-10'], { platformKey });
  const fate = await startCrashableWorker({ db, keys, serviceUrl: rig.service.url }, blows);
  const unerased = await goTheWay(id, fate).finally(() => fate.close());
  const { state, failure, evidence } = await readRow(db, id, 1);
  const accepted = fate.crossings.findIndex((crossing) => crossing.accepted);
  return {
    points: fate.points,
    seen: {
      blows: blows.map(({ at, fault: blow }) => `${fate.points[at]} ${blow}`),
      state,
      failure,
      passed: evidence?.every(({ passed }) => passed) ?? false,
      atTheService: await statusAtService(rig.directClient, id, 1),
      accepted: fate.crossings.filter((crossing) => crossing.accepted).length,
      usedAfterwards: accepted === -1 ? 0 : fate.crossings.length - accepted - 1,
      unerased,
      credentials: await credentialRows(db, id),
      vaultDestroyed: (await readMigration(db, id))?.vaultDestroyedAt instanceof Date,
    },
  };
}

const AT_THE_END = { failure: null, usedAfterwards: 0, credentials: [], vaultDestroyed: true };
const MOVED = {
  ...AT_THE_END,
  state: 'migrated',
  unerased: [],
  passed: true,
  atTheService: ['company with Linked'],
  accepted: 1,
};
/** Only of a token that can be used once, and only where it is true: nobody can know whether it was used. */
const UNKNOWN = {
  ...AT_THE_END,
  state: 'outcome-unknown',
  unerased: [1],
  passed: false,
  atTheService: ['company with PendingAuth'],
  accepted: 0,
};

const COMPANY = 'POST /companies';
const CONNECTION = 'POST /companies/{id}/connections';
const NOTE = 'update companies';
const AUTHORIZATION = 'PUT /companies/{id}/connections/{id}/authorization';
const CLAIM = 'with claimable';
const EACH_WAY = [
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
  expect.stringContaining('with settled'),
  'delete credentials',
];
/** From the claim to the record of what became of it; and what the next attempt does before it comes to the company. */
const CROSSING_POINTS = 7;
const BEFORE_TAKE_OVER = 7;

/** Where a token that is used once may have been used, as far as anybody can tell afterwards. */
const NOBODY_KNOWS: Readonly<Record<Fault, string>> = {
  dies: NOTE,
  fails: AUTHORIZATION,
  'loses the answer': NOTE,
  'is answered 500': AUTHORIZATION,
  'is not answered': AUTHORIZATION,
};

const whatIsTrue = ({ state }: { readonly state: string }, platformKey: string) =>
  state === 'outcome-unknown' && platformKey === SINGLE_USE ? UNKNOWN : MOVED;

const BLOWS: readonly Fault[] = ['dies', 'fails', 'loses the answer', 'is answered 500', 'is not answered'];
/** Of tokens that are kept and those that change daily an import knows no difference. */
const blowsOn = (platformKey: string) => (platformKey === KEPT ? BLOWS.slice(0, 1) : BLOWS);
const isCall = (point: string) => /^(GET|POST|PUT|DELETE) /.test(point);
const mayBe = (blow: Fault, point: string) => isCall(point) || !/^is /.test(blow);

describe.each(PLATFORMS)('a token that is %s', (_, platformKey) => {
  let way: readonly string[];
  beforeAll(async () => {
    const { points, seen } = await afterTheWay(platformKey, []);
    expect(seen).toEqual({ ...MOVED, blows: [] });
    way = points;
  });

  test('its way comes past every write and call that moves a company', () => {
    expect(way).toEqual(expect.arrayContaining(EACH_WAY));
    // It is written down first that a token leaves.
    expect(way[way.indexOf(AUTHORIZATION) - 1]).toBe(NOTE);
  });

  test.each(blowsOn(platformKey))(
    'whoever moves it %s, at any point: moved once, and the token used once',
    async (blow) => {
      const points = [...way.keys()].filter((at) => mayBe(blow, way[at] ?? ''));
      const seen = await sideBySide(
        8,
        points,
        async (at) => (await afterTheWay(platformKey, [{ at, fault: blow }])).seen,
      );
      for (const each of seen) expect(each).toEqual({ ...whatIsTrue(each, platformKey), blows: each.blows });
      const unknown = seen.filter(({ state }) => state === 'outcome-unknown').flatMap(({ blows }) => blows);
      expect(unknown).toEqual(platformKey === SINGLE_USE ? [`${NOBODY_KNOWS[blow]} ${blow}`] : []);
    },
  );
});

test.each(PLATFORMS.filter(([, platformKey]) => platformKey !== KEPT))(
  'two blows on one way, the second on whoever takes over, of a token that is %s: the same',
  async (_, platformKey) => {
    const { points: way } = await afterTheWay(platformKey, []);
    const from = way.findIndex((point) => point.startsWith(CLAIM));
    const firsts = [...way.keys()].filter((at) => at >= from && at < from + CROSSING_POINTS);
    const pairs = firsts.flatMap((first) =>
      Array.from({ length: CROSSING_POINTS + BEFORE_TAKE_OVER }, (_, after): readonly InjectedFault[] => [
        { at: first, fault: 'dies' },
        { at: first + 1 + after, fault: after % 2 === first % 2 ? 'dies' : 'loses the answer' },
      ]),
    );
    const seen = await sideBySide(8, pairs, async (pair) => (await afterTheWay(platformKey, pair)).seen);
    for (const each of seen) expect(each).toEqual({ ...whatIsTrue(each, platformKey), blows: each.blows });
  },
  120_000,
);
