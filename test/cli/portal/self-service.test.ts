/** Tests that a client can resolve exceptions of a self-service migration with `ferry --portal`. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { useOpened } from '../../support/async';
import { platform } from '../../support/migrations/platforms';
import { removeTempFiles } from '../manifest/manifest-files';
import { manifestOf } from '../supply/self-service-set-up';
import { openClientPortal } from './client';

const portal = useOpened(openClientPortal);
afterAll(removeTempFiles);

test('the client replaces a credential and skips a company', async () => {
  const id = 'mine.xero';
  const manifest = manifestOf(platform('xero'), [
    ...[{ credential: 'sbx-ok-1' }, { credential: 'sbx-revoked' }, { credential: 'sbx-expired' }],
  ]);
  const started = await portal.support('self-service', manifest, '-p', 'xero', '--client', 'mine', '--yes', '--json');
  expect(JSON.parse(started.out)).toMatchObject({ counts: { moved: 1, failed: 2 } });
  const cleo = await portal.signedIn(id);

  const exceptions = await cleo.run('exceptions');
  expect(exceptions.out).toMatch(/S-2 +Company 2 +(must reconnect|not moved)/);
  const ferry = `ferry --portal ${portal.url}`;
  expect(exceptions.out).toContain(`  ${ferry} skip S-2 S-3 --reason "why"\n`);
  expect(exceptions.out).toContain(`  ${ferry} replace-credential credentials.csv\n`);
  expect((await cleo.run('adjust')).err).toContain('no limit was specified');
  // The limits cannot be changed now, because no company is waiting to be moved.
  expect((await cleo.run('adjust', '--companies-per-minute', '90')).err).toContain(
    'the portal does not offer "adjust" now',
  );
  expect((await cleo.run('skip', 'S-3', '--reason', 'closed', '--yes')).out).toContain(`✓ ${id}: `);

  const { db } = portal.orchestrator.ferry;
  const { organization } = await db
    .selectFrom('companies')
    .select('organization')
    .where('migration_id', '=', id)
    .where('reference', '=', 'S-2')
    .executeTakeFirstOrThrow();
  const file = path.join(cleo.home, 'credentials.csv');
  writeFileSync(file, `reference,accessToken,refreshToken,tenantId\nS-2,any,sbx-ok-2.replaced,${organization}\n`);
  const replaced = await cleo.run('replace-credential', file, '--yes');
  expect(replaced).toMatchObject({ exitCode: 0, err: '' });
  expect(await cleo.runJson('watch')).toMatchObject({ state: 'completed', counts: { moved: 2, leftOut: 1 } });
});
