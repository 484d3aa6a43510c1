/** Starts many migrations, each of which waits until support approves its details. */
import type { Report } from '../figures';
import { startBenchMigration, awaitProgress } from '../migration';
import { companiesOf, allocateCompanies } from '../companies';
import type { BenchEnvironment } from '../environment';

/** A small number, because the cost of a waiting migration does not depend on its number of companies. */
const COMPANIES = 3;
const CONCURRENCY = 10;

/** @returns the ids of the migrations, once all of them are waiting */
export async function openMigrations(
  { ferry }: BenchEnvironment,
  count: number,
  report: Report,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let started = 0; started < count; started += CONCURRENCY) {
    report(started, count, 'migrations started');
    const group = Array.from({ length: Math.min(CONCURRENCY, count - started) }, async () => {
      const id = await startBenchMigration(ferry, companiesOf(allocateCompanies(COMPANIES)));
      await awaitProgress(ferry, id, ({ preflight, checking }) => preflight !== null && !checking);
      return id;
    });
    ids.push(...(await Promise.all(group)));
  }
  return ids;
}
