/** Tests what the handover report says about copies of credentials, and about the secrets of applications. */
import type { ReportHead } from '../../../presentation/handover/report-facts';
import { reportHead } from '../../../presentation/handover/markdown-report';
import { NO_COUNTS } from '../../../domain/companies/counts';
import { HEAD, recorded, sender } from './report-head';

describe('the head of the report', () => {
  const supplied = (clientId: string) =>
    recorded(
      { kind: 'application-supplied', ...sender(clientId, 'client'), clientId, environment: 'production' },
      { applied: true, text: '' },
      '2026-11-20T22:00:00.000Z',
    );

  test('says that the secret of the latest application must be rotated', () => {
    const head = reportHead({ ...HEAD, decisions: [supplied('app-1'), supplied('app-2')] });
    expect(head).toContain('the secret of your application app-2 (production) at QuickBooks Online, because it was');
  });

  test('names the companies that depend on each application, and asks to register a replaced application again', () => {
    const moved = (clientId: string, ...references: string[]) => ({
      ...{ application: { clientId, environment: 'production' }, companies: references.length, references },
    });
    const [old, current] = [moved('app-1', 'C-1', 'C-2'), moved('app-2', 'C-3')];
    const decisions = [supplied('app-1'), supplied('app-2')];
    const report = (
      of: readonly (typeof old)[],
      registered: (typeof old)['application'] | null = current.application,
    ) => reportHead({ ...HEAD, decisions, applications: { moved: of, replaced: [old], registered } });
    const both = report([old, current]);
    expect(both).toContain(
      '- **Keep your application app-1 (production), and ask support to register it again** (2): 2 companies (C-1, C-2) were connected with app-1 (production), ' +
        'but app-2 (production) is registered now, so the service can no longer refresh their tokens. ' +
        'Instead, you can let their end customers reconnect with their links. ' +
        'If app-1 (production) is registered again, 1 company connected with app-2 (production) must reconnect.',
    );
    expect(both).toContain('app-1 (production) at QuickBooks Online, because it was shared for this migration. The');
    expect(both).toContain(
      'The connections of 2 companies (C-1, C-2) need it only if the application is registered again. If you choose that instead of reconnecting, give support the new secret.',
    );
    expect(both).toContain(
      'The connections of 1 company (C-3) depend on it while the application is registered. If the application stays registered, give support the new secret before the old secret expires.',
    );
    expect(report([old])).toContain(
      'app-2 (production) at QuickBooks Online, because it was shared for this migration. The migration needs it, so give support the new secret before the old secret expires.',
    );
    expect(report([old], null)).toContain('but another application is registered now');
    const one = moved('app-1', 'C-1');
    const ofOne = reportHead({
      ...{ ...HEAD, decisions },
      applications: { moved: [one, current], replaced: [one], registered: current.application },
    });
    expect(ofOne).toContain(
      '**Reconnect the company that was connected with app-1 (production)** (1): 1 company (C-1)',
    );
    expect(ofOne).toContain('so the service can no longer refresh its tokens');
  });

  test.each([null, 'completed'] as const)(
    'says who needs the new secret, because only support can supply it after step 1 (ending: %s)',
    (ending) => {
      const head = reportHead({ ...HEAD, ending });
      expect(head).toContain('so give support the new secret before the old secret expires');
      expect(head).not.toMatch(/supply the new secret|ferry application/);
    },
  );

  test('asks for the new secret of an application that connections could use', () => {
    const [old, current] = ['app-1', 'app-2'].map((clientId) => ({ clientId, environment: 'production' }));
    const report = (crossingUnknown: number, mustReconnect = 0, registered = current!) =>
      reportHead({
        ...{ ...HEAD, ending: 'cancelled', figures: { ...HEAD.figures, crossingUnknown, mustReconnect } },
        applications: {
          moved: [{ application: old!, companies: 1, references: ['C-1'] }],
          ...{ replaced: [], registered },
        },
        decisions: [supplied('app-2')],
      });
    const point = 'app-2 (production) at QuickBooks Online, because it was shared for this migration.';
    expect(report(1)).toContain(
      `${point} A connection at the service could depend on it, so give support the new secret before the old secret expires.`,
    );
    expect(report(0)).toContain(`${point} No connection at the service uses it`);
    const willDepend =
      'Companies that reconnect with their links will depend on it, so give support the new secret before the old secret expires.';
    expect(report(0, 1)).toContain(`${point} ${willDepend}`);
    expect(report(0, 1, old)).toContain(`${point} No connection at the service uses it`);
    const notUsed = { ...HEAD.figures, crossed: 0, crossingUnknown: 0, mustReconnect: 1 };
    const head = { ...HEAD, ending: 'cancelled', figures: notUsed, decisions: [supplied('app-2')] } as const;
    expect(reportHead(head)).toContain(
      `**Rotate the secret of your application**: it was shared for this migration. ${willDepend}`,
    );
  });

  test('says that a secret was shared only if the client has supplied its application for this migration', () => {
    const moved = [
      { application: { clientId: 'found', environment: 'production' }, companies: 1, references: ['C-1'] },
    ];
    const head = { ...HEAD, ending: 'completed', applications: { moved, replaced: [], registered: null } } as const;
    const notSupplied = reportHead({ ...head, decisions: [] });
    expect(notSupplied).toContain(
      'found (production) at QuickBooks Online, if you gave it to support for this migration',
    );
    expect(notSupplied).not.toContain('shared');
    const another = reportHead({ ...head, decisions: [supplied('app-1')] });
    expect(another).toContain('found (production) at QuickBooks Online, if you gave it to support for this migration');
    expect(another).toContain('app-1 (production) at QuickBooks Online, because it was shared for this migration');
    expect(reportHead({ ...head, decisions: [supplied('found')] })).toContain(
      'found (production) at QuickBooks Online, because it was shared for this migration',
    );
    const unused = { ...HEAD.figures, crossed: 0, crossingUnknown: 0 };
    expect(reportHead({ ...head, figures: unused, decisions: [] })).toContain(
      '**Rotate the secret of your application**: this is necessary only if you gave it to support. ',
    );
  });

  test('of a migration that ended early, asks only for what the client has supplied', () => {
    const figures = { ...HEAD.figures, crossed: 0, crossingUnknown: 0, movable: 9, mustReconnect: 0 };
    const counts = { ...NO_COUNTS, total: 9, waiting: 9 };
    const early = { ...HEAD, ending: 'cancelled', counts, figures } as const;
    const nothing = reportHead(early);
    expect(nothing).not.toMatch(/rotate|delete your copies|to delete on your side|to remove on your side/i);
    expect(nothing).toContain('- **None**: no credential was supplied for this migration.');
    const withApplication = reportHead({ ...early, decisions: [supplied('app-1')] });
    expect(withApplication).toContain('**Rotate the secret of your application**');
    expect(withApplication).not.toContain('Delete your copies');
    const confirmed = recorded(
      { kind: 'sync-disabled', ...sender('3', 'client'), companies: 'all' },
      { applied: true, text: '' },
      '2026-11-20T22:03:00.000Z',
    );
    const exported = reportHead({ ...early, decisions: [confirmed] });
    expect(exported).toContain('Delete your copies of the credentials');
    expect(exported).not.toMatch(/rotate/i);
  });

  test('in self-service, asks for a new secret only if the old secret was possibly shared', () => {
    const moved = [
      { application: { clientId: 'found', environment: 'production' }, companies: 1, references: ['C-1'] },
    ];
    const selfService = (platformKey: string, changes: Partial<ReportHead> = {}) =>
      reportHead({
        ...{ ...HEAD, route: 'self-service', ending: 'completed', platformKey },
        applications: { moved, replaced: [], registered: null },
        ...changes,
      });
    // Square tokens are never refreshed, so the migration needs no application.
    expect(selfService('zsth')).not.toContain('To rotate on your side');
    expect(selfService('gbol')).toContain(
      'the secret of your application found (production) at Xero, if you gave it to support for this',
    );
    expect(selfService('gbol')).toContain(
      '**Rotate the secret of your application**: this is necessary only if you gave it to support. If you rotate it, give support the new secret before the old secret expires.',
    );
    expect(selfService('gbol', { decisions: [supplied('app-1')] })).toContain(
      'app-1 (production) at Xero, because it was shared',
    );
    const none = selfService('gbol', { applications: { moved: [], replaced: [], registered: null } });
    expect(none).not.toMatch(/rotate/i);
    expect(selfService('gbol')).not.toContain('ferry application');
  });
});
