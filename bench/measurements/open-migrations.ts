/** Many migrations on one worker, each waiting for support to accept its details. */
import type { Report } from '../figures';
import { startMeasured, untilProgress } from '../migration';
import { companiesOf, newCompanies } from '../companies';
import type { Workbench } from '../workbench';

/** Of each: what a migration costs while it waits does not depend on how many they are. */
const COMPANIES = 3;
const AT_ONCE = 10;

/** @returns their ids, when all of them wait */
export async function openMigrations({ ferry }: Workbench, count: number, report: Report): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let opened = 0; opened < count; opened += AT_ONCE) {
    report(opened, count, 'migrations are opened');
    const group = Array.from({ length: Math.min(AT_ONCE, count - opened) }, async () => {
      const id = await startMeasured(ferry, companiesOf(newCompanies(COMPANIES)));
      await untilProgress(ferry, id, ({ preflight, checking }) => preflight !== null && !checking);
      return id;
    });
    ids.push(...(await Promise.all(group)));
  }
  return ids;
}
