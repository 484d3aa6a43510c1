/**
 * Tests how `ferry exceptions` lists companies that are no exceptions but need attention: those that wait for their
 * next try, and those with a replaced application. Also tests commands for more companies than fit into one command.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { localTime } from '../../../cli/terminal/times';
import { nextMove } from '../../../domain/planning/windows';
import { findCompany } from '../../../store';
import { until } from '../../support/async';
import { readRow, updateRow } from '../../support/migrations/ledger';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { closedWindows, startTestMigration, SUPPORT, windowChange } from '../../workflows/running-migration';
import { ferry } from '../captured-terminal';
import { runJson } from '../command-line';
import { temporaryFolder } from '../../support/temporary-folder';

const orchestrator = useOrchestratorWithWorker();
const folder = temporaryFolder();

const run = (...args: string[]) => ferry(args, undefined, orchestrator.env);

test('a command that does not fit all companies of a group says how many others to specify', async () => {
  const { db } = orchestrator.ferry;
  const tokens = Array.from({ length: 60 }, (_, index) => `sbx-ok-1.many${index}`);
  const { id, until: reached } = await startTestMigration(orchestrator, 'many', tokens);
  await reached(({ preflight }) => preflight !== null);
  await db.updateTable('companies').set({ held_back: 'no access' }).where('migration_id', '=', id).execute();
  const { out } = await run('exceptions', id);
  expect(out).toContain('held back by the preflight: 60 companies');
  expect(out).toMatch(
    /ferry exclude many\S+ R-1 .* R-50 --reason "why"\n.*; the command names only the first 50 companies: add the references of the other 10\n/,
  );
});

test('a company that waits for its next try stays visible, with the window in which it is tried', async () => {
  const retrier = await startTestMigration(orchestrator, 'retrier', ['sbx-ok-1.retrier', 'sbx-revoked.retrier']);
  await retrier.readyToComplete();
  await retrier.until(({ counts }) => counts.failed === 1);
  expect(await retrier.send('adjust', windowChange(closedWindows()))).toBe('applied');
  expect((await run('retry', retrier.id, 'R-2')).exitCode).toBe(0);
  const { windows } = await retrier.until(({ counts }) => counts.retried === 1);
  const opensAt = localTime(nextMove(windows, new Date().toISOString()) ?? '');

  const { out } = await run('exceptions', retrier.id);
  expect(out).toMatch(/^R-2 .+ will be tried again in the window from .+\n/);
  expect(out).toContain(`in the window from ${opensAt}\n`);
  expect(out).toContain(
    [
      '  Until the next try, you can still decide differently:',
      `  ferry replace-credential ${retrier.id} new-credentials.csv`,
      '      try again with a new credential from the client',
      `  ferry skip ${retrier.id} R-2 --reason "why"`,
    ].join('\n'),
  );
  const again = `1 company (R-2) will be tried again in the window from ${opensAt}\n`;
  expect((await run('show', retrier.id)).out).toContain(again);
  expect((await runJson(orchestrator, 'exceptions', retrier.id)).json).toMatchObject({
    ...{ retried: 1, exceptions: [] },
    retriedRemedies: [{ remedy: 'replace-credential', companies: 1 }, { remedy: 'skip' }],
  });

  // The new limit makes the workflow look for a window again, so that it sees the paused windows.
  expect((await run('schedule', 'pause', retrier.id, '--reason', 'month end')).exitCode).toBe(0);
  expect(await retrier.send('adjust', { limits: { companiesPerMinute: 9 }, ...SUPPORT })).toBe('applied');
  await retrier.until(({ waitingFor }) => waitingFor.what.startsWith('resume the windows'));
  const onceResumed = 'will be tried again once the windows are resumed and a window is open';
  expect((await run('show', retrier.id)).out).toContain(`1 company (R-2) ${onceResumed}\n`);
  expect((await run('exceptions', retrier.id)).out).toMatch(new RegExp(`^R-2 .+ ${onceResumed}$`, 'm'));

  expect((await run('pause', retrier.id, '--reason', 'lunch')).exitCode).toBe(0);
  const onceBothResumed = 'will be tried again once the migration and its windows are resumed and a window is open';
  const paused = (await run('show', retrier.id)).out;
  expect(paused).toContain(`1 company (R-2) ${onceBothResumed}\n`);
  for (const command of ['schedule resume', 'resume']) expect(paused).toContain(`ferry ${command} ${retrier.id}\n`);
  expect((await run('exceptions', retrier.id)).out).toMatch(new RegExp(`^R-2 .+ ${onceBothResumed}$`, 'm'));
  await run('schedule', 'resume', retrier.id);
  expect((await run('exceptions', retrier.id)).out).toMatch(
    /^R-2 .+ will be tried again once the migration is resumed and a window is open$/m,
  );

  // While the company waits, it accepts a new credential, and can be given up.
  const file = path.join(folder, 'retrier.csv');
  const organization = (await findCompany(orchestrator.ferry.db, retrier.id, { reference: 'R-2' }))?.organization ?? '';
  const credential = `R-2,any,sbx-ok-1.changed,${organization},${new Date().toISOString()}`;
  writeFileSync(file, `reference,accessToken,refreshToken,realmId,obtainedAt\n${credential}`);
  const replaced = await runJson(orchestrator, 'replace-credential', retrier.id, file, '--by', 'Sam');
  expect(replaced.json).toMatchObject({ stored: ['R-2'], decision: { outcome: 'applied' } });
  expect(JSON.stringify(replaced.json['decision'])).not.toMatch(/applied to|nothing has changed/);
  const skipped = await run('skip', retrier.id, 'R-2', '--reason', 'sold', '--by', 'Sam', '--yes');
  expect(skipped).toMatchObject({ exitCode: 0 });
  expect(skipped.out).not.toMatch(/applied to|nothing has changed/);
  expect((await readRow(orchestrator.ferry.db, retrier.id, 2)).state).toBe('skipped');
});

test('the commands for companies that wait for their next try name more of them than the list shows', async () => {
  const many = await startTestMigration(orchestrator, 'many-retried', Array<string>(52).fill('sbx-ok-1.retried'));
  const { id } = many;
  await many.readyToMove();
  expect((await run('pause', id, '--reason', 'lunch')).exitCode).toBe(0);
  const { db } = orchestrator.ferry;
  await db
    .updateTable('companies')
    .set({ state: 'waiting', tries: 1, failure_text: null })
    .where('migration_id', '=', id)
    .execute();
  const { out } = await run('exceptions', id);
  expect(out).toMatch(
    /^ {2}ferry exclude .+ R-1 R-2 .+ R-50 --reason "why"\n.+; the command names only the first 50 companies: add the references of the other 2$/m,
  );
  const { json } = await runJson(orchestrator, 'exceptions', id);
  expect(json['retriedRemedies']).toContainEqual(
    expect.objectContaining({ remedy: 'exclude', companies: 52, command: expect.stringContaining(' R-50 ') as string }),
  );
});

test('a company whose application was replaced is listed with its link until its end customer has reconnected', async () => {
  const replaced = await startTestMigration(
    orchestrator,
    'application-replaced',
    ['1', '2'].map((n) => `sbx-ok-1.app-${n}`),
    null,
    {
      slug: 'freshbooks',
    },
  );
  await replaced.readyToComplete();
  await replaced.until(({ counts }) => counts.moved === 2);
  await replaced.send('applicationSupplied', { clientId: 'new-app', environment: 'production', ...SUPPORT });
  const listed = async () => (await run('exceptions', replaced.id)).out;
  await until(async () => (await listed()).includes('application that was replaced'));
  const { linkUrl } = (await findCompany(orchestrator.ferry.db, replaced.id, { reference: 'R-1' })) ?? {};
  expect(await listed()).toMatch(/^connected with an application that was replaced: 2 companies\n.*R-1, R-2.*\n/);
  expect(await listed()).toContain(`\n  R-1 reconnects at ${linkUrl}\n`);
  expect((await run('companies', replaced.id, '--replaced-application')).out).toContain(
    `  R-1 reconnects at ${linkUrl}`,
  );
  expect((await run('show', replaced.id)).out).toContain(`ferry companies ${replaced.id} --replaced-application`);
  expect((await run('report', replaced.id, '--format', 'html')).out).toContain(`href="${linkUrl}"`);
  expect((await runJson(orchestrator, 'exceptions', replaced.id)).json).toMatchObject({ replacedApplication: 2 });
  await replaced.until(({ replacedApplication }) => replacedApplication === 2);
  expect((await run('watch', replaced.id, '--until-decision')).out).toContain(
    '2 companies with a replaced application, waiting',
  );

  expect((await fetch(linkUrl ?? '', { method: 'POST' })).status).toBe(200);
  // Makes the next check of the connection due now, because the worker repeats it only after 30 seconds.
  await updateRow(orchestrator.ferry.db, replaced.id, 1, { authorization_checked_at: null });
  await until(async () => !(await listed()).includes('R-1 reconnects'));
  expect(await listed()).toMatch(/: 1 company\n.*R-2/);
  expect((await runJson(orchestrator, 'show', replaced.id)).json).toMatchObject({
    replacedApplications: [{ companies: 1, references: ['R-2'] }],
  });
  await updateRow(orchestrator.ferry.db, replaced.id, 2, { state: 'skipped', left_out_reason: 'sold' });
  const { linkUrl: second } = (await findCompany(orchestrator.ferry.db, replaced.id, { reference: 'R-2' })) ?? {};
  const [, row] = /\n(R-2,.*)/.exec((await run('companies', replaced.id, '--csv')).out) ?? [];
  expect(row).toMatch(/sold; the application that obtained the tokens was replaced/);
  expect(row).toContain(`,${second},`);
}, 60_000);
