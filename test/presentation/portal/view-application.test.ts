/** Tests what both sides read if only another client's application is registered. */
import type { FindingCode } from '../../../domain/companies/finding';
import { applicationConflicts } from '../../../domain/preflight/applications';
import { withActingRoles } from '../../../domain/progress/acting-roles';
import { progressOf } from '../../../domain/progress/progress';
import { migrationView } from '../../../presentation/portal/view';
import { currentDetails } from '../../../presentation/temporal-ui/current-details';
import { LATER, migrationPlan, preflight, stateAt } from '../../support/migrations/migration-states';
import { FACTS } from './views';

test('if the registered application was supplied for another client, both sides are told what to do', () => {
  const application = { clientId: 'bee-app', environment: 'production' };
  const bee = { migrationId: 'bee.xero', client: 'bee', application, isSupplied: true };
  const applications = { migrationId: 'acme.quickbooks-online', client: 'acme', supplied: null, others: [bee] };
  const [{ code, message, clientMessage = '' } = {}] = applicationConflicts(application, applications, false);
  const checked = { problems: [message ?? ''], clientProblems: [clientMessage], problemCodes: [code as FindingCode] };
  const progress = withActingRoles(
    progressOf(migrationPlan(), stateAt('supply-details', { preflight: preflight(checked) })),
  );
  const headline =
    'The check of the details found 1 problem. Support has to resolve it, and needs to know your QuickBooks Online application.';
  const supply = 'Please supply the application that obtained your tokens, or tell support which application it is.';
  const view = migrationView(progress, FACTS, LATER);
  expect(view).toMatchObject({ headline, task: { what: supply }, details: { problems: [clientMessage] } });
  expect(view.actions.find(({ title }) => title === 'Supply your application')).toMatchObject({ isExpected: true });
  const page = currentDetails(progress, { now: LATER });
  expect(page).toContain(`# ${headline} ${supply}\n`);
  expect(page).toContain(
    '**What support has to do:** resolve these problems\n\n- no application was supplied for acme.quickbooks-online, and the registered one was supplied for another client of this account; supply the application that obtained the tokens\n',
  );
  expect(page).not.toMatch(/Nothing for you to do|\bbee\b/);
});
