/**
 * Checks that the ledger is that of the migrations that run in Temporal. Checks its open migrations: that the ledger
 * was not restored to an older state, that their workflows have not ended in Temporal, that no other workflow occupies
 * a workflow id that they need, and that their vaults can be opened. Also checks that workers have not given up on any
 * portal request in the last day. Changes nothing.
 */
import {
  findOccupiedIds,
  isLedgerBehind,
  isWorkflowOpen,
  listMigrations,
  NoSuchMigration,
  openLedgerClient,
  readStage,
  type LedgerClient,
} from '../../client';
import { adviceToFreeId } from '../../domain/migration/temporal-names';
import { counted } from '../../domain/text/sentences';
import {
  databaseOf,
  listGivenUpRequests,
  listUnfinishedMigrations,
  readMigration,
  type GivenUpRequest,
} from '../../store';
import { loadConfig } from '../../config';
import { check, notChecked, ok, problem, type CheckResult } from './check-result';
import { checkVaults, VAULTS } from './vaults';
import { CLOSING, readFromLedger } from '../connections/clients';
import { otherLedgerAdvice } from '../suggestions/stack-advice';
import { localTime } from '../terminal/times';

const LEDGER = 'ledger';
const TERMINATED = 'terminated';
const WORKFLOW_IDS = 'workflow ids';
const PORTAL_REQUESTS = 'portal requests';

/** @param isReady whether the namespace can be used, a payload key is configured, and the schema is up to date */
export async function checkLedger(env: NodeJS.ProcessEnv, isReady: boolean): Promise<readonly CheckResult[]> {
  if (!isReady)
    return [LEDGER, VAULTS].map((about) =>
      notChecked(
        about,
        'not checked, because this check needs Temporal, the payload key and a database whose schema is up to date',
      ),
    );
  return check(LEDGER, 'run ferry doctor again', async () => {
    const config = loadConfig(['temporal', 'payloadKeys', 'databaseUrl'], env);
    const ferry = await openLedgerClient(config, CLOSING);
    try {
      const running = await listIfAllMissing(ferry);
      if (running.length > 0) return otherLedger(databaseOf(config.databaseUrl.reveal()), running);
      const open = await listUnfinishedMigrations(ferry.db, config.temporal.namespace);
      const occupied = (await Promise.all(open.map((id) => findOccupiedIds(ferry, id)))).flat();
      return [
        await checkAge(ferry, open),
        ...(await checkTerminated(ferry, open)),
        ...occupied.map((id) => problem(WORKFLOW_IDS, `another workflow occupies the id ${id}`, adviceToFreeId(id))),
        ...(await checkVaults(env, ferry.db, await withOpenWorkflow(ferry, open))),
        ...givenUp(await listGivenUpRequests(ferry.db, config.temporal.namespace)),
      ];
    } finally {
      await ferry.close();
    }
  });
}

/** Returns the migrations that run in the namespace; an empty list if the ledger contains at least one of them. */
async function listIfAllMissing(ferry: LedgerClient): Promise<readonly string[]> {
  const running: string[] = [];
  for await (const { migrationId } of listMigrations(ferry, 'open')) {
    if (await readFromLedger(ferry, migrationId)) return [];
    running.push(migrationId);
  }
  return running;
}

/** Reports a ledger that is probably that of other migrations. Advice about the migrations in it would be wrong. */
function otherLedger(place: string, running: readonly string[]): readonly CheckResult[] {
  const what =
    running.length === 1
      ? `does not contain ${running.join()}, which runs in this namespace`
      : `contains none of the ${counted(running.length, 'migration')} that run in this namespace`;
  return [
    problem(LEDGER, `the ledger at ${place} ${what}`, otherLedgerAdvice(running.length)),
    notChecked(VAULTS, 'not checked, because the ledger is probably that of other migrations'),
  ];
}

