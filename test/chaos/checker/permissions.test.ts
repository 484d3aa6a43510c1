import type { RowFacts, Send } from '../../../chaos/checker/facts';
import type { LedgerMigration, TrailContent, TrailEntry } from '../../../chaos/checker/ledger';
import { checkPermissions } from '../../../chaos/checker/permissions';

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const UNTIL_TEN = [{ days: DAYS, from: '09:00', to: '10:00', timeZone: 'UTC' }];
const UNTIL_ELEVEN = [{ days: DAYS, from: '09:00', to: '11:00', timeZone: 'UTC' }];
const at = (clock: string): Date => new Date(`2026-03-02T${clock}Z`);

const MIGRATION: LedgerMigration = {
  ...{ id: 'acme.freshbooks', route: 'managed', platformKey: 'vxvy', state: 'open', ending: null, windows: [] },
};

const decided = (time: string, role: string, content: TrailContent, recorded = time): TrailEntry => ({
  ...{ migration: MIGRATION.id, decisionId: `${time} ${role}`, role, applied: true, content },
  ...{ at: at(time), recordedAt: at(recorded) },
});
const approve = (time: string, step: string, role: string) =>
  decided(time, role, { kind: 'step', verdict: 'approve', step });
const APPROVALS = [
  approve('08:00:00', 'supply-details', 'support'),
  approve('08:00:01', 'schedule', 'support'),
  approve('08:00:02', 'schedule', 'client'),
  approve('08:00:03', 'update-application', 'client'),
  approve('08:00:04', 'update-application', 'support'),
  decided('08:00:05', 'client', { kind: 'sync-disabled', companies: ['R-1'] }),
  approve('08:00:06', 'migrate-first-company', 'support'),
];

const sentAt = (time: string, changes: Partial<Send> = {}): Send => ({
  ...{ at: at(time).getTime(), connectionId: 'c-1', body: 'b-1', forwarded: true, delivered: true, status: 200 },
  ...changes,
});

const rowOf = (sends: readonly Send[], changes: Partial<RowFacts['row']> = {}): RowFacts => ({
  row: {
    ...{ migration: MIGRATION.id, row: 1, reference: 'R-1', platformKey: 'vxvy', organization: 'o-1' },
    ...{ state: 'moved', failure: null, expectedInvoices: 2, confirmedAt: null, companyId: 'k-1', connectionId: 'c-1' },
    ...{ claimedAt: null, sentAt: null, sentAgain: false, crossedAt: null, existedBefore: false },
    ...changes,
  },
  ...{ migration: MIGRATION, companies: [], connections: [], own: undefined, tokens: [], platformTokens: [], sends },
});

function namedIn(row: RowFacts, decisions: readonly TrailEntry[] = [], windows = UNTIL_TEN): readonly string[] {
  const ledger = { migrations: new Map([[MIGRATION.id, MIGRATION]]), rows: [], trail: [...APPROVALS, ...decisions] };
  const evidence = { windows: [{ migration: MIGRATION.id, windows }] };
  return checkPermissions([row], ledger, evidence).violations.map(({ invariant }) => invariant);
}

it('accepts a token that was in flight when the window closed, and names a later token', () => {
  expect(namedIn(rowOf([sentAt('10:01:00')]))).toEqual([]);
  expect(namedIn(rowOf([sentAt('10:03:00')]))).toEqual(['window']);
  expect(namedIn(rowOf([sentAt('08:59:59')]))).toEqual(['window']);
});

it('accepts a repetition at any time if the answer was lost, but not if it was known', () => {
  const later = sentAt('10:30:00');
  expect(namedIn(rowOf([sentAt('09:59:00', { delivered: false }), later]))).toEqual([]);
  expect(namedIn(rowOf([sentAt('09:59:00', { status: 502 }), later]))).toEqual([]);
  expect(namedIn(rowOf([sentAt('09:59:00'), later]))).toEqual(['window']);
  expect(namedIn(rowOf([sentAt('09:59:00', { delivered: false }), { ...later, connectionId: 'c-2' }]))).toEqual([
    'window',
  ]);
});

it('names a claim outside the windows, even if its token could still have been in flight', () => {
  const claimed = { claimedAt: at('10:00:10'), sentAt: at('10:00:11') };
  expect(namedIn(rowOf([sentAt('10:00:11')], claimed))).toEqual(['window']);
  expect(namedIn(rowOf([sentAt('10:00:11')], { ...claimed, claimedAt: at('09:59:59') }))).toEqual([]);
});

it('ignores the time at which another attempt took over a row', () => {
  const sends = [sentAt('09:59:59')];
  expect(namedIn(rowOf(sends, { claimedAt: at('10:02:30'), sentAt: at('09:59:59') }))).toEqual([]);
  const again = { claimedAt: at('10:02:30'), sentAt: at('10:02:31'), sentAgain: true };
  expect(namedIn(rowOf(sends, again))).toEqual([]);
});

it('accepts a claim under the old windows until the ledger has recorded the new windows', () => {
  const shorter = decided('09:30:00', 'support', { kind: 'adjust', limits: { windows: UNTIL_TEN } }, '10:30:00');
  const claimed = rowOf([sentAt('10:01:00')], { claimedAt: at('10:00:30'), sentAt: at('10:01:00') });
  expect(namedIn(claimed, [shorter], UNTIL_ELEVEN)).toEqual([]);
  const recordedAtOnce = { ...shorter, recordedAt: shorter.at };
  expect(namedIn(claimed, [recordedAtOnce], UNTIL_ELEVEN)).toEqual(['window']);
});

it('names a company that the client has not confirmed, and a company whose confirmation support has rejected', () => {
  expect(namedIn(rowOf([sentAt('09:30:00')], { reference: 'R-2' }))).toEqual(['confirmation']);
  const rejected = decided('08:00:07', 'support', { kind: 'step', verdict: 'reject', step: 'disable-syncing' });
  const approvedAgain = approve('08:00:08', 'migrate-first-company', 'support');
  expect(namedIn(rowOf([sentAt('09:30:00')]), [rejected, approvedAgain])).toEqual(['confirmation']);
});

it('names a token that was sent after the migration was cancelled', () => {
  const cancelled = decided('09:10:00', 'support', { kind: 'cancel' });
  expect(namedIn(rowOf([sentAt('09:20:00')]), [cancelled])).toEqual(['release']);
  expect(namedIn(rowOf([sentAt('09:09:00')]), [cancelled])).toEqual([]);
});
