import { dependentFindings, type DependentCompanies } from '../../../domain/preflight/dependents';

const app = (clientId: string, environment = 'production') => ({ clientId, environment });
const kite: DependentCompanies = {
  ...{ migrationId: 'kite.xero', client: 'kite', hasEnded: true, application: app('kite-app'), companies: 25 },
};
const found = (changes: Partial<DependentCompanies>, supplied: string | null = null, client: string | null = 'bee') =>
  dependentFindings(app('kite-app'), {
    ...{ client, supplied: supplied === null ? null : app(supplied), others: [{ ...kite, ...changes }] },
  });

test('warns that connected companies of an ended migration of another client depend on the registered application', () => {
  const [finding] = found({});
  expect(finding).toMatchObject({
    code: 'application-in-use',
    severity: 'warning',
    message:
      'connected companies, moved or not, depend on the registered application kite-app (production): kite.xero (25 companies, ended); ' +
      'another application would replace it, and the service could no longer refresh their tokens',
  });
  expect(finding?.clientMessage).not.toContain('kite');
  expect(found({}, 'bee-app')).toHaveLength(1);
  expect(found({}, null, null)).toHaveLength(1);
});

test.each<[string, readonly unknown[]]>([
  ['the migration is open, because that is an error', found({ hasEnded: false })],
  ['the migration is of the same client', found({}, null, 'kite')],
  ['its companies depend on another application', found({ application: app('old-app') })],
  ['the same application was supplied', found({}, 'kite-app')],
])('does not warn if %s', (_, findings) => expect(findings).toEqual([]));
