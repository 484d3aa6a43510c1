import { ADD_PAYLOAD_KEY } from '../../shared/errors';
import type { MigrationSummary } from '../../../client';
import { listMigrations } from '../../../client';
import type { CommandResult, Output } from '../../terminal';
import { localTime } from '../../terminal/times';
import type { Context } from '../../shared/context';
import { withMigrationClient } from '../../shared/clients';

export function addList({ program, run, terminal }: Context): void {
  program
    .command('list')
    .description('List all migrations: step, state, who must act, companies done')
    .action(() => run(() => list(terminal.env)));
}

/** Explains why some migrations can be read only in part: their payload key is missing here. */
function printMissingKeys(output: Output, migrations: readonly MigrationSummary[]): void {
  const missing = new Set(migrations.flatMap(({ missingKey }) => missingKey ?? []));
  for (const key of missing) {
    const ids = migrations.filter(({ missingKey }) => missingKey === key).map(({ migrationId }) => migrationId);
    output.line(`Payload key ${key} is missing here, so the details of ${ids.join(', ')} cannot be read:`);
    output.line(`  ${ADD_PAYLOAD_KEY}`);
  }
}

async function list(env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const migrations: MigrationSummary[] = [];
  await withMigrationClient(env, async (ferry) => {
    for await (const migration of listMigrations(ferry)) migrations.push(migration);
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
        migrations.map(({ migrationId, state, step, waitingFor, done, total, failed, startedAt, missingKey }) => [
          migrationId,
          missingKey === null ? state : { text: `${state}, not readable here`, style: 'yellow' },
          step,
          waitingFor,
          `${done}/${total}`,
          failed > 0 ? { text: String(failed), style: 'red' } : '0',
          localTime(startedAt),
        ]),
      );
      printMissingKeys(output, migrations);
    },
  };
}
