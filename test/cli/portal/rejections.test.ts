/** Tests rejections with `ferry --portal`. */
import { readTrail } from '../../../store';
import { startTestMigration, SUPPORT } from '../../workflows/running-migration';
import { until, useOpened } from '../../support/async';
import { openClientPortal } from './client';

const portal = useOpened(openClientPortal);

test('a rejection without a step names the only step, or lists the steps if there are several', async () => {
  const migration = await startTestMigration(portal.orchestrator, 'rejecting', ['sbx-ok-1.a']);
  await migration.until(({ preflight }) => preflight !== null);
  const cleo = await portal.signedIn(migration.id);
  const only = await cleo.run('reject', '--reason', 'the name is wrong');
  expect(only).toMatchObject({ exitCode: 0 });
  // The rejection makes a worker check the details again, and until then the approval is refused.
  await until(async () => (await migration.send('approve', { step: 'supply-details', ...SUPPORT })) === 'applied');
  expect(await migration.send('proposeTime', { startAt: '2030-03-01T20:00:00.000Z', ...SUPPORT })).toBe('applied');
  await until(async () => (await cleo.run('show')).out.includes('reject schedule'));
  const { exitCode, err } = await cleo.run('reject', '--reason', 'too early');
  expect(exitCode).toBe(1);
  expect(err).toContain('you can reject 2 steps now, and the command names none; nothing was sent; name the step; ');
  expect(err).toContain('to reject the proposed start: ferry --portal http');
  expect(err).toMatch(
    / reject schedule --reason "why"; to change the supplied details: .* reject supply-details --reason "why"/,
  );
  for await (const { decision } of readTrail(portal.orchestrator.ferry.db, migration.id))
    expect(JSON.stringify(decision)).not.toContain('too early');
});
