/** Tests the handover report of a migration completed with exceptions, and of a cancelled migration. */
import { CLIENT, startTestMigration, SUPPORT, type TestMigration } from '../../workflows/running-migration';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';
import { runJson } from '../command-line';

const orchestrator = useOrchestratorWithWorker();

const waitForEnd = ({ id }: TestMigration): Promise<unknown> =>
  orchestrator.ferry.temporal.workflow.getHandle(id).result();

interface Company {
  readonly reference: string;
  readonly linkUrl: string | null;
  readonly switchOn: string;
}

async function reportOf({ id }: TestMigration) {
  const { json } = await runJson(orchestrator, 'report', id);
  const { out } = await ferry(['report', id], undefined, orchestrator.env);
  const companies = json['companies'] as readonly Company[];
  const rowOf = (reference: string) => out.split('\n').find((line) => line.startsWith(`| ${reference} |`)) ?? '';
  return { json, companies, out, rowOf };
}

test('the report of a completed migration lists every company once, with its outcome and what to do', async () => {
  const migration = await startTestMigration(
    orchestrator,
    'reported',
    ['sbx-ok-10.r1', 'sbx-revoked.r2', 'sbx-short-3-of-10.r3', 'sbx-ok-10.r4', 'sbx-revoked.r5'],
    10,
  );
  await migration.until(({ preflight }) => preflight !== null);
  await migration.send('exclude', { companies: ['R-4'], reason: 'sold last week', ...CLIENT });
  await migration.readyToComplete();
  await migration.until(({ counts, waitingFor }) => counts.failed === 3 && waitingFor.roles.length === 2);
  await migration.send('skip', { companies: ['R-5'], reason: 'closed its books', ...SUPPORT });
  await migration.until(({ counts }) => counts.skipped === 1);
  await migration.send('approve', { step: 'complete-migration', ...SUPPORT });
  await migration.send('approve', { step: 'complete-migration', ...CLIENT });
  await waitForEnd(migration);

  const { json, companies, out, rowOf } = await reportOf(migration);
  expect(json).toMatchObject({
    ending: 'completed',
    figures: { crossed: 2, crossingUnknown: 0, mustReconnect: 1, credentialsLeft: 0 },
    planned: { estimate: { basis: 'assumed', volume: { companies: 4 } } },
  });
  expect(companies.map(({ reference, switchOn }) => [reference, switchOn])).toEqual([
    ['R-1', 'never'],
    ['R-2', 'until-reconnected'],
    ['R-3', 'never'],
    ['R-4', 'yes'],
    ['R-5', 'after-authorization'],
  ]);
  for (const { reference } of companies) expect(out.split(`| ${reference} |`)).toHaveLength(2);
  const time = String.raw`\d\d? [A-Z][a-z]{2}(?: \d{4})? \d\d:\d\d`;
  expect(rowOf('R-1')).toMatch(new RegExp(String.raw`\| [\d,]+ \| ${time} \| 24 h \| ${time} \|$`));
  expect(rowOf('R-3')).toContain('the connection is in place');
  expect(rowOf('R-4')).toContain('| before any attempt to move it | Cleo | sold last week |');
  expect(rowOf('R-5')).toContain('| after an attempt to move it | Sam | closed its books |');
  const linkUrl = companies.find(({ reference }) => reference === 'R-2')?.linkUrl ?? '';
  expect(rowOf('R-2')).toContain(`| ${linkUrl} |`);
  expect((await fetch(linkUrl, { method: 'HEAD' })).ok).toBe(true);
  expect(out).not.toContain('Created at the service, but not moved');
});

test('the report of a cancelled migration lists the companies whose syncing can be switched on again', async () => {
  const migration = await startTestMigration(orchestrator, 'report-cancelled', [
    'sbx-ok-2.c1',
    'sbx-ok-2.c2',
    'sbx-ok-2.c3',
  ]);
  await migration.firstCompanyMoved();
  const before = await reportOf(migration);
  expect(before.companies.map(({ switchOn }) => switchOn)).toEqual(['never', 'not-yet', 'not-yet']);
  await migration.send('cancel', { reason: 'we stay where we are', ...CLIENT });
  await waitForEnd(migration);
  const { json, companies, out, rowOf } = await reportOf(migration);
  expect(out).toContain('State: cancelled by Cleo (client); reason: we stay where we are');
  expect(json).toMatchObject({ ending: 'cancelled', figures: { crossed: 1 } });
  expect(companies.map(({ switchOn }) => switchOn)).toEqual(['never', 'yes', 'yes']);
  const why = 'the migration ended before the company was moved';
  expect(rowOf('R-2')).toContain(`| not moved: ${why} | move the company in a new migration | yes |`);
  const listed = await ferry(['companies', migration.id], undefined, orchestrator.env);
  expect(listed.out).toMatch(new RegExp(`R-2 .*not moved +${why}`));
  const exceptions = await ferry(['exceptions', migration.id], undefined, orchestrator.env);
  expect(exceptions.out).toContain('2 companies not moved before the migration ended');
  expect(exceptions.out).toContain(`run: ferry companies ${migration.id} --state not-moved`);
  expect((await runJson(orchestrator, 'exceptions', migration.id)).json).toMatchObject({ notMovedAtEnd: 2 });
  expect(out).toContain('- **Yes** (2)');
});
