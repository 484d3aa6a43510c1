import { ADD_PAYLOAD_KEY } from '../../shared/errors';
import type { MigrationClient, MigrationSummary } from '../../../client';
import { listMigrations, readWorkflowTaskProblems } from '../../../client';
import type { CommandResult, Output, TableCell } from '../../terminal';
import { localTime } from '../../terminal/times';
import type { Context } from '../../shared/context';
import { withMigrationClient } from '../../shared/clients';
import { inParallel } from '../../shared/waiting';

export function addList({ program, run, terminal }: Context): void {
  program
    .command('list')
    .description('List all migrations: step, state, who must act, companies done')
    .action(() => run(() => list(terminal.env)));
}

/** Maximum number of open migrations, newest first, whose workflow tasks are examined. Each costs a Temporal call. */
const MAX_EXAMINED = 200;

function stateCell({
  state,
  missingKey,
  problem,
}: Pick<MigrationSummary, 'state' | 'missingKey'> & { readonly problem: string | null }): TableCell {
  if (problem !== null) return { text: `${state}, stuck`, style: 'red' };
  return missingKey === null ? state : { text: `${state}, payload key missing`, style: 'yellow' };
}

/** Explains why some migrations can be read only in part: their payload key is missing here. */
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

async function readSummaries(ferry: MigrationClient): Promise<readonly MigrationSummary[]> {
  const summaries: MigrationSummary[] = [];
  for await (const migration of listMigrations(ferry)) summaries.push(migration);
  return summaries;
}

async function readProblems(ferry: MigrationClient): Promise<ReadonlyMap<string, string>> {
  const open: string[] = [];
  for await (const { migrationId } of listMigrations(ferry, 'open')) {
    open.push(migrationId);
    if (open.length === MAX_EXAMINED) break;
  }
  return readWorkflowTaskProblems(ferry, open);
}

async function list(env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const migrations = await withMigrationClient(env, async (ferry) => {
    const [summaries, problems] = await inParallel(readSummaries(ferry), readProblems(ferry));
    return summaries.map((migration) => ({
      ...migration,
      problem: problems.get(migration.migrationId) ?? null,
    }));
  });
  return {
    json: { schema: 'ferry.list/1', migrations },
    printQuietly: (output) => {
      for (const { migrationId } of migrations) output.line(migrationId);
    },
    print: (output) => {
      if (migrations.length === 0) return output.line('No migrations yet. Start one with: ferry start');
      output.table(
        [
          { title: 'Migration', unbroken: true },
          { title: 'State' },
          { title: 'Step' },
          { title: 'Waiting for' },
          { title: 'Done', align: 'right' },
          { title: 'Not moved', align: 'right' },
          { title: 'Started', optional: true },
        ],
        migrations.map(({ migrationId, step, waitingFor, done, total, failed, startedAt, ...migration }) => [
          migrationId,
          stateCell(migration),
          step,
          waitingFor,
          `${done}/${total}`,
          failed > 0 ? { text: String(failed), style: 'red' } : '0',
          localTime(startedAt),
        ]),
      );
      printMissingKeys(output, migrations);
      for (const { migrationId, problem } of migrations)
        if (problem !== null) output.line(`The worker cannot continue ${migrationId}: ${problem}`);
    },
  };
}
