/**
 * The portal's part of a worker: takes the requests that people have sent through the portal, carries them out, and
 * writes the portal views of the migrations that are being watched.
 *
 * The requests from one person to one migration are carried out one after the other, each by any worker, because they
 * must take effect in the order in which they were sent. Reports have their own order, because they change nothing.
 * Requests from different people do not wait for each other. A request whose worker dies is taken again after its
 * lease; carrying it out twice changes nothing. A worker takes only one such request at a time, so that a request that
 * crashes workers interrupts any other request at most once. Sign-ins do not wait for requests, because people wait for
 * sign-ins.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { IdentityProviderUnavailable } from '../../security/identity-token';
import {
  deleteOldPortalRequests,
  deleteOldStaged,
  postponePortalView,
  takePortalRequests,
  takeSignIns,
  takeWatchedMigrations,
  type PortalRequest,
  type SignInRequest,
} from '../../store';
import { nameOf, type PortalContext } from './context';
import { handleRequest } from './requests';
import { handleSignIn } from './sign-ins';
import { writeView } from './views';

const BUSY_POLL_MS = 300;
const IDLE_POLL_MS = 2_000;
/** A worker polls often for this long after the last request, sign-in or view. */
const BUSY_FOR_MS = 10_000;
/** The lease of a request. Longer than any request takes. */
const LEASE_MS = 45_000;
const SIGN_IN_LEASE_MS = 15_000;
const CLEAN_UP_EVERY_MS = 3_600_000;
const STOP_WITHIN_MS = 10_000;
const WATCHED_WITHIN_MS = 15_000;
const VIEW_EVERY_MS = 2_000;

const MAX_REQUESTS = 10;
const MAX_VIEWS = 10;
const MAX_SIGN_INS = 10;

export interface RunningPortal {
  /**
   * Takes no more requests, and waits up to 10 s for requests in progress. Other workers take the remaining requests.
   */
  stop(): Promise<void>;
}

export function startPortal(context: PortalContext): RunningPortal {
  const stopping = new AbortController();
  const tasks = new Set<Promise<void>>();
  const running = poll(context, tasks, stopping.signal);
  return {
    stop: async () => {
      stopping.abort();
      await running;
      const timeout = new AbortController();
      const late = delay(STOP_WITHIN_MS, undefined, { signal: timeout.signal }).catch(() => undefined);
      await Promise.race([Promise.all(tasks), late]);
      timeout.abort();
    },
  };
}

async function poll(context: PortalContext, tasks: Set<Promise<void>>, stopping: AbortSignal): Promise<void> {
  const { log } = context;
  const views = new Set<string>();
  let requests = 0;
  let isRetrying = false;
  let signIns = 0;
  let busyUntil = 0;
  let cleanUpAt = 0;
  let isFailing = false;
  let pause = new AbortController();

  function track(task: Promise<void>): void {
    tasks.add(task);
    void task.finally(() => tasks.delete(task));
  }

  function start(request: PortalRequest): void {
    requests += 1;
    const { id, kind, migrationId, attempts } = request;
    if (attempts > 1) isRetrying = true;
    const task = handleRequest(context, request)
      .then((isAnswered) => refresh(isAnswered && kind !== 'report' ? migrationId : null))
      .catch((error: unknown) =>
        log.warn(
          { request: id, reason: nameOf(error) },
          'the outcome of a portal request could not be stored; a worker will take the request again',
        ),
      )
      .finally(() => {
        requests -= 1;
        if (attempts > 1) isRetrying = false;
        // Polls at once, because the person's next request can be taken now.
        pause.abort();
      });
    track(task);
  }

  function signIn(request: SignInRequest): void {
    signIns += 1;
    track(
      handleSignIn(context, request)
        .catch((error: unknown) =>
          log.warn({ migration: request.migrationId, reason: signInFailure(error) }, 'a portal sign-in failed'),
        )
        .finally(() => (signIns -= 1)),
    );
  }

  function refresh(migrationId: string | null): void {
    if (migrationId === null || views.has(migrationId)) return;
    views.add(migrationId);
    track(
      writeView(context, migrationId)
        .catch(async (error: unknown) => {
          log.warn({ migration: migrationId, reason: nameOf(error) }, 'a portal view could not be written');
          await postponePortalView(context.ferry.db, migrationId).catch(() => undefined);
        })
        .finally(() => views.delete(migrationId)),
    );
  }

  async function round(): Promise<void> {
    const { ferry, namespace } = context;
    const { db } = ferry;
    const take = async (limit: number, hasFailed: boolean): Promise<void> => {
      for (const each of await takePortalRequests(db, { namespace, limit, leaseMs: LEASE_MS, hasFailed })) start(each);
    };
    if (!isRetrying) await take(1, true);
    if (requests < MAX_REQUESTS) await take(MAX_REQUESTS - requests, false);
    if (signIns < MAX_SIGN_INS) {
      const limit = MAX_SIGN_INS - signIns;
      for (const each of await takeSignIns(db, { namespace, limit, leaseMs: SIGN_IN_LEASE_MS })) signIn(each);
    }
    const limit = MAX_VIEWS - views.size;
    const watched =
      limit > 0
        ? await takeWatchedMigrations(db, {
            ...{ namespace, limit, withinMs: WATCHED_WITHIN_MS, olderThanMs: VIEW_EVERY_MS },
          })
        : [];
    for (const migrationId of watched) refresh(migrationId);
    if (requests + signIns + views.size > 0) busyUntil = Date.now() + BUSY_FOR_MS;
    if (Date.now() < cleanUpAt) return;
    cleanUpAt = Date.now() + CLEAN_UP_EVERY_MS;
    await deleteOldPortalRequests(db);
    await deleteOldStaged(db);
  }

  while (!stopping.aborted) {
    pause = new AbortController();
    try {
      await round();
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ reason: nameOf(error) }, 'portal requests cannot be read; trying again');
      isFailing = true;
    }
    const signal = AbortSignal.any([stopping, pause.signal]);
    await delay(Date.now() < busyUntil ? BUSY_POLL_MS : IDLE_POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Returns why a sign-in failed. Messages about an identity provider can be logged, because they contain no token. */
const signInFailure = (error: unknown): string =>
  error instanceof IdentityProviderUnavailable ? error.message : nameOf(error);
