/** Postgres: whether it answers, and whether its schema is one that this version knows. Nothing in it is changed. */
import { counted } from '../../domain/text/sentences';
import { inspectDatabase } from '../../store';
import type { Configured } from './configured';
import type { ClockReading, Examined } from './finding';
import { examine, notChecked, ok, PATIENCE_MS, problem } from './finding';

const DATABASE = 'database';
const SCHEMA = 'schema';

export async function examineDatabase(
  databaseUrl: Configured<'databaseUrl'>,
  clocks: ClockReading[],
): Promise<readonly Examined[]> {
  const unasked = notChecked(SCHEMA, 'the database has to answer first');
  if ('found' in databaseUrl) return [databaseUrl.found, unasked];
  const advice = 'start it, correct DATABASE_URL, or start everything with: ferry up';
  const found = await examine(DATABASE, advice, async () => {
    const { version, clock, pending, unknown } = await inspectDatabase(databaseUrl.value.reveal(), PATIENCE_MS);
    clocks.push({ whose: 'Postgres', aheadMs: clock.theirs.getTime() - clock.ours.getTime() });
    return [ok(DATABASE, `Postgres ${version}`), schema(pending, unknown)];
  });
  return found.length === 1 ? [...found, unasked] : found;
}

function schema(pending: readonly string[], unknown: readonly string[]): Examined {
  if (unknown.length > 0) {
    const what = `has ${counted(unknown.length, 'step')} that this ferry does not know: ${unknown.join(', ')}`;
    return problem(SCHEMA, what, 'a newer version has been here: use that one');
  }
  if (pending.length === 0) return ok(SCHEMA, 'as this version needs it');
  return ok(SCHEMA, `${counted(pending.length, 'step')} behind: the next command that opens it brings it up to date`);
}
