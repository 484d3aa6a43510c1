/** Companies: claimed in groups, imported or looked at side by side, and written to the ledger in groups. */
import { setMaxListeners } from 'node:events';
import { cancellationSignal, heartbeat, sleep } from '@temporalio/activity';
import DataLoader from 'dataloader';
import type { StopReason } from '../../domain/companies/failures';
import { exceedsTolerance, paceOf } from '../../domain/planning/limits';
import type { Platform } from '../../platforms/platforms';
import { findPlatform } from '../../platforms/platforms';
import type {
  RemainingWork,
  CheckOutcome,
  ClaimedCompany,
  LeaseOwner,
  Database,
  DueCompany,
  ImportOutcome,
} from '../../store';
import {
  beginSlice,
  claimCompanies,
  countFailures,
  readRemainingWork,
  recordSendIntent,
  releaseUnsent,
  readDueChecks,
  readLimits,
  readMigration,
  readVault,
  recordChecks,
  recordImports,
  setPaused,
  reclaimSent,
} from '../../store';
import type { ImportContext, Imported } from './import';
import { importCompany } from './import';
import type { ActivityDeps } from '../deps';
import { runWorkerPool } from './worker-pool';
import type { OpenCircuit } from './circuit-breaker';
import { createCircuitBreaker } from './circuit-breaker';
import type { Verified } from './verify';
import { verifyCompany } from './verify';

const HEARTBEAT_EVERY_MS = 5_000;

export interface SliceWork {
  readonly migrationId: string;
  readonly run: string;
  readonly slice: number;
  readonly onlyRow: number | null;
}

export interface SliceResult {
  readonly claimed: number;
  readonly stop: StopReason | null;
  /** Nothing gets through any more; null: something does. */
  readonly blocked: OpenCircuit | null;
}

/** Companies whose attempt died are looked for at the beginning of a slice, and from then on so often. */
const TAKE_OVER_EVERY_MS = 1_000;

interface Claimed {
  readonly company: ClaimedCompany;
  readonly sendBefore: Date;
}

/** Claims and imports group after group until nothing can be claimed, something stops it, or its time is over. */
export async function importSlice(deps: ActivityDeps, work: SliceWork): Promise<SliceResult> {
  const { db } = deps;
  const { migrationId, slice, onlyRow } = work;
  const until = Date.now() + deps.sliceTimeLimitMs;
  let claimed = 0;
  let stop: StopReason | null = null;
  /** The plan's pace: before, nothing more is claimed. */
  let paceUntil = 0;
  let takeOverAt = 0;
  let lanes = 1;
  const passage = createCircuitBreaker();
  const tooManyFailed = watchTolerance(deps, migrationId);
  const owner = await beginSlice(db, { ...work, leaseMs: deps.leaseMs });
  const crossing = await openCrossing(deps, owner);

  async function nextGroup(size: number) {
    if (Date.now() >= takeOverAt) {
      const sent = await reclaimSent(db, owner, size);
      // They come first: they are dark already.
      if (sent.length > 0) return sent;
      await releaseUnsent(db, owner);
      takeOverAt = Date.now() + TAKE_OVER_EVERY_MS;
    }
    return claimCompanies(db, owner, size, onlyRow);
  }

  await alive(() =>
    runWorkerPool<Claimed, Imported>({
      take: async (underWay) => {
        // What is under way is written down first.
        if (underWay === 0 && Date.now() < paceUntil) await sleep(paceUntil - Date.now());
        // Read for every group: they may be changed while a run is under way.
        const { limits } = await readLimits(db, migrationId);
        lanes = limits.companiesPerSliceAtOnce;
        const pace = paceOf(limits);
        const isOver = Date.now() >= until || crossing.signal.aborted || (onlyRow === null && slice > pace.slices);
        if (isOver || Date.now() < paceUntil || underWay >= lanes) return { items: [], lanes };
        // Before the claim, so that it is early rather than late.
        const sendBefore = new Date(Date.now() + deps.sendWithinMs);
        const companies = await nextGroup(Math.min(lanes - underWay, pace.companies));
        claimed += companies.length;
        paceUntil = sendBefore.getTime() - deps.sendWithinMs + companies.length * pace.waitMs;
        return { items: companies.map((company) => ({ company, sendBefore })), lanes };
      },
      handle: ({ company, sendBefore }) => importCompany({ ...crossing, sendBefore }, company),
      write: async (imported) => {
        const outcomes = imported.map(({ outcome }) => outcome);
        await recordImports(db, owner, outcomes);
        for (const { putOff = null } of imported) passage.note(putOff);
        stop ??= imported.find((each) => each.stop !== null)?.stop ?? null;
        if (stop === null && (await tooManyFailed(outcomes))) stop = 'too-many-failures';
        heartbeat({ claimed });
        return stop === null && !passage.isBlocked(lanes);
      },
    }),
  );
  return { claimed, stop, blocked: passage.blocked(lanes) };
}

/** What failed of more than these is a smaller share than of these alone. */
const FEW_TRIED = 1_000;

/**
 * Tells of each group that was written whether the plan still tolerates what has failed; if not, nothing more is claimed
 * until somebody has decided. Where nothing has failed yet, the ledger is not asked.
 */
