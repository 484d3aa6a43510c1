import { actingText } from '../../../domain/progress/acting-roles';
import { CHECK_WORKERS } from '../../../domain/progress/worker-advice';
import { ADD_PAYLOAD_KEY } from '../../shared/errors';
import {
  isLedgerProvenBehind,
  listMigrations,
  queryProgress,
  readWorkflowTaskProblems,
  type MigrationClient,
  type MigrationSummary,
} from '../../../client';
import type { Step } from '../../../domain/migration/steps';
import { isEnding } from '../../../domain/migration/migration-state';
import { counted, sentence } from '../../../domain/text/sentences';
import { listStoredMigrations, readResults, readRunningCounts, type StoredMigrationCounts } from '../../../store';
import type { TableCell } from '../../terminal/table';
import type { CommandResult, Output } from '../../terminal/output';
import { localTime } from '../../terminal/times';
import type { Context } from '../../shared/context';
import { ledgersBehindTexts } from '../../shared/results';
import { readFromLedger, withMigrationClient } from '../../connections/clients';
import { otherLedgerAdvice } from '../../suggestions/stack-advice';
import { inParallel } from '../../connections/waiting';
import { collected } from '../../../domain/text/streams';

export function addList({ program, run, terminal }: Context): void {
  program
    .command('list')
    .description(
      'List all migrations: their step and state, who must act, and how many companies are done, open or not moved. Done means moved or left out',
    )
    .action(() => run(() => list(terminal.env)));
}

/** Maximum number of open migrations, newest first, whose workflow tasks are examined. Each costs a Temporal call. */
const MAX_EXAMINED = 200;

/**
 * Maximum number of migrations whose workflows are queried, because a worker must answer each query. Also the maximum
 * number of migrations whose companies are counted.
 */
const MAX_ASKED = 50;
const ANSWER_WITHIN_MS = 2_000;

/**
 * Migrations that wait in this step are queried, too, because Temporal's search attribute names the client for every
 * problem of the details.
 */
const FIRST_STEP: Step = 'supply-details';

/** Maximum number of migrations in the list that Temporal does not have. The newest are listed. */
const MAX_FROM_LEDGER = 100;

interface ListedLine extends MigrationSummary {
  /** Why no worker can continue the migration; null if one can, none has tried, or the migration was not examined. */
  readonly problem: string | null;
  /** When the outage began that keeps the migration on hold, ISO 8601; null if there is none, or it is not known. */
  readonly onHoldSince: string | null;
  /** True if the ledger was restored to an older state, so that the counts can be wrong. */
  readonly ledgerBehind: boolean;
  /** True if Temporal does not have the migration: it was deleted after its end, lost, or never started there. */
  readonly onlyInLedger: boolean;
}

function stateCell({ state, missingKey, problem, onHoldSince, onlyInLedger, endedInTemporal }: ListedLine): TableCell {
  if (problem !== null) return { text: `${state}, stuck`, style: 'red' };
  if (onHoldSince !== null) return { text: 'on hold', style: 'red' };
  if (endedInTemporal || (onlyInLedger && [LOST, NOT_STARTED].includes(state))) return { text: state, style: 'red' };
  return missingKey === null ? state : { text: `${state}, payload key missing`, style: 'yellow' };
}

/** The state of a migration that has not ended, although Temporal does not have it. */
const LOST = 'not in Temporal';

/** The state of a migration that was stored, but that Temporal does not have and no worker has begun. */
const NOT_STARTED = 'not started';

function printMissingKeys(
  output: Output,
  migrations: readonly Pick<MigrationSummary, 'migrationId' | 'missingKey'>[],
): void {
  const missing = new Set(migrations.flatMap(({ missingKey }) => missingKey ?? []));
  for (const key of missing) {
    const ids = migrations.filter(({ missingKey }) => missingKey === key).map(({ migrationId }) => migrationId);
    output.line(`Payload key ${key} is missing on this machine, so the details of ${ids.join(', ')} cannot be read:`);
    output.line(`  ${ADD_PAYLOAD_KEY}`);
  }
}

async function readProblems(ferry: MigrationClient): Promise<ReadonlyMap<string, string>> {
  const open: string[] = [];
  for await (const { migrationId } of listMigrations(ferry, 'open')) {
    open.push(migrationId);
    if (open.length === MAX_EXAMINED) break;
  }
  return readWorkflowTaskProblems(ferry, open);
}

/** The facts that only the migration knows. */
type Answers = ReadonlyMap<string, Pick<ListedLine, 'waitingFor' | 'onHoldSince'>>;

/**
 * Asks running and paused migrations, and migrations in step 1, who must act and since when an outage has kept them on hold. Best
 * effort, because a worker might not answer. Does not ask workflows that have ended abnormally in Temporal, because
 * they would still name the people for whom they waited.
 */
