/** Checks that Postgres answers and that this version of ferry knows its schema. Changes nothing. */
import { counted } from '../../domain/text/sentences';
import { inspectDatabase } from '../../store';
import type { ConfigPart } from './check-result';
import type { ClockReading, CheckResult } from './check-result';
import { check, notChecked, ok, CHECK_TIMEOUT_MS, problem } from './check-result';

const DATABASE = 'database';
const SCHEMA = 'schema';

export async function checkDatabase(
  databaseUrl: ConfigPart<'databaseUrl'>,
  clocks: ClockReading[],
): Promise<readonly CheckResult[]> {
  const schemaNotChecked = notChecked(SCHEMA, 'needs the database first');
  if ('unusable' in databaseUrl) return [databaseUrl.unusable, schemaNotChecked];
  const advice = 'start it, correct DATABASE_URL, or start everything with: ferry up';
  const found = await check(DATABASE, advice, async () => {
    const { version, clock, pending, unknown } = await inspectDatabase(databaseUrl.value.reveal(), CHECK_TIMEOUT_MS);
    clocks.push({ whose: 'Postgres', aheadMs: clock.database.getTime() - clock.local.getTime() });
    return [ok(DATABASE, `Postgres ${version}`), schema(pending, unknown)];
  });
  return found.length === 1 ? [...found, schemaNotChecked] : found;
}

function schema(pending: readonly string[], unknown: readonly string[]): CheckResult {
  if (unknown.length > 0) {
    const what = `has ${counted(unknown.length, 'step')} that this version does not know: ${unknown.join(', ')}`;
    return problem(SCHEMA, what, 'a newer version of ferry has updated this database; use that version');
  }
  if (pending.length === 0) return ok(SCHEMA, UP_TO_DATE);
  return ok(SCHEMA, `${counted(pending.length, 'step')} behind: the next command that opens the database updates it`);
}

const UP_TO_DATE = 'up to date';

/** Returns whether the checks found that the schema is up to date. */
export function isSchemaCurrent(checks: readonly CheckResult[]): boolean {
  return checks.some(({ check: about, finding }) => about === SCHEMA && finding === UP_TO_DATE);
}
