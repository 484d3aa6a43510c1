import { actingText } from '../../../domain/progress/acting-roles';
import { withTasksOfSupport } from '../../../domain/progress/meanwhile';
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
import { listStoredMigrations, readResults, readRunningCounts, type StoredMigrationCounts } from '../../../store';
import type { TableCell } from '../../terminal/table';
import type { CommandResult } from '../../terminal/output';
import { localTime } from '../../terminal/times';
import type { Context } from '../../shared/context';
import { readFromLedger, withMigrationClient } from '../../connections/clients';
import { LOST, NOT_STARTED, printListNotes, type ListedLine } from '../../reporting/list-notes';
import { inParallel } from '../../connections/waiting';
import { readKeysToConfirm } from '../../shared/invitations';
import { collected } from '../../../domain/text/streams';

export function addList({ program, run, terminal }: Context): void {
  program
    .command('list')
    .description(
      'List all migrations: their step and state, who must act, and how many companies are done, open or not moved. Done means moved or left out; not moved includes companies that must reconnect',
    )
    .option('--client <name>', 'list only the migrations of this client, whose ids begin with its short name')
    .action(({ client }: { readonly client?: string }) => run(() => list(terminal.env, client)));
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

/** The column is wider than the state of this name, because Temporal has one count for both states. */
const NOT_MOVED = 'Not moved: also includes companies that must reconnect.';

function stateCell(line: ListedLine): TableCell {
  const { state, missingKey, problem, onHoldSince, onlyInLedger, endedInTemporal } = line;
  if (problem !== null) return { text: `${state}, stuck`, style: 'red' };
  if (line.ledgerBehind) return { text: 'old ledger', style: 'red' };
  if (onHoldSince !== null) return { text: 'on hold', style: 'red' };
  if (endedInTemporal || (onlyInLedger && [LOST, NOT_STARTED].includes(state))) return { text: state, style: 'red' };
  return missingKey === null ? state : { text: `${state}, payload key missing`, style: 'yellow' };
}

const isOf = (client: string | undefined, migrationId: string): boolean =>
  client === undefined || migrationId.startsWith(`${client}.`);

async function readProblems(ferry: MigrationClient, client?: string): Promise<ReadonlyMap<string, string>> {
  const open: string[] = [];
  for await (const { migrationId } of listMigrations(ferry, 'open')) {
    if (isOf(client, migrationId)) open.push(migrationId);
    if (open.length === MAX_EXAMINED) break;
  }
  return readWorkflowTaskProblems(ferry, open);
}

/** The facts that only the migration knows. */
type Answers = ReadonlyMap<string, Pick<ListedLine, 'waitingFor' | 'onHoldSince'>>;

/**
 * Asks running and paused migrations, and migrations in step 1, who must act and since when they have been on hold.
 * Best effort, because a worker might not answer. Does not ask workflows that have ended abnormally in Temporal,
 * because they would still name the people for whom they waited.
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
  client?: string,
): Promise<readonly ListedLine[]> {
  if (!db) return [];
  const except = summaries.map(({ migrationId }) => migrationId);
  const stored = await listStoredMigrations(db, temporal.options.namespace, { except, client, limit: MAX_FROM_LEDGER });
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
  const idsOf = (isEnded: boolean) =>
    open.flatMap(({ migrationId, state }) => (isEnding(state) === isEnded ? [migrationId] : []));
  const [running, ended] = await inParallel(readRunningCounts(db, idsOf(false)), readResults(db, idsOf(true)));
  return new Map(
    [...running, ...ended].map(({ migrationId, total, done, failed }) => [migrationId, { total, done, failed }]),
  );
}

async function readLines(ferry: MigrationClient, client?: string) {
  const [all, problems] = await inParallel(collected(listMigrations(ferry)), readProblems(ferry, client));
  const summaries = all.filter(({ migrationId }) => isOf(client, migrationId));
  const [answers, onlyInLedger] = await inParallel(
    readAnswers(ferry, summaries),
    readOnlyInLedger(ferry, summaries, client),
  );
  const [current, ledger] = await inParallel(readCounts(ferry, summaries), readLedgerProblems(ferry, summaries));
  const toConfirm = await readKeysToConfirm(ferry, summaries);
  const withKeys = new Set(toConfirm.map(({ migrationId }) => migrationId));
  const lines = summaries.map((migration) => {
    const { migrationId } = migration;
    const line = {
      ...migration,
      ...current.get(migrationId),
      problem: problems.get(migrationId) ?? null,
      onHoldSince: null,
      ...answers.get(migrationId),
      ledgerBehind: ledger.behind.has(migrationId),
      onlyInLedger: false,
    };
    const tasks = { ledgerBehind: line.ledgerBehind, hasKeysToConfirm: withKeys.has(migrationId) };
    return { ...line, waitingFor: withTasksOfSupport(line.waitingFor, tasks) };
  });
  return { migrations: [...lines, ...onlyInLedger], notInLedger: ledger.notInLedger, toConfirm };
}

async function list(env: NodeJS.ProcessEnv, client?: string): Promise<CommandResult> {
  const { migrations, ...notes } = await withMigrationClient(env, (ferry) => readLines(ferry, client));
  return {
    json: { schema: 'ferry.list/1', migrations },
    printQuietly: (output) => {
      for (const { migrationId } of migrations) output.line(migrationId);
    },
    print: (output) => {
      const of = client === undefined ? '' : ` of ${client}`;
      if (migrations.length === 0) return output.line(`No migrations${of} yet. Start a migration with: ferry start`);
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
      const hasFailed = migrations.some(({ failed }) => failed > 0);
      output.line(`Done: companies that have moved or were left out.${hasFailed ? ` ${NOT_MOVED}` : ''}`);
      printListNotes(output, { migrations, ...notes });
    },
  };
}
