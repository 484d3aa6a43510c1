/** Tests what `ferry reconcile` says about files that a restored ledger does not have. */
import { lostFileLines } from '../../../cli/reporting/lost-files';

const MIGRATION = { id: 'acme.xero', route: 'managed', suppliedBy: 'Cleo', platformKey: 'qhyg' } as const;
const HEAD =
  'Files that were supplied after the backup cannot be restored. Supply them again, or have the client supply them:';

test('names the command for each kind of file once, however many decisions supplied it', () => {
  const credentials = { kind: 'credentials-supplied', isPartial: true } as const;
  const decisions = [credentials, { kind: 'approve' }, credentials, { kind: 'manifest-amended' }];
  const lines = lostFileLines({ decisions, refused: [] }, MIGRATION, null);
  expect(lines).toEqual([
    HEAD,
    '  rows of the manifest: ferry amend acme.xero companies.csv --as client --by "your name"',
    '  credentials of companies that have not moved: ferry credentials acme.xero new-credentials.csv --as client --by "your name"',
  ]);
});

test('names the command for a lost manifest, and the command for after the details have been accepted', () => {
  expect(lostFileLines({ decisions: [], refused: [{ supplyWith: 'manifest' }] }, MIGRATION, null)).toEqual([
    HEAD,
    '  the manifest, as long as support has not accepted the details: ferry manifest acme.xero companies.csv --as client --by "your name"',
    '  the manifest, once support has accepted the details: ferry amend acme.xero companies.csv --as client --by "your name"',
  ]);
});

test('leaves out files that the ledger still has, or whose decision had been refused', () => {
  const decisions = [
    { kind: 'manifest-supplied' },
    { kind: 'credentials-supplied' },
    { kind: 'manifest-amended', wasRefused: true },
    { kind: 'pause' },
  ] as const;
  expect(lostFileLines({ decisions, refused: [{}] }, MIGRATION, null)).toEqual([]);
});

test('names the person at the client in self-service, and the portal if the client signs there', () => {
  const lost = { decisions: [{ kind: 'replace-credential', isPartial: true }], refused: [] } as const;
  const command = 'replace-credential acme.xero new-credentials.csv';
  expect(lostFileLines(lost, { ...MIGRATION, route: 'self-service' }, null)).toEqual([
    HEAD,
    `  replacements of credentials: ferry ${command} --as client --by Cleo`,
  ]);
  expect(lostFileLines(lost, MIGRATION, 'https://portal.example')).toEqual([
    HEAD,
    `  replacements of credentials: ferry --portal https://portal.example ${command}`,
  ]);
});

test('names the amendment if the rows of a lost manifest can only be amended', () => {
  expect(lostFileLines({ decisions: [], refused: [{ supplyWith: 'amend' }] }, MIGRATION, null)).toEqual([
    HEAD,
    '  rows of the manifest: ferry amend acme.xero companies.csv --as client --by "your name"',
  ]);
});
