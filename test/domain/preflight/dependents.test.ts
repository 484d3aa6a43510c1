import {
  dependentFindings,
  isApplicationOfOtherClient,
  type DependentCompanies,
} from '../../../domain/preflight/dependents';
import { FindingSummary, type PreflightFinding } from '../../../domain/preflight/findings';
import { preflight } from '../../support/migrations/migration-states';

function sentencesOf(findings: readonly PreflightFinding[]) {
  const summary = new FindingSummary();
  summary.add(findings);
  return summary.sentences;
}

const app = (clientId: string, environment = 'production') => ({ clientId, environment });
const kite: DependentCompanies = {
  ...{ migrationId: 'kite.xero', client: 'kite', hasEnded: true, application: app('kite-app'), companies: 25 },
};
const found = (
  changes: Partial<DependentCompanies>,
  supplied: string | null = 'bee-app',
  client: string | null = 'bee',
  canSupply = true,
) =>
  dependentFindings(
    app('kite-app'),
    { client, supplied: supplied === null ? null : app(supplied), others: [{ ...kite, ...changes }] },
    canSupply,
  );

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
  expect(found({}, null, 'bee', false)).toEqual([finding]);
  expect(found({}, null, null, false)).toEqual([finding]);
});

test('says that no application was supplied if the registered application is that of another client', () => {
  const [finding] = found({}, null);
  expect(finding).toMatchObject({
    code: 'application-in-use',
    severity: 'warning',
    message:
      'no application was supplied, and connected companies of another client depend on the registered one: kite.xero (25 companies, ended)',
    advice: expect.stringMatching(
      /^if kite-app \(production\) obtained the client's tokens, supply it; otherwise /,
    ) as string,
  });
  expect(finding?.clientMessage).toMatch(/; supply the application that obtained your tokens, or tell support which/);
  expect(finding?.clientMessage).not.toContain('kite');
  const { warnings, clientWarnings } = sentencesOf(finding ? [finding] : []);
  expect(isApplicationOfOtherClient({ ...preflight(), warnings, ...(clientWarnings && { clientWarnings }) })).toBe(
    true,
  );
  expect(isApplicationOfOtherClient(preflight())).toBe(false);
});

test.each<[string, readonly unknown[]]>([
  ['the migration is open, because that is an error', found({ hasEnded: false })],
  ['the migration is of the same client', found({}, null, 'kite')],
  ['its companies depend on another application', found({ application: app('old-app') })],
  ['the same application was supplied', found({}, 'kite-app')],
])('does not warn if %s', (_, findings) => expect(findings).toEqual([]));