function givenUp(requests: readonly GivenUpRequest[]): readonly CheckResult[] {
  const [latest] = requests;
  if (!latest) return [];
  const { id, kind, person, migrationId, answeredAt } = latest;
  const what = `the request "${kind}" of ${person} for ${migrationId}`;
  const count = `workers gave up on ${counted(requests.length, 'request')} in the last day`;
  return [
    problem(
      PORTAL_REQUESTS,
      `${count}, the latest at ${localTime(answeredAt)}: ${what} (request id ${id})`,
      `to find the cause, search the workers' logs for the request id; to see whether a decision was applied before the failure, run: ferry audit ${migrationId}; if workers crash again and again on requests of one person, revoke this person's invitation; to list invitations with the ids that ferry invite --revoke needs, run: ferry invite --list`,
    ),
  ];
}

/**
 * Omits migrations whose workflow has ended, because the advice about vaults needs a running workflow. The other checks
 * say how to close such a migration.
 */
async function withOpenWorkflow(ferry: LedgerClient, open: readonly string[]): Promise<readonly string[]> {
  const found = open.map(async (id) => {
    // Without the codec, because the payload key of the migration might be missing here.
    const withoutCodec = { ...ferry, temporal: ferry.temporalWithoutCodec };
    const isOpen = await isWorkflowOpen(withoutCodec, id).catch((error: unknown) => {
      // The workflow of a migration that Temporal has lost cannot continue either.
      if (error instanceof NoSuchMigration) return false;
      throw error;
    });
    return isOpen ? [id] : [];
  });
  return (await Promise.all(found)).flat();
}

/** Finds the migrations that support has to close, because their workflows have ended in Temporal. */
async function checkTerminated(ferry: LedgerClient, open: readonly string[]): Promise<readonly CheckResult[]> {
  const stages = await Promise.all(
    open.map(async (id) => {
      const migration = await readMigration(ferry.db, id);
      return migration ? readStage(ferry, migration) : 'open';
    }),
  );
  const terminated = open.filter((_, index) => stages[index] === 'terminated');
  if (terminated.length === 0) return [];
  const what =
    terminated.length === 1
      ? `the workflow of ${terminated.join()} has ended in Temporal, but the migration is not closed: no other migration can move its organizations, and its vault still exists`
      : `the workflows of ${terminated.join(', ')} have ended in Temporal, but the migrations are not closed: no other migration can move their organizations, and their vaults still exist`;
  return [problem(TERMINATED, what, eachWith('close', terminated, closing))];
}

/** Says how to do something to each of these migrations, with the command for the first. */
function eachWith(verb: string, ids: readonly string[], commandFor: (id: string) => string): string {
  return `${verb} ${ids.length === 1 ? 'it with' : 'each, beginning with'}: ${commandFor(ids[0] ?? '')}`;
}

const reconciling = (id: string): string => `ferry reconcile ${id}`;
const closing = (id: string): string => `ferry sweep --close ${id}`;

async function checkAge(ferry: LedgerClient, open: readonly string[]): Promise<CheckResult> {
  const states = await Promise.all(
    open.map(async (id) => {
      try {
        return (await isLedgerBehind(ferry, id)) ? 'behind' : 'current';
      } catch (error) {
        if (error instanceof NoSuchMigration) return 'unknown';
        throw error;
      }
    }),
  );
  const inState = (state: (typeof states)[number]) => open.filter((_, index) => states[index] === state);
  const behind = inState('behind');
  const unknown = inState('unknown');
  if (behind.length > 0)
    return problem(
      LEDGER,
      `the ledger is out of date for ${behind.join(', ')}; it was probably restored from a backup`,
      `until a migration is reconciled, its companies do not move; ${eachWith('reconcile', behind, reconciling)}`,
    );
  if (unknown.length > 0)
    return problem(
      LEDGER,
      `open in the ledger, but not in Temporal: ${unknown.join(', ')}`,
      `check that ferry and the workers use the same Temporal server and the same database. If they do, Temporal has lost ${unknown.length === 1 ? 'this migration' : 'these migrations'}: ${eachWith('reconcile', unknown, reconciling)}; then ${eachWith('close', unknown, closing)}; docs/backup.md describes both under "Restoring Temporal"`,
    );
  if (open.length === 0) return ok(LEDGER, 'no open migration has begun');
  return ok(LEDGER, `current for ${counted(open.length, 'open migration')}`);
}
