/** Checks that Postgres answers and that this version of ferry knows its schema. Changes nothing. */
import { counted } from '../../domain/text/sentences';
import { DatabaseUnavailable, inspectDatabase, LedgerMissing } from '../../store';
import { databaseAdvice, missingLedgerAdvice, USE_VERSION_OF_SCHEMA } from '../suggestions/stack-advice';
import {
  check,
  notChecked,
  ok,
  CHECK_TIMEOUT_MS,
  problem,
  type CheckResult,
  type ClockReading,
  type ConfigPart,
} from './check-result';

const DATABASE = 'database';
const SCHEMA = 'schema';

export async function checkDatabase(
  databaseUrl: ConfigPart<'databaseUrl'>,
  clocks: ClockReading[],
  env: NodeJS.ProcessEnv,
): Promise<readonly CheckResult[]> {
  const schemaNotChecked = notChecked(SCHEMA, 'not checked, because the database is not configured or does not answer');
  if ('unusable' in databaseUrl) return [databaseUrl.unusable, schemaNotChecked];
  const adviceFor = (error: unknown): string =>
    databaseAdvice(env, error instanceof DatabaseUnavailable ? error : undefined);
  const found = await check(DATABASE, adviceFor, async () => {
    const url = databaseUrl.value.reveal();
    const { version, clock, hasLedger, pending, unknown } = await inspectDatabase(url, CHECK_TIMEOUT_MS);
    clocks.push({ whose: 'Postgres', aheadMs: clock.database.getTime() - clock.local.getTime() });
    const ofSchema = hasLedger
      ? schema(pending, unknown)
      : problem(SCHEMA, new LedgerMissing(url).message, missingLedgerAdvice(env));
    return [ok(DATABASE, `Postgres ${version}`), ofSchema];
  });
  return found.length === 1 ? [...found, schemaNotChecked] : found;
}

function schema(pending: readonly string[], unknown: readonly string[]): CheckResult {
  if (unknown.length > 0) {
    const steps = counted(unknown.length, 'schema step');
    const what = `the database has ${steps} of a newer version of ferry: ${unknown.join(', ')}`;
    return problem(SCHEMA, what, USE_VERSION_OF_SCHEMA);
  }
  if (pending.length === 0) return ok(SCHEMA, UP_TO_DATE);
  const behind = `${counted(pending.length, 'schema step')} behind`;
  return ok(SCHEMA, `${behind}; the next command that opens the database updates the schema`);
}

const UP_TO_DATE = 'up to date';

/** Returns whether the checks found that the schema is up to date. */
export function isSchemaCurrent(checks: readonly CheckResult[]): boolean {
  return checks.some(({ check: about, finding }) => about === SCHEMA && finding === UP_TO_DATE);
}
