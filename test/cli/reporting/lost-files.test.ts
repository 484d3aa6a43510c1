/** Tests what `ferry reconcile` says about files that a restored ledger does not have. */
import { lostFileLines } from '../../../cli/reporting/lost-files';

const MIGRATION = { id: 'acme.xero', route: 'managed', suppliedBy: 'Cleo', platformKey: 'qhyg' } as const;
const HEAD =
  'Files that were supplied after the backup cannot be restored. Supply them again, or have the client supply them:';

test('names the command for each kind of file once, however many decisions supplied it', () => {
  const kinds = ['credentials-supplied', 'approve', 'credentials-supplied', 'manifest-supplied', 'manifest-amended'];
  const lines = lostFileLines(
    kinds.map((kind) => ({ kind })),
    MIGRATION,
    null,
  );
  expect(lines).toEqual([
    HEAD,
    '  the manifest, before support has accepted the details: ferry manifest acme.xero companies.csv --as client --by "your name"',
    '  rows of the manifest: ferry amend acme.xero companies.csv --as client --by "your name"',
    '  credentials: ferry credentials acme.xero new-credentials.csv --as client --by "your name"',
  ]);
});

test('leaves out files whose decision had been refused', () => {
  expect(lostFileLines([{ kind: 'replace-credential', wasRefused: true }, { kind: 'pause' }], MIGRATION, null)).toEqual(
    [],
  );
});

test('names the person at the client in self-service, and the portal if the client signs there', () => {
  const decisions = [{ kind: 'replace-credential' }];
  const command = 'replace-credential acme.xero new-credentials.csv';
  expect(lostFileLines(decisions, { ...MIGRATION, route: 'self-service' }, null)).toEqual([
    HEAD,
    `  replacements of credentials: ferry ${command} --as client --by Cleo`,
  ]);
  expect(lostFileLines(decisions, MIGRATION, 'https://portal.example')).toEqual([
    HEAD,
    `  replacements of credentials: ferry --portal https://portal.example ${command}`,
  ]);
});
