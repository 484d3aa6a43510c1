/** Tests how the page tells the client to act: with which commands, and what to send to support. */
import type { FindingCode } from '../../../domain/companies/finding';
import { progressOf } from '../../../domain/progress/progress';
import { currentDetails } from '../../../presentation/temporal-ui/current-details';
import { AT, counts, LATER, migrationPlan, preflight, stateAt } from '../../support/migrations/migration-states';
import { platform } from '../../support/migrations/platforms';
import { detailsAt, estimated } from './details-page';

test('credentials are exported after the confirmation, and sealed with the migration key', () => {
  const state = stateAt('migrate-first-company', {
    ...{ proposal: null, counts: counts({ total: 2, waiting: 2, withoutCredential: 2 }) },
  });
  expect(detailsAt(state)).toContain(
    '**How:** export the credentials after you have confirmed that syncing is off; save the credentials in the file credentials.csv; ask support for the migration key and save it in the file migration.key; run `ferry seal credentials.csv --for migration.key`, and send support only the sealed file; never send tokens',
  );
});

test('the client secret is sealed with a complete command', () => {
  const found = preflight({ problems: ['a'], problemCodes: ['application-missing'] });
  expect(detailsAt(stateAt('supply-details', { preflight: found }))).toContain(
    '**How:** write the client secret of your application, and nothing else, to the file secret.txt; ask support for the migration key and save it in the file migration.key; run `ferry seal secret.txt --for migration.key --client-id "<id>" --environment production`, and send support only the sealed file; never send tokens',
  );
});

test.each([
  [
    'wave',
    undefined,
    '--environment production` (with `--environment sandbox` if the application is registered in the sandbox), and',
  ],
  ['wave', 'sandbox', '--environment sandbox`, and'],
  ['wave', 'production', '--environment production`, and'],
  ['quickbooks-online-sandbox', 'production', '--environment sandbox`, and'],
])(
  'the client secret is sealed for the known environment: on %s, with the application in %s',
  (slug, environment, end) => {
    const application =
      environment === undefined ? {} : { application: { clientId: 'a', environment, suppliedBy: 'Cleo' } };
    const reopened = { step: 'supply-details', by: 'Sam', role: 'support', at: AT, asksForChanges: true } as const;
    const found = preflight({ problems: ['a'], problemCodes: ['application-not-registered'], ...application });
    const state = stateAt('supply-details', { preflight: found, reopened: { ...reopened, reason: 'wrong' } });
    const plan = migrationPlan({ platformKey: platform(slug).key });
    expect(currentDetails(progressOf(plan, state), { now: LATER })).toContain(`--client-id "<id>" ${end} send`);
  },
);

test('the page says how to correct the manifest, in addition to how to supply the secret', () => {
  const how =
    '**How:** open the portal with the link from support and replace the manifest there, or send solutions team, +44 20 7946 0018 the corrected manifest without tokens';
  const pageWith = (...problemCodes: readonly FindingCode[]) =>
    detailsAt(stateAt('supply-details', { preflight: preflight({ problems: [...problemCodes], problemCodes }) }));
  expect(pageWith('name-empty', 'no-room').split('\n')).toContain(how);
  expect(pageWith('name-empty', 'application-missing')).toContain(`${how}; write the client secret`);
  expect(pageWith('application-missing')).not.toContain('replace the manifest');
});

test('if support has asked for changes, its own problems are not shown as tasks of the client', () => {
  const step = 'supply-details';
  const reopened = { step, by: 'Sam', role: 'support', at: AT, reason: 'wrong books', asksForChanges: true } as const;
  const found = preflight({ problems: ['no room'], problemCodes: ['no-room'] });
  expect(detailsAt(stateAt(step, { preflight: found, reopened }))).toContain(
    '**What to do:** change the supplied details as support has asked, or ask support to accept them as they are\n\n' +
      '**What support has to do:** resolve these problems\n\n- no room\n',
  );
});

test('the page asks for no client secret if only support can solve the problem with the application', () => {
  const problemCodes = ['duplicate-organization', 'application-of-another-migration'] as const;
  const details = preflight({ problems: ['a', 'b'], problemCodes });
  expect(detailsAt(stateAt('supply-details', { preflight: details }))).not.toContain('secret');
});

test('a client that must sign its decisions is sent to the portal', () => {
  const added = { kind: 'add-approver', approver: { role: 'client', by: 'Cleo', publicKey: 'a'.repeat(64) } } as const;
  const text = detailsAt(stateAt('disable-syncing', { ...estimated, approverChanges: [added] }));
  expect(text).toContain('**How:** use the portal, or ferry with your signing key; for help, ask ');
  expect(text).not.toContain('record your decision');
});