async function readAnswers(ferry: MigrationClient, summaries: readonly MigrationSummary[]): Promise<Answers> {
  const asked = summaries
    .filter(({ state, endedInTemporal }) => !endedInTemporal && !isEnding(state))
    .filter(
      ({ state, step, missingKey }) =>
        missingKey === null && (state === 'running' || state === 'paused' || step === FIRST_STEP),
    )
    .slice(0, MAX_ASKED)
    .map(async ({ migrationId, waitingFor }) => {
      const answer = await queryProgress(ferry, migrationId, ANSWER_WITHIN_MS).catch(() => null);
      const roles = answer?.state === 'waiting' || answer?.state === 'paused' ? actingText(answer) : waitingFor;
      return [migrationId, { waitingFor: roles, onHoldSince: answer?.outage?.since ?? null }] as const;
    });
  return new Map(await Promise.all(asked));
}

interface LedgerProblems {
  /** The migrations whose ledger was restored to an older state. */
  readonly behind: ReadonlySet<string>;
  readonly notInLedger: readonly string[];
}

/** Finds problems of the ledger, among the first open migrations that a worker can answer for. Best effort. */
async function readLedgerProblems(
  { db, ...ferry }: MigrationClient,
  summaries: readonly MigrationSummary[],
): Promise<LedgerProblems> {
  if (!db) return { behind: new Set(), notInLedger: [] };
  const client = { ...ferry, db };
  const open = summaries
    .filter(({ state, endedInTemporal, missingKey }) => !endedInTemporal && !isEnding(state) && missingKey === null)
    .slice(0, MAX_ASKED);
  const found = open.map(async ({ migrationId }): Promise<keyof LedgerProblems | null> => {
    if ((await readFromLedger(client, migrationId)) === null) return 'notInLedger';
    return (await isLedgerProvenBehind(client, migrationId)) ? 'behind' : null;
  });
  const problems = await Promise.all(found.map((each) => each.catch(() => null)));
  const idsWith = (problem: keyof LedgerProblems) =>
    open.flatMap(({ migrationId }, index) => (problems[index] === problem ? [migrationId] : []));
  return { behind: new Set(idsWith('behind')), notInLedger: idsWith('notInLedger') };
}

async function readOnlyInLedger(
  { db, temporal }: MigrationClient,
  summaries: readonly MigrationSummary[],
): Promise<readonly ListedLine[]> {
  if (!db) return [];
  const except = summaries.map(({ migrationId }) => migrationId);
  const stored = await listStoredMigrations(db, temporal.options.namespace, { except, limit: MAX_FROM_LEDGER });
  return stored.map(lineFromLedger);
}

function lineFromLedger({ suppliedAt, state, ending, ...migration }: StoredMigrationCounts): ListedLine {
  return {
    ...migration,
    state: { closed: ending ?? 'closed', open: LOST, supplied: NOT_STARTED }[state],
    ...{ step: '', waitingFor: '', startedAt: suppliedAt },
    ...{ endedInTemporal: false, missingKey: null, problem: null, onHoldSince: null },
    ...{ ledgerBehind: false, onlyInLedger: true },
  };
}

/**
 * Counts the companies of migrations with open companies, because the counts in Temporal can be a minute old. Once
 * a decision has ended a migration, companies that still wait count as not moved, as in its report.
 */
async function readCounts(
  { db }: MigrationClient,
  summaries: readonly MigrationSummary[],
): Promise<ReadonlyMap<string, Pick<MigrationSummary, 'total' | 'done' | 'failed'>>> {
  if (!db) return new Map();
  const open = summaries
    .filter(({ total, done, endedInTemporal }) => !endedInTemporal && (total === 0 || done < total))
    .slice(0, MAX_ASKED);
  const idsOf = (isOver: boolean) =>
    open.flatMap(({ migrationId, state }) => (isEnding(state) === isOver ? [migrationId] : []));
  const [running, ended] = await inParallel(readRunningCounts(db, idsOf(false)), readResults(db, idsOf(true)));
  return new Map(
    [...running, ...ended].map(({ migrationId, total, done, failed }) => [migrationId, { total, done, failed }]),
  );
}

async function readLines(ferry: MigrationClient) {
  const [summaries, problems] = await inParallel(collected(listMigrations(ferry)), readProblems(ferry));
  const [answers, onlyInLedger] = await inParallel(readAnswers(ferry, summaries), readOnlyInLedger(ferry, summaries));
  const [current, ledger] = await inParallel(readCounts(ferry, summaries), readLedgerProblems(ferry, summaries));
  const lines = summaries.map((migration) => ({
    ...migration,
    ...current.get(migration.migrationId),
    problem: problems.get(migration.migrationId) ?? null,
    onHoldSince: null,
    ...answers.get(migration.migrationId),
    ledgerBehind: ledger.behind.has(migration.migrationId),
    onlyInLedger: false,
  }));
  return { migrations: [...lines, ...onlyInLedger], notInLedger: ledger.notInLedger };
}

