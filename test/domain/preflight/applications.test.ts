import { FindingSummary } from '../../../domain/preflight/findings';
import {
  applicationConflicts,
  applicationName,
  findOtherApplication,
  remedyForReplaced,
  replacedRemedyText,
  type MigrationApplication,
  type MigrationApplications,
} from '../../../domain/preflight/applications';

const app = (clientId: string, environment = 'production') => ({ clientId, environment });
const bee = (application = app('bee-app'), changes: Partial<MigrationApplication> = {}): MigrationApplication => ({
  ...{ migrationId: 'bee.xero', client: 'bee', application, isSupplied: true },
  ...changes,
});
const kite = (supplied: string | null, ...others: MigrationApplication[]): MigrationApplications => ({
  migrationId: 'kite.xero',
  client: 'kite',
  supplied: supplied === null ? null : { ...app(supplied), suppliedBy: 'Cleo' },
  others,
});

test.each<[string, MigrationApplications, string | null]>([
  ['the supplied application is registered', kite('kite-app'), null],
  ['an application was registered before the migration', kite(null), null],
  ['another open migration uses the same application', kite('kite-app', bee(app('kite-app'))), null],
  [
    'another open migration of the same client was supplied with it',
    kite(null, bee(app('kite-app'), { client: 'kite' })),
    null,
  ],
  ['another open migration uses another application', kite('kite-app', bee()), 'application-of-another-migration'],
  [
    'another open migration uses the same client id in another environment',
    kite('kite-app', bee(app('kite-app', 'sandbox'))),
    'application-of-another-migration',
  ],
  [
    'none was supplied, and the registered one is that of another client',
    kite(null, bee(app('kite-app'))),
    'application-of-another-migration',
  ],
  ['the registered application is not the supplied one', kite('old-app'), 'application-differs'],
])('%s', (_, applications, code) => {
  const found = applicationConflicts(app('kite-app'), applications, false);
  expect(found).toEqual(code === null ? [] : [expect.objectContaining({ code, severity: 'error' })]);
});

test('a conflict names both migrations and both applications, and is only a warning in self-service', () => {
  const [finding] = applicationConflicts(app('bee-app'), kite('kite-app', bee()), true);
  expect(finding).toMatchObject({
    severity: 'warning',
    message:
      'kite.xero uses the application kite-app (production), but bee.xero uses bee-app (production); ' +
      'an account has only one application per platform',
    advice: 'an account serves one client, so give each client its own account (docs/deploying.md)',
  });
  expect(findOtherApplication(app('bee-app'), [bee()])).toBeUndefined();
});

test.each([
  ['another application', kite('kite-app', bee())],
  ['a registered application that is not its own', kite(null, bee())],
  ['a registered application of another client', kite(null, bee(app('bee-app')))],
  ['a registered application other than the supplied one', kite('kite-app')],
])('the client reads nothing about another client: %s', (_, applications) => {
  const summary = new FindingSummary();
  summary.add(applicationConflicts(app('bee-app'), applications, false));
  const { problems, clientProblems } = summary.sentences;
  expect(problems.join()).toMatch('bee');
  expect(clientProblems).toHaveLength(1);
  expect(clientProblems?.join()).not.toMatch('bee');

  const selfService = new FindingSummary();
  selfService.add(applicationConflicts(app('bee-app'), applications, true));
  const { warnings, clientWarnings } = selfService.sentences;
  expect(warnings.join()).toMatch('bee');
  expect(clientWarnings).toHaveLength(1);
  expect(clientWarnings?.join()).not.toMatch('bee');
});

test('support reads which migration supplied the registered application', () => {
  expect(applicationConflicts(app('dee-app'), kite(null, bee(app('dee-app'))), false)[0]?.message).toBe(
    'no application was supplied for kite.xero; the service uses the application dee-app (production), which was supplied for bee.xero',
  );
});

test('in self-service, the client is told to ask support, because it cannot supply an application', () => {
  const ofOneClient = kite('kite-app', bee(app('old'), { client: 'kite' }));
  const adviceFor = (isSelfService: boolean) =>
    applicationConflicts(app('kite-app'), ofOneClient, isSelfService)[0]?.advice;
  const same =
    'the same application for both migrations; or, if the other migration moves no companies, wait until it has ended';
  expect(adviceFor(true)).toBe(`ask support to register ${same}`);
  expect(adviceFor(false)).toBe(`supply ${same}`);
});