function watchTolerance({ db }: ActivityDeps, migrationId: string) {
  // Before the first group, others' companies may have.
  let someFailed = true;
  return async (outcomes: readonly (ImportOutcome | CheckOutcome)[]): Promise<boolean> => {
    someFailed ||= outcomes.some(({ to }) => to === 'failed' || to === 'outcome-unknown');
    if (!someFailed) return false;
    const { limits } = await readLimits(db, migrationId);
    const few = await countFailures(db, migrationId, FEW_TRIED);
    someFailed = few.failed > 0;
    if (!exceedsTolerance(limits, few)) return false;
    // Few have been tried, or many have failed: now the exact share matters.
    if (!exceedsTolerance(limits, await countFailures(db, migrationId))) return false;
    await setPaused(db, migrationId, true);
    return true;
  };
}

async function platformOf({ db }: ActivityDeps, migrationId: string): Promise<Platform> {
  const migration = await readMigration(db, migrationId);
  const platform = migration && findPlatform(migration.platformKey);
  if (!platform) throw new Error(`migration ${migrationId} is not in the ledger`);
  return platform;
}

async function openCrossing(deps: ActivityDeps, owner: LeaseOwner): Promise<Omit<ImportContext, 'sendBefore'>> {
  const { db, keys, service } = deps;
  const { migrationId } = owner;
  const platform = await platformOf(deps, migrationId);
  const vault = await readVault(db, keys, migrationId);
  return {
    migrationId,
    platform,
    service,
    vault,
    signal: signalForMany(),
    noteSending: notesOf(db, owner),
  };
}

/** Notes of companies that come while another is being written are written together. */
function notesOf(db: Database, owner: LeaseOwner): ImportContext['noteSending'] {
  let latest: Promise<unknown> = Promise.resolve();
  const notes = new DataLoader<number, boolean>(
    (rows) => {
      const noted = recordSendIntent(db, owner, rows);
      latest = noted;
      return noted.then((ours) => rows.map((row) => ours.has(row)));
    },
    { cache: false, batchScheduleFn: (write) => void latest.then(write, write) },
  );
  return (row) => notes.load(row);
}

/** The activity's cancellation, which every call of every lane listens to: more than Node takes for a leak. */
function signalForMany(): AbortSignal {
  const signal = cancellationSignal();
  setMaxListeners(0, signal);
  return signal;
}

export interface CheckWork {
  readonly migrationId: string;
  readonly onlyRow: number | null;
  /** Whether each data set is counted and timed. */
  readonly everyDataSet: boolean;
}

export interface CheckResult {
  readonly settled: number;
  readonly stop: StopReason | null;
  /** Nothing can be seen of any company; null: of some it can. */
  readonly blocked: OpenCircuit | null;
}

/** Looks at every company whose next look is due: as many at once as all slices together import. */
export async function verifySlice(deps: ActivityDeps, work: CheckWork): Promise<CheckResult> {
  const { db, service } = deps;
  const { migrationId, onlyRow, everyDataSet } = work;
  const platform = await platformOf(deps, migrationId);
  const signal = signalForMany();
  const until = Date.now() + deps.sliceTimeLimitMs;
  /** These look due until what was found is written down. */
  const underWayRows = new Set<number>();
  let settled = 0;
  let stop: StopReason | null = null;
  let lanes = 1;
  const passage = createCircuitBreaker();
  const tooManyFailed = watchTolerance(deps, migrationId);

  await alive(() =>
    runWorkerPool<Due, Verified>({
      take: async (underWay) => {
        const { limits } = await readLimits(db, migrationId);
        const { slicesAtOnce, companiesPerSliceAtOnce, syncTimeoutMs } = limits;
        lanes = slicesAtOnce * companiesPerSliceAtOnce;
        if (Date.now() >= until || signal.aborted || underWay >= lanes) return { items: [], lanes };
        const due = await readDueChecks(db, migrationId, {
          size: lanes - underWay,
          onlyRow,
          without: [...underWayRows],
        });
        for (const { row } of due) underWayRows.add(row);
        return { items: due.map((company) => ({ company, syncTimeoutMs })), lanes };
      },
      handle: ({ company, syncTimeoutMs }) =>
        verifyCompany({ service, platform, syncTimeoutMs, everyDataSet, signal }, company),
      write: async (verified) => {
        const outcomes = verified.map(({ outcome }) => outcome);
        await recordChecks(db, migrationId, outcomes);
        for (const { row } of outcomes) underWayRows.delete(row);
        settled += outcomes.filter(({ to }) => to !== 'syncing').length;
        stop ??= verified.find((each) => each.stop !== null)?.stop ?? null;
        if (stop === null && (await tooManyFailed(outcomes))) stop = 'too-many-failures';
        for (const { putOff = null } of verified) passage.note(putOff);
        heartbeat({ settled });
        return stop === null && !passage.isBlocked(lanes);
      },
    }),
  );
  return { settled, stop, blocked: passage.blocked(lanes) };
}

interface Due {
  readonly company: DueCompany;
  readonly syncTimeoutMs: number;
}

export async function readAhead({ db }: ActivityDeps, migrationId: string): Promise<RemainingWork> {
  return readRemainingWork(db, migrationId);
}

/** The server takes a silent activity for dead; a group may take longer than it is patient. */
async function alive<T>(work: () => Promise<T>): Promise<T> {
  const beat = setInterval(() => heartbeat(), HEARTBEAT_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(beat);
  }
}
