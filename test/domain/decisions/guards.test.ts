import type { Counts } from '../../../domain/companies/counts';
import { digestOf, approversDeadlock } from '../../../domain/decisions/guards';
import type { MigrationState } from '../../../domain/migration/migration-state';
import type { Step } from '../../../domain/migration/steps';
import {
  answerTo,
  approve,
  AT,
  counts,
  decideAll,
  decideOne,
  firstCompany,
  LATER,
  preflight,
  proposeTime,
  reject,
  START_AT,
  stateAt,
  type DecisionDraft,
} from '../../support/migrations/migration-states';

const RULES = { requireDigest: false, fourEyes: false, approvers: null };
const digestAt = (state: MigrationState, step: Step): string =>
  digestOf(step, { ...state, windows: state.limits.windows, revisions: state.revisions ?? {} });
const answer = (state: MigrationState, draft: DecisionDraft, rules: Partial<typeof RULES> = {}): string =>
  answerTo(state, draft, { ...RULES, ...rules });

const proposed = stateAt('schedule', { proposal: { startAt: START_AT, role: 'support', by: 'Pia', at: AT } });
const CHANGED = 'what you reviewed has changed; review it again before you decide';

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
      'another first company',
      { firstCompany: firstCompany() },
      { firstCompany: firstCompany({ reference: 'acme-2' }) },
    ],
    [
      'complete-migration',
      'other companies that were not moved',
      { counts: counts({ total: 2, failed: 1, moved: 1, exceptionsDigest: 'e-1' }) },
      { counts: counts({ total: 2, failed: 1, moved: 1, exceptionsDigest: 'e-2' }) },
    ],
  ])('of %s is accepted, but refused after a change: %s', (step, _, initial, changed) => {
    const seen = stateAt(step, initial);
    const role = step === 'schedule' ? 'client' : 'support';
    const approval = { ...approve(step, role), digest: digestAt(seen, step) };
    expect(answer(seen, approval)).toBe('applied');
    expect(answer({ ...seen, ...changed }, approval)).toBe(CHANGED);
  });

  test('of the handover is accepted from a version that does not count relinked companies, and the other way round', () => {
    const count = (changes: Partial<Counts>) =>
      stateAt('complete-migration', { counts: counts({ total: 2, failed: 1, moved: 1, ...changes }) });
    const [before, after] = [count({}), count({ relinked: 1 })];
    const approval = (seen: MigrationState) => ({
      ...approve('complete-migration', 'support'),
      digest: digestAt(seen, 'complete-migration'),
    });
    expect(answer(after, approval(before))).toBe('applied');
    expect(answer(before, approval(after))).toBe('applied');
  });

  const handover = stateAt('complete-migration', { counts: counts({ total: 1, moved: 1 }) });
  const verified = stateAt('migrate-first-company', { firstCompany: firstCompany() });
  const retried = reject('migrate-first-company', 'support', {
    afterwards: { next: 'same-company', reference: firstCompany().reference },
  });
  const adjusted: DecisionDraft = { kind: 'adjust', role: 'support', limits: { companiesPerMinute: 1_000 } };
  const amended: DecisionDraft = { kind: 'manifest-amended', role: 'client', added: 1, corrected: 0 };
  test.each<[Step, string, MigrationState, DecisionDraft, Partial<MigrationState>]>([
    ['complete-migration', 'a rejected handover', handover, reject('complete-migration', 'support'), {}],
    [
      'supply-details',
      'a rejection after which the check finds the same',
      stateAt('supply-details', { preflight: preflight() }),
      reject('supply-details', 'client'),
      { preflight: preflight() },
    ],
    ['schedule', 'a change of the limits', proposed, adjusted, {}],
    ['schedule', 'other companies', proposed, amended, {}],
    [
      'update-application',
      'a reopened step 3',
      stateAt('update-application', { preflight: preflight() }),
      reject('update-application', 'client'),
      {},
    ],
    [
      'migrate-first-company',
      'a rejected attempt with the same result',
      verified,
      retried,
      { firstCompany: firstCompany() },
    ],
    ['migrate-first-company', 'a change of the limits', verified, adjusted, {}],
    [
      'complete-migration',
      'companies that failed again in the same way',
      stateAt('complete-migration', { counts: counts({ total: 2, moved: 1, failed: 1 }) }),
      { kind: 'retry', role: 'support', companies: 'all' },
      { unrecorded: [] },
    ],
  ])('of %s is no longer accepted after %s, although everything looks as before', (step, _, seen, between, again) => {
    const role = step === 'schedule' ? 'client' : 'support';
    const approval = (state: MigrationState) => ({ ...approve(step, role), digest: digestAt(state, step) });
    expect(answer(seen, approval(seen))).toBe('applied');
    const { state, outcome } = decideOne(seen, between);
    expect(outcome.applied).toBe(true);
    const after = { ...state, ...again };
    expect(answer(after, approval(seen))).toBe(CHANGED);
    expect(answer(after, approval(after))).toBe('applied');
  });

  test('from an earlier version, without revisions, is accepted', () => {
    const { revisions: _, ...withoutRevisions } = { ...handover, windows: handover.limits.windows };
    const digest = digestOf('complete-migration', withoutRevisions);
    expect(answer(handover, { ...approve('complete-migration', 'support'), digest })).toBe('applied');
  });

  test('does not depend on the order of fields', () => {
    const state = stateAt('complete-migration');
    const reversed = Object.fromEntries(Object.entries(state.counts).reverse()) as unknown as MigrationState['counts'];
    expect(digestAt({ ...state, counts: reversed }, 'complete-migration')).toBe(digestAt(state, 'complete-migration'));
  });

  test('of the manifest guards a confirmation of all companies, but not of listed companies', () => {
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

  test('is required for approvals and confirmations of all companies if the plan says so', () => {
    const required = { requireDigest: true };
    expect(answer(proposed, approve('schedule', 'client'), required)).toContain('requires the digest');
    expect(answer(proposed, approve('schedule', 'client'))).toBe('applied');
    expect(answer(proposed, reject('schedule', 'client'), required)).toBe('applied');
    const state = stateAt('disable-syncing');
    const confirm = (companies: 'all' | readonly string[]) =>
      answer(state, { kind: 'sync-disabled', role: 'client', companies }, required);
    expect(confirm('all')).toContain('requires the digest');
    expect(confirm(['acme-1'])).toBe('applied');
  });
});

