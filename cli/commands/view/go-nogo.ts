import { CompanyDataError, readServiceFacts } from '../../../company-data-client';
import { loadConfig } from '../../../config';
import type { GoNoGo, GoNoGoFacts } from '../../../domain/progress/go-nogo';
import { goNoGo } from '../../../domain/progress/go-nogo';
import type { Progress } from '../../../domain/progress/progress';
import { countFailures, readLimits, readNextCompanies } from '../../../store';
import type { LedgerClient } from '../../../client';
import { NoWorker, readOutages, readProgress, readWindowSchedule, readWorkers } from '../../../client';
import type { CommandResult, Output } from '../../terminal';
import { localTime } from '../../terminal/times';
import type { Context } from '../../shared/context';
import { openMigrationOf } from '../../shared/open-migration';
import { withLedgerClient } from '../../shared/with-ferry';
import { usingService } from '../../shared/with-service';

/** `ferry go-nogo`: whether the next window may come, and why; what would pause it, and whom to call. */
export function addGoNoGo({ program, run, terminal }: Context): void {
  program
    .command('go-nogo <migration>')
    .description('Say before a window whether it may come: yes or no and why, what would pause it, whom to call')
    .action((migration: string) =>
      run(() =>
        withLedgerClient(terminal.env, async (ferry) =>
          answered(migration, goNoGo(await factsOf(terminal.env, ferry, migration))),
        ),
      ),
    );
}

async function factsOf(env: NodeJS.ProcessEnv, ferry: LedgerClient, migrationId: string): Promise<GoNoGoFacts> {
  const { migration, platform } = await openMigrationOf(ferry, migrationId, () => `see: ferry report ${migrationId}`);
  const { db } = ferry;
  const [{ limits, now }, { next, toCreate }, failures, progress, schedule, workers, heldUp, service] =
    await Promise.all([
      readLimits(db, migrationId),
      readNextCompanies(db, migrationId),
      countFailures(db, migrationId),
      progressOrNone(ferry, migrationId),
      readWindowSchedule(ferry, migrationId),
      readWorkers(ferry),
      readOutages(ferry, migrationId),
      askService(env, platform.key),
    ]);
  return {
    now: now.toISOString(),
    platform,
    contact: migration.contact,
    limits,
    next,
    toCreate,
    failures,
    endsBy: progress?.estimate?.ends?.latest ?? null,
    progress,
    windowsPaused: schedule.state === 'paused' ? (schedule.note ?? 'paused') : null,
    workers,
    failing: heldUp,
    service,
  };
}

/** Without a worker everything else is looked at all the same. */
async function progressOrNone(ferry: LedgerClient, migrationId: string): Promise<Progress | null> {
  try {
    return await readProgress(ferry, migrationId);
  } catch (error) {
    if (error instanceof NoWorker) return null;
    throw error;
  }
}

async function askService(env: NodeJS.ProcessEnv, platformKey: string): Promise<GoNoGoFacts['service']> {
  const { service: config } = loadConfig([], env, ['service']);
  if (!config) return { unreachable: 'it is not configured here (COMPANY_DATA_URL, COMPANY_DATA_API_KEY)' };
  try {
    return await usingService(config, (service) => readServiceFacts(service, { platformKey }));
  } catch (error) {
    if (!(error instanceof CompanyDataError)) throw error;
    return { unreachable: error.message };
  }
}

function answered(migrationId: string, result: GoNoGo): CommandResult {
  return {
    failed: !result.go,
    json: { schema: 'ferry.go-nogo/1', migrationId, ...result },
    print: (output) => print(output, migrationId, result),
  };
}

function print(output: Output, migrationId: string, { go, opening, answers, wouldPause, contact }: GoNoGo): void {
  const verdict = go ? output.styled('green', 'GO') : output.styled('red', 'NO-GO');
  const when =
    opening === null
      ? 'companies may be started at any time'
      : `the window from ${localTime(opening.opensAt)} to ${localTime(opening.closesAt)}`;
  output.line(`${verdict}  ${output.styled('bold', migrationId)}: ${when}`);
  for (const { about, go: isGood, why } of answers) {
    output.line(`  ${isGood ? output.styled('green', '✓') : output.styled('red', '✗')} ${about}: ${why}`);
  }
  output.line();
  output.line('What would pause it while nobody looks, and what would not:');
  for (const sentence of wouldPause) output.line(`  - ${sentence}`);
  output.line(`Whom to call: ${contact}`);
}