test.each<[string, MigrationApplications, boolean, string]>([
  [
    'a registered application of another client, in self-service',
    kite(null, bee(app('dee-app'))),
    true,
    'the registered application was supplied for another client of this account; ask support to register the application that obtained your tokens',
  ],
  [
    'a registered application of another client',
    kite(null, bee(app('dee-app'))),
    false,
    'no application was supplied for kite.xero, and the registered one was supplied for another client of this account; supply the application that obtained the tokens',
  ],
  [
    'another client with another application than the registered one',
    kite(null, bee()),
    false,
    'another client of this account uses an application other than the registered one; an account has only one application per platform, so ask support what to do',
  ],
  [
    'another client with another application than the supplied one',
    kite('dee-app', bee()),
    false,
    'kite.xero uses the application dee-app (production), but another client of this account uses another application; an account has only one application per platform, so ask support what to do',
  ],
])('the client reads about %s', (_, applications, isSelfService, message) => {
  const [finding] = applicationConflicts(app('dee-app'), applications, isSelfService);
  expect(finding?.clientMessage).toBe(message);
});

test('in self-service, the advice about an application that was not supplied does not ask the client to supply it', () => {
  const advice = (isSelfService: boolean) =>
    applicationConflicts(app('dee-app'), kite(null, bee(app('dee-app'))), isSelfService)[0]?.advice;
  expect(advice(true)).toBe(
    'ask support whether kite uses this application too; if not, kite needs its own account (docs/deploying.md)',
  );
  expect(advice(false)).toBe(
    'if kite uses this application too, supply it for kite.xero (if the details have been accepted and no company has begun to move, first reject step 1); if not, give each client its own account (docs/deploying.md)',
  );
});

test('a client reads the name of its own other migration', () => {
  const summary = new FindingSummary();
  summary.add(applicationConflicts(app('kite-app'), kite('kite-app', bee(app('old'), { client: 'kite' })), false));
  expect(summary.sentences.clientProblems).toBeUndefined();
});

test.each([
  ['registered', kite(null, bee(app('kite-app'), { client: 'kite' }))],
  ['used by its other migration', kite('kite-app', bee(app('dee-app'), { client: 'kite', isSupplied: false }))],
])('a client does not read the name of an application that is %s, but was not supplied', (_, applications) => {
  const summary = new FindingSummary();
  summary.add(applicationConflicts(app('dee-app'), applications, false));
  const { problems, clientProblems } = summary.sentences;
  expect(problems.join()).toContain('dee-app');
  const rule = 'an account has only one application per platform';
  expect(clientProblems).toEqual([`kite.xero and bee.xero use different applications; ${rule}`]);
});

test('a client id cannot break the line that shows it', () => {
  expect(applicationName(app('a\n\u202eb'))).toBe('a b (production)');
  expect(applicationName(app('x'.repeat(100)))).toBe(`${'x'.repeat(59)}… (production)`);
});

const group = (clientId: string, companies: number, withoutLink = 0) => ({
  ...{ application: app(clientId), companies, references: ['C-1'] },
  ...(withoutLink === 0 ? {} : { withoutLink }),
});

test.each([
  [
    'none depends on the registered application',
    group('old', 2),
    0,
    'keep your application old (production), and ask support to register it again, or let their end customers reconnect with their links instead',
  ],
  [
    'fewer depend on the registered application',
    group('old', 2),
    1,
    'keep your application old (production), and ask support to register it again, or let their end customers reconnect with their links instead; once the replaced application is registered again, 1 company connected with new (production) must reconnect',
  ],
  [
    'more depend on the registered application',
    group('old', 1),
    3,
    "let the company's end customer reconnect with the link, and keep new (production) registered, because 3 companies depend on it",
  ],
  [
    'no link is known',
    group('old', 1, 1),
    0,
    "keep your application old (production), and ask support to register it again, or let the company's end customer reconnect with the link (ask support for the link) instead",
  ],
  [
    'some links are known',
    group('old', 2, 1),
    2,
    'let their end customers reconnect with their links (ask support for the links of 1 company), and keep new (production) registered, because 2 companies depend on it',
  ],
])('companies of a replaced application, if %s', (_, replaced, current, text) => {
  const moved = current === 0 ? [replaced] : [replaced, group('new', current)];
  const applications = { moved, registered: app('new') };
  expect(replacedRemedyText(remedyForReplaced(replaced, applications, 'client'))).toBe(text);
  const forSupport = replacedRemedyText(remedyForReplaced(replaced, applications, 'support'));
  expect(forSupport).not.toContain('ask support');
});