describe('the four-eyes rule', () => {
  const fourEyes = { fourEyes: true };
  const by = (name: string, draft: DecisionDraft): DecisionDraft => ({ ...draft, by: name });

  test('prevents the proposer of a start time from approving it', () => {
    expect(answer(proposed, by('pia ', approve('schedule', 'client')), fourEyes)).toContain(
      'proposed this time; someone else must approve it',
    );
    expect(answer(proposed, by('Cleo', approve('schedule', 'client')), fourEyes)).toBe('applied');
    expect(answer(proposed, by('Pia', approve('schedule', 'client')))).toBe('applied');
  });

  test('prevents a person who supplied or corrected details from accepting them', () => {
    const state = stateAt('supply-details');
    const accept = approve('supply-details', 'support');
    expect(answer(state, by('Mia', accept), fourEyes)).toContain(
      'has supplied or corrected details of this migration; someone else must approve them',
    );
    const corrected: MigrationState = {
      ...decideAll(state, by('Kim', { kind: 'manifest-amended', role: 'client', added: 1, corrected: 0 })),
      preflight: preflight(),
    };
    expect(answer(corrected, by('Kim', accept), fourEyes)).toContain(
      'has supplied or corrected details of this migration; someone else must approve them',
    );
    expect(answer(corrected, by('Sam', accept), fourEyes)).toBe('applied');
  });

  test('prevents a person from approving in both roles', () => {
    const signed = decideAll(stateAt('update-application'), by('Ann', approve('update-application', 'client')));
    expect(answer(signed, by('ann', approve('update-application', 'support')), fourEyes)).toContain(
      'has already approved step 3 (update the application) as client; someone else must approve as support',
    );
    expect(answer(signed, by('Ann', approve('update-application', 'support')))).toBe('applied');
    // The rule also applies across steps, because no person can act for both the client and support.
    const verified: MigrationState = {
      ...stateAt('migrate-first-company', { firstCompany: firstCompany() }),
      approvals: signed.approvals,
    };
    const approval = approve('migrate-first-company', 'support');
    expect(answer(verified, by('Ann', approval), fourEyes)).toContain(
      'already approved step 3 (update the application) as client',
    );
    expect(answer(verified, by('Sam', approval), fourEyes)).toBe('applied');
  });

  test.each<[string, readonly (readonly ['support' | 'client', string])[], string | null]>([
    [
      'two approvers',
      [
        ['support', 'Sam'],
        ['client', 'Cleo'],
      ],
      'a start time needs three approvers',
    ],
    [
      'one person in both roles',
      [
        ['support', 'Sam'],
        ['client', 'sam '],
        ['client', 'Cleo'],
      ],
      'needs three approvers',
    ],
    [
      'only the supplier for support',
      [
        ['support', 'Mia'],
        ['client', 'Cleo'],
        ['client', 'Carl'],
      ],
      'no other approver is for support',
    ],
    [
      'only approvers of support, because support adds those of the client later',
      [
        ['support', 'Mia'],
        ['support', 'Kim'],
      ],
      null,
    ],
    [
      'enough approvers',
      [
        ['support', 'Sam'],
        ['support', 'Kim'],
        ['client', 'Cleo'],
      ],
      null,
    ],
  ])('with %s, a migration can pass its first two steps, or says why not', (_, people, expected) => {
    const approvers = people.map(([role, name]) => ({ role, by: name, publicKey: '' }));
    const deadlock = approversDeadlock({ ...RULES, fourEyes: true, approvers }, 'Mia');
    if (expected === null) expect(deadlock).toBeNull();
    else expect(deadlock).toContain(expected);
    expect(approversDeadlock({ ...RULES, approvers }, 'Mia')).toBeNull();
  });

  test('approvers without an approver of support are a deadlock, even without the four-eyes rule', () => {
    const approvers = [{ role: 'client', by: 'Cleo', publicKey: '' }] as const;
    expect(approversDeadlock({ ...RULES, approvers }, 'Mia')).toContain('at least one approver must be for support');
  });

  test('does not apply to rejections', () => {
    expect(answer(proposed, by('Pia', reject('schedule', 'support')), fourEyes)).toBe('applied');
  });
});

test('a decision or proposal is refused after its validUntil', () => {
  const valid = (validUntil: string) => answer(proposed, { ...approve('schedule', 'client'), validUntil });
  expect(valid(LATER)).toBe('applied');
  expect(valid(AT)).toBe('this decision expired at 2026-03-02 09:00 UTC, before a worker could apply it');
  expect(answer(proposed, { ...proposeTime('client'), validUntil: AT })).toContain('before a worker could apply it');
});
