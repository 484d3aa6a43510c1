import type { ReconciliationResult, RestoredDecision } from '../../../domain/migration/reconciliation';
import { reconcile } from '../../../client';
import { readDecisions, readMigration, type Database, type StoredMigration } from '../../../store';
import { actionText } from '../../../presentation/wording/decisions';
import { lostFileLines } from '../../reporting/lost-files';
import type { CommandResult } from '../../terminal/output';
import { localTime } from '../../terminal/times';
import type { Context } from '../../shared/context';
import { readClientPortal } from '../../connections/client-portal';
import { assertNamespace, sameStartCommand, withLedgerClient } from '../../connections/clients';
import { restartCommand } from '../../suggestions/remedy-commands';

/** `ferry reconcile`: repairs a ledger after it or the service was restored to an older state. */
export function addReconcile({ program, run, terminal }: Context): void {
  program
    .command('reconcile <migration>')
    .description('Repair the ledger of a migration after a database was restored to an older state')
    .action((migrationId: string) => run(() => runReconcile(terminal.env, migrationId)));
}

async function runReconcile(env: NodeJS.ProcessEnv, migrationId: string): Promise<CommandResult> {
  return withLedgerClient(env, async (ferry) => {
    // Workers also refuse a migration of another namespace, but their error does not say which namespace it is in.
    await assertNamespace(ferry, migrationId);
    const result = await reconcile(ferry, migrationId);
    const migration = await readMigration(ferry.db, migrationId);
    const textOf = await decisionTexts(ferry.db, migrationId, result);
    const portal = await readClientPortal(ferry, migrationId);
    const lostFiles = migration && result.workflow === 'running' ? lostFileLines(result, migration, portal) : [];
    return {
      json: { schema: 'ferry.reconciliation/1', migrationId, ...result },
      print: (output) => {
        const rows = repairRows(result, textOf);
        if (rows.length > 0) output.table(COLUMNS, rows);
        else
          output.line(
            result.isIncomplete ? 'Nothing is left to repair.' : 'No company and no decision needed a repair.',
          );
        if (result.isIncomplete)
          output.line(
            'The repair was interrupted and began again. Repairs from before the interruption are not listed.',
          );
        for (const line of [...lostFiles, ...nextLines(result, migrationId, migration)]) output.line(line);
      },
    };
  });
}

const COLUMNS = [
  { title: 'Count', align: 'right' },
  'Found',
  'Done, or to do',
  { title: 'Which', optional: true },
] as const;

/** The maximum number of references in one row of the table. The JSON contains all of them. */
const LISTED = 10;

type DecisionTexts = (decision: RestoredDecision) => string;

/** Returns the words of the audit trail for the decisions of the result; for a decision without an entry, its kind. */
async function decisionTexts(
  db: Database,
  migrationId: string,
  { decisions, refused }: ReconciliationResult,
): Promise<DecisionTexts> {
  const trail = decisions.length + refused.length === 0 ? [] : await readDecisions(db, migrationId);
  const texts = new Map(trail.map(({ decision }) => [decision.decisionId, actionText(decision, localTime)]));
  return ({ decisionId, kind }) => texts.get(decisionId) ?? kind;
}

function repairRows(result: ReconciliationResult, textOf: DecisionTexts): string[][] {
  const { decisions, refused, linked, notMoved, unknown, interrupted, adopted, gone, toCreate, doubled } = result;
  // If the migration is not running, it tries no company again and accepts no decision.
  const ifRunning = (toDo: string, otherwise: string): string => (result.workflow === 'running' ? toDo : otherwise);
  const rows: readonly (readonly [readonly string[], string, string])[] = [
    [decisions.map(textOf), 'decisions missing from the audit trail', 'restored with their outcomes'],
    [
      refused.map((decision) => `${textOf(decision)} (${decision.why})`),
      'decisions that the ledger refused to restore',
      ifRunning('make these decisions again', 'not restored'),
    ],
    [linked, 'connection linked at the service', 'syncing; the credential is not sent again'],
    [
      notMoved,
      'move failed, or grant lost by the service',
      ifRunning('must reconnect or not moved; decide about each company', 'must reconnect or not moved'),
    ],
    [
      unknown,
      'single-use credential might have been used',
      ifRunning('not sent again; decide about each company', 'not sent again'),
    ],
    [
      interrupted,
      'single-use credential might have been used',
      ifRunning('will be sent once more, to the same connection', 'not sent again'),
    ],
    [
      adopted,
      'company already at the service, credential can still be sent',
      ifRunning('kept; the next try uses the company at the service', 'kept at the service, but not moved'),
    ],
    [
      gone,
      'company lost by the service, credential might have been sent',
      ifRunning('not moved; supply a new credential', 'not moved'),
    ],
    [
      toCreate,
      'company lost by the service, credential never sent',
      ifRunning('the next try creates the company again', 'not moved'),
    ],
    [
      doubled,
      'row has several companies at the service',
      'at the service, delete all but one company of each row: keep a linked one, or else the one whose id the ledger has',
    ],
  ];
  return rows
    .filter(([names]) => names.length > 0)
    .map(([names, found, done]) => {
      const listed = names.slice(0, LISTED).join(', ') + (names.length > LISTED ? ', ...' : '');
      return [String(names.length), found, done, listed];
    });
}

function goneLines(migrationId: string, migration: StoredMigration | undefined): readonly string[] {
  // `ferry sweep` does not close a migration that no worker has begun. Starting it again also releases its
  // organizations if necessary.
  if (migration?.state === 'supplied')
    return [
      `Temporal is not running this migration, and no worker has begun it. To start it, run ${sameStartCommand(migration.route)} again.`,
    ];
  return [
    'Temporal is not running this migration, so no company will be moved. To move the remaining companies:',
    `  list the remaining companies with: ferry report ${migrationId}`,
    ...(migration?.vaultDestroyedAt
      ? []
      : [`  close this migration, which destroys its credentials, with: ferry sweep --close ${migrationId}`]),
    ...(migration ? [`  start a migration of the remaining companies with: ${restartCommand(migration)}`] : []),
  ];
}

function nextLines(
  result: ReconciliationResult,
  migrationId: string,
  migration: StoredMigration | undefined,
): readonly string[] {
  const { workflow, notMoved, unknown, gone, doubled, isIncomplete } = result;
  const isRunning = workflow === 'running';
  const lines: string[] = [];
  if (doubled.length > 0)
    lines.push(
      `To see the ids that the ledger has for companies at the service, run: ferry companies ${migrationId} --csv`,
    );
  if (isIncomplete || notMoved.length + unknown.length + gone.length > 0)
    lines.push(
      isRunning
        ? `To list the companies that need a decision, and the commands for each decision, run: ferry exceptions ${migrationId}`
        : `To see the companies that were not moved, run: ferry exceptions ${migrationId}`,
    );
  // Temporal keeps a completed workflow for the retention period only. Such a migration left no companies to move.
  const isCompleted = migration?.ending === 'completed' && migration.vaultDestroyedAt !== null;
  if (workflow === 'gone' && !isCompleted) return [...lines, ...goneLines(migrationId, migration)];
  const end = isRunning
    ? `The ledger no longer blocks moves. If the migration is paused, resume it with: ferry resume ${migrationId}`
    : `The migration has ended (${workflow === 'gone' ? 'completed' : workflow}), so no more companies will be moved.`;
  return [...lines, end];
}
