/** Tests the title of a group of companies in `ferry exceptions`, and the commands that are suggested below it. */
import { NOT_CHECKED } from '../../../domain/companies/company-state';
import { readGroups, printGroup } from '../../../cli/reporting/exception-groups';
import type { MigrationWithStage } from '../../../cli/reporting/listed-migration';
import { Output } from '../../../cli/terminal/output';
import type { LedgerCompany } from '../../../store';
import { capturedStream } from '../captured-terminal';

const MIGRATION = {
  ...{ id: 'acme.xero', route: 'managed', stage: 'open', released: 'first-company', firstRow: 1 },
  ...{ pausedItself: false, suppliedBy: 'Cleo', platformKey: 'xero', application: null },
} as unknown as MigrationWithStage;

const company = (row: number, changes: Partial<LedgerCompany>): LedgerCompany =>
  ({
    ...{ row, reference: `c-${row}`, name: `Company ${row}`, state: 'waiting', failure: null, failureText: null },
    ...{ deferred: false, heldBack: null, heldBackDetails: null, linkUrl: null, crossedAt: null, tries: 0 },
    ...{ confirmedAt: new Date(), credential: 'supplied', correlationId: null, retryAt: null, relinkingSince: null },
    ...changes,
  }) as unknown as LedgerCompany;

const FAILED_FIRST = company(1, { state: 'failed', failure: 'incomplete', failureText: 'incomplete', tries: 1 });
const HELD_BACK = company(2, { heldBack: 'no organization' });

async function* each(companies: readonly LedgerCompany[]): AsyncGenerator<LedgerCompany> {
  yield* companies;
}

/** Returns the printed groups, in the order in which their companies first appear. */
async function groupsOf(companies: readonly LedgerCompany[], changes: Partial<MigrationWithStage> = {}) {
  const migration = { ...MIGRATION, ...changes };
  const texts: string[] = [];
  for (const [, group] of await readGroups(migration, each(companies))) {
    const stdout = capturedStream();
    const output = new Output({ stdout, stderr: stdout, env: {} } as never, false, false);
    await printGroup(output, { migration, portal: null }, { windows: [], once: null, now: new Date() }, group, () =>
      each(companies.filter(({ reference }) => group.references.includes(reference))),
    );
    texts.push(stdout.text);
  }
  return texts;
}

test.each([
  [{ credential: 'missing' }, 'no credential supplied'],
  [{ confirmedAt: null }, 'the client has not confirmed that syncing is off'],
] as const)('a deferred company that is not ready has no next try: %j', async (lacks, why) => {
  const deferred = { deferred: true, failureText: 'busy', tries: 2, retryAt: new Date() };
  const [ready] = await groupsOf([company(1, deferred)], { released: 'all' });
  expect(ready).toContain('busy (tried 2 times; next try ');
  const [notReady] = await groupsOf([company(1, { ...deferred, ...lacks })], { released: 'all' });
  expect(notReady).toContain(`busy (tried 2 times; it cannot be tried again yet: ${why})`);
});

const ANOTHER_FIRST = 'To choose another first company, or to see what else you can do, run: ferry show acme.xero';

test('only the group of the first company that has failed says where to choose another one', async () => {
  const [failed, heldBack] = await groupsOf([FAILED_FIRST, HELD_BACK]);
  expect(failed).toContain(`  ${ANOTHER_FIRST}\n`);
  expect(heldBack).toContain('ferry amend acme.xero companies.csv');
  expect(heldBack).not.toContain('ferry show');
});

test.each<[string, Partial<MigrationWithStage>]>([
  ['another company is the first company now', { firstRow: 4 }],
  ['the migration has paused itself', { pausedItself: true }],
  ['all companies can move', { released: 'all' }],
])('no other first company is suggested if %s, because ferry show does not', async (_, changes) => {
  const [failed] = await groupsOf([FAILED_FIRST], changes);
  expect(failed).toContain('ferry replace-credential acme.xero');
  expect(failed).not.toContain('ferry show');
});

test('the group of a held-back company that was requested to go first says where to choose another one', async () => {
  const requested = { firstRow: null, requestedFirst: HELD_BACK.reference };
  const [heldBack] = await groupsOf([HELD_BACK], requested);
  // The commands are printed here, because `ferry show` does not suggest the choice before the start, or while the
  // migration waits for a window.
  expect(heldBack).toContain(
    '  To choose another first company, list the companies with: ferry companies acme.xero --state not-moved-yet; then choose one with: ferry first-company acme.xero "reference of the company" --reason "why"\n',
  );
  const [another] = await groupsOf([HELD_BACK], { ...requested, requestedFirst: 'R-99' });
  expect(another).not.toContain('To choose another');
});

test('companies that are not checked yet form a group without commands, also if one was requested to go first', async () => {
  const unchecked = company(3, { heldBack: NOT_CHECKED });
  const requested = { firstRow: null, requestedFirst: unchecked.reference };
  const [heldBack, notChecked = ''] = await groupsOf([HELD_BACK, unchecked], requested);
  expect(heldBack).toContain('held back by the preflight: 1 company\n');
  expect(notChecked).toContain('not checked by the preflight yet: 1 company\n');
  expect(notChecked).not.toContain('ferry ');
  // No check follows once the migration has ended.
  expect(await groupsOf([unchecked], { stage: 'ended' })).toEqual([
    expect.stringContaining('not moved when the migration ended: 1 company\n'),
  ]);
});

test('a retry helps the first company once its end customer has reconnected, although its credential was accepted', async () => {
  const failure = { failure: 'reauthorization-required', failureText: 'the grant has ended', tries: 1 } as const;
  const accepted = { state: 'failed', ...failure, linkUrl: 'https://link.example/1', crossedAt: new Date() } as const;
  const companies = [company(1, accepted), company(2, accepted)];
  const [first, other] = await groupsOf(companies);
  const title =
    'must reconnect: the authorization no longer works (the service accepted the credential earlier, so a retry';
  expect(first).toContain(`${title} helps only once the end customer has reconnected): 1 company\n`);
  expect(other).toContain(`${title} does not help): 1 company\n`);
  // The end customer needs the link, although step 5 accepts no relink.
  expect(first).toContain('  c-1 reconnects at https://link.example/1\n');
  expect(first).not.toContain('ferry relink');
  const later: readonly Partial<MigrationWithStage>[] = [{ released: 'all' }, { stage: 'ended' }];
  for (const changes of later)
    expect(await groupsOf(companies, changes)).toEqual([
      expect.stringContaining(`${title} does not help): 2 companies\n`),
    ]);
});

test('the title of a company that the platform deferred says that it is retried automatically, unless the migration is paused', async () => {
  const rejected = company(1, {
    deferred: true,
    failure: 'application-refused',
    failureText: 'wrong secret',
    tries: 1,
  });
  const title = 'the application is wrong, or another application obtained the credential';
  expect(await groupsOf([rejected])).toEqual([expect.stringContaining(`${title} (retried automatically): 1 company`)]);
  const [paused = ''] = await groupsOf([rejected], { paused: true });
  expect(paused).toContain(`${title}: 1 company`);
  expect(paused.indexOf('ferry application')).toBeLessThan(paused.indexOf('ferry credentials'));
  const late = company(1, { deferred: true, failureText: 'busy', tries: 2 });
  expect(await groupsOf([late], { paused: true })).toEqual([
    expect.stringContaining('deferred by the service or the platform: 1 company'),
  ]);
});
