/** What speaks against decisions that could be applied otherwise. */
import { digestOf } from '../../../domain/decisions/digests';
import type { MigrationState } from '../../../domain/migration/migration-state';
import type { Step } from '../../../domain/migration/steps';
import type { Undecided } from '../../support/migration-states';
import {
  approve,
  AT,
  counts,
  decided,
  deciding,
  firstCompany,
  LATER,
  preflight,
  proposeTime,
  reject,
} from '../../support/migration-states';
import { START_AT, stateAt } from '../../support/migration-states';

const RULES = { digestObligatory: false, fourEyes: false, approvers: null };
const digestAt = (state: MigrationState, step: Step): string =>
  digestOf(step, { ...state, windows: state.limits.windows });
const answer = (state: MigrationState, undecided: Undecided, rules: Partial<typeof RULES> = {}): string => {
  const { outcome } = deciding(state, undecided, { ...RULES, ...rules });
  return outcome.applied ? 'applied' : outcome.text;
};

const proposed = stateAt('schedule', { proposal: { startAt: START_AT, role: 'support', by: 'Pia', at: AT } });
const CHANGED = 'what it is about has changed since it was seen: look again, and decide anew';

describe('a digest', () => {
  const WINDOW = { days: ['mon'], from: '22:00', to: '05:00', timeZone: 'Europe/London' } as const;
  test.each<[Step, string, Partial<MigrationState>, Partial<MigrationState>]>([
    ['supply-details', 'other rows', {}, { preflight: preflight({ manifestDigest: 'm-2' }) }],
    [
      'schedule',
      'another proposal',
      { proposal: { startAt: START_AT, role: 'support', by: 'Pia', at: AT } },
      { proposal: { startAt: START_AT, role: 'support', by: 'Pia', at: LATER } },
    ],
    [
      'schedule',
      'other windows',
      { proposal: { startAt: START_AT, role: 'support', by: 'Pia', at: AT } },
      { limits: { ...stateAt('schedule').limits, windows: [WINDOW] } },
    ],
    [
      'update-application',
      'another callback URL',
      {},
      { preflight: preflight({ callbackUrl: 'https://other.example' }) },
    ],
    [
      'migrate-first-company',
      'other evidence',
      { firstCompany: firstCompany() },
      { firstCompany: firstCompany({ reference: 'acme-2' }) },
    ],
    [
      'complete-migration',
      'other companies that were not moved',
      { counts: counts({ total: 2, failed: 1, migrated: 1, exceptionsDigest: 'e-1' }) },
      { counts: counts({ total: 2, failed: 1, migrated: 1, exceptionsDigest: 'e-2' }) },
    ],
  ])('of %s: an approval of what was seen counts, and after %s it does not', (step, _, as, changed) => {
    const seen = stateAt(step, as);
    const role = step === 'schedule' ? 'client' : 'support';
    const approval = { ...approve(step, role), digest: digestAt(seen, step) };
    expect(answer(seen, approval)).toBe('applied');
    expect(answer({ ...seen, ...changed }, approval)).toBe(CHANGED);
  });

  test('does not depend on the order in which fields were put together', () => {
    const state = stateAt('complete-migration');
    const reversed = Object.fromEntries(Object.entries(state.counts).reverse()) as unknown as MigrationState['counts'];
    expect(digestAt({ ...state, counts: reversed }, 'complete-migration')).toBe(digestAt(state, 'complete-migration'));
  });

  test('of the manifest binds a confirmation of all companies, not one that names them', () => {
    const state = stateAt('disable-syncing');
    const all = {
      kind: 'sync-disabled',
      role: 'client',
      companies: 'all',
      digest: digestAt(state, 'disable-syncing'),
    } as const;
    const amended = { ...state, preflight: preflight({ manifestDigest: 'm-2' }) };
    expect(answer(state, all)).toBe('applied');
    expect(answer(amended, all)).toBe(CHANGED);
    expect(answer(amended, { ...all, companies: ['acme-1'] })).toBe('applied');
  });

  test('is asked for where the plan says so, of approvals and of confirmations of all', () => {
    const obligatory = { digestObligatory: true };
    expect(answer(proposed, approve('schedule', 'client'), obligatory)).toContain('carries the digest');
    expect(answer(proposed, approve('schedule', 'client'))).toBe('applied');
    expect(answer(proposed, reject('schedule', 'client'), obligatory)).toBe('applied');
    const state = stateAt('disable-syncing');
    const confirm = (companies: 'all' | readonly string[]) =>
      answer(state, { kind: 'sync-disabled', role: 'client', companies }, obligatory);
    expect(confirm('all')).toContain('carries the digest');
    expect(confirm(['acme-1'])).toBe('applied');
  });
});

describe('four eyes', () => {
  const fourEyes = { fourEyes: true };
  const by = (name: string, undecided: Undecided): Undecided => ({ ...undecided, by: name });

  test('who has proposed a time does not approve it, in whatever role', () => {
    expect(answer(proposed, by('pia ', approve('schedule', 'client')), fourEyes)).toContain('has proposed this time');
    expect(answer(proposed, by('Cleo', approve('schedule', 'client')), fourEyes)).toBe('applied');
    expect(answer(proposed, by('Pia', approve('schedule', 'client')))).toBe('applied');
  });

  test('who has supplied or corrected details does not accept them', () => {
    const state = stateAt('supply-details');
    const accept = approve('supply-details', 'support');
    expect(answer(state, by('Mia', accept), fourEyes)).toContain('has supplied these details');
    const corrected: MigrationState = {
      ...decided(state, by('Kim', { kind: 'manifest-amended', role: 'client', added: 1, corrected: 0 })),
      preflight: preflight(),
    };
    expect(answer(corrected, by('Kim', accept), fourEyes)).toContain('has supplied these details');
    expect(answer(corrected, by('Sam', accept), fourEyes)).toBe('applied');
  });

  test('one person does not sign in both roles', () => {
    const signed = decided(stateAt('update-application'), by('Ann', approve('update-application', 'client')));
    expect(answer(signed, by('ann', approve('update-application', 'support')), fourEyes)).toContain(
      'in the other role',
    );
    expect(answer(signed, by('Ann', approve('update-application', 'support')))).toBe('applied');
    // Nor in another step: whoever speaks for the client does not speak for the provider.
    const proven: MigrationState = {
      ...stateAt('migrate-first-company', { firstCompany: firstCompany() }),
      approvals: signed.approvals,
    };
    const approval = approve('migrate-first-company', 'support');
    expect(answer(proven, by('Ann', approval), fourEyes)).toContain('update-application in the other role already');
    expect(answer(proven, by('Sam', approval), fourEyes)).toBe('applied');
  });

  test('does not keep anybody from rejecting', () => {
    expect(answer(proposed, by('Pia', reject('schedule', 'support')), fourEyes)).toBe('applied');
  });
});

test('a decision that was valid until a time is refused after it, and proposals come too late as well', () => {
  const valid = (validUntil: string) => answer(proposed, { ...approve('schedule', 'client'), validUntil });
  expect(valid(LATER)).toBe('applied');
  expect(valid(AT)).toBe('it was valid until 2026-03-02 09:00 UTC and could not be applied before');
  expect(answer(proposed, { ...proposeTime('client'), validUntil: AT })).toContain('could not be applied before');
});