function printOnlyInLedger(output: Output, lines: readonly ListedLine[]): void {
  const fromLedger = lines.filter(({ onlyInLedger }) => onlyInLedger);
  const idsOf = (wanted: string) =>
    fromLedger.flatMap(({ state, migrationId }) => (state === wanted ? migrationId : []));
  const lost = idsOf(LOST);
  const notStarted = idsOf(NOT_STARTED);
  const ended = fromLedger.filter(({ state }) => ![LOST, NOT_STARTED].includes(state));
  if (ended[0]) {
    output.line(
      `The list has ${counted(ended.length, 'ended migration')} that Temporal has deleted and the ledger still has (step "-").`,
    );
    output.line(`  To see what was moved, use the report, for example: ferry report ${ended[0].migrationId}`);
  }
  if (lost.length > 0) {
    const these = lost.length === 1 ? 'this migration' : 'these migrations';
    output.line(`The ledger has ${lost.join(', ')}, but Temporal does not.`);
    output.line(
      `  Check that TEMPORAL_ADDRESS names the Temporal of ${these}. If Temporal's database was lost or restored, docs/backup.md says what to do.`,
    );
  }
  if (notStarted.length > 0) {
    const [was, it] = notStarted.length === 1 ? ['was', 'it'] : ['were', 'them'];
    output.line(
      `${notStarted.join(', ')} ${was} stored, but Temporal does not have ${it}, and no worker has begun ${it}.`,
    );
    output.line('  Run the same ferry start or ferry self-service command again.');
  }
}

function printTerminated(output: Output, lines: readonly ListedLine[]): void {
  const ids = lines.flatMap(({ migrationId, endedInTemporal }) => (endedInTemporal ? [migrationId] : []));
  if (ids.length === 0) return;
  const these = ids.length === 1 ? 'this migration' : 'these migrations';
  output.line(`Temporal is no longer running ${ids.join(', ')}, so no company of ${these} moves.`);
  output.line(`  To close ${ids.length === 1 ? 'it' : 'one of them'}, run: ferry sweep --close ${ids[0] ?? ''}`);
}

/** Says which counts can be wrong, because the ledger was restored to an older state. */
function printLedgersBehind(output: Output, lines: readonly ListedLine[]): void {
  const ids = lines.flatMap(({ migrationId, ledgerBehind }) => (ledgerBehind ? [migrationId] : []));
  for (const text of ids.length === 0 ? [] : ledgersBehindTexts(ids)) output.line(text);
}

function printNotInLedger(output: Output, ids: readonly string[]): void {
  if (ids.length === 0) return;
  output.line(`Temporal has ${ids.join(', ')}, but the ledger does not.`);
  output.line(`  ${sentence(otherLedgerAdvice(ids.length))}.`);
}

function printStuck(output: Output, migrations: readonly ListedLine[]): void {
  for (const { migrationId, problem } of migrations)
    if (problem !== null) output.line(`The worker cannot continue ${migrationId}: ${problem}`);
  if (migrations.some(({ problem }) => problem !== null)) output.line(`  ${sentence(CHECK_WORKERS)}`);
}

async function list(env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const { migrations, notInLedger } = await withMigrationClient(env, readLines);
  return {
    json: { schema: 'ferry.list/1', migrations },
    printQuietly: (output) => {
      for (const { migrationId } of migrations) output.line(migrationId);
    },
    print: (output) => {
      if (migrations.length === 0) return output.line('No migrations yet. Start a migration with: ferry start');
      output.table(
        [
          { title: 'Migration', unbroken: true },
          'State',
          { title: 'Step', optional: 'last' },
          'Waiting for',
          { title: 'Done', align: 'right' },
          { title: 'Open', align: 'right', optional: 'last' },
          { title: 'Not moved', align: 'right', optional: 'last' },
          { title: 'Started', optional: true },
        ],
        migrations.map((line) => [
          line.migrationId,
          stateCell(line),
          line.onlyInLedger ? '-' : line.step,
          line.onlyInLedger ? '-' : line.waitingFor,
          // In the summary, `done` includes companies that were not moved. The table shows them in their own column.
          `${line.done - line.failed}/${line.total}`,
          String(line.total - line.done),
          line.failed > 0 ? { text: String(line.failed), style: 'red' } : '0',
          localTime(line.startedAt),
        ]),
      );
      output.line('Done: companies that have moved or were left out.');
      printMissingKeys(output, migrations);
      printOnlyInLedger(output, migrations);
      printTerminated(output, migrations);
      printLedgersBehind(output, migrations);
      printNotInLedger(output, notInLedger);
      printStuck(output, migrations);
    },
  };
}
