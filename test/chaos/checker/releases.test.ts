import type { LedgerMigration, TrailContent, TrailEntry } from '../../../chaos/checker/ledger';
import { releasesOf } from '../../../chaos/checker/releases';

const MANAGED: LedgerMigration = {
  ...{ id: 'acme.freshbooks', route: 'managed', platformKey: 'vxvy', state: 'open', ending: null, windows: [] },
};

const decided = (role: string, content: TrailContent): Omit<TrailEntry, 'at' | 'recordedAt'> => ({
  ...{ migration: MANAGED.id, decisionId: 'any', role, applied: true, content },
});
const approve = (step: string, role: string) => decided(role, { kind: 'step', verdict: 'approve', step });
const reject = (step: string) => decided('support', { kind: 'step', verdict: 'reject', step });
const other = (kind: string) => decided('support', { kind });

const TO_FIRST = [
  approve('supply-details', 'support'),
  approve('schedule', 'support'),
  approve('schedule', 'client'),
  approve('update-application', 'client'),
  approve('update-application', 'support'),
];
const TO_ALL = [...TO_FIRST, approve('migrate-first-company', 'support')];

it.each([
  ['nothing before any decision', [], 'nothing'],
  ['nothing while one side has not approved', TO_FIRST.slice(0, 4), 'nothing'],
  ['the first company after the approvals of three steps', TO_FIRST, 'first-company'],
  ['all companies after the approval of the first one', TO_ALL, 'all'],
  ['only the first company after its rejection', [...TO_ALL, reject('migrate-first-company')], 'first-company'],
  ['nothing after a new start time', [...TO_ALL, other('time')], 'nothing'],
  [
    'the first company when both sides have approved the new start time',
    [...TO_ALL, other('time'), approve('schedule', 'support'), approve('schedule', 'client')],
    'first-company',
  ],
  ['all companies after a rejection of the handover', [...TO_ALL, reject('complete-migration')], 'all'],
  ['nothing after a cancellation, whatever follows', [...TO_ALL, other('cancel'), ...TO_ALL], 'nothing'],
] as const)('releases %s', (_, decisions, released) => {
  const trail = decisions.map((decision, index) => ({ ...decision, at: new Date(index), recordedAt: new Date(index) }));
  expect(releasesOf(MANAGED, trail).timeline.at(-1)?.value).toBe(released);
});

it('releases all companies of the self-service route from the start', () => {
  expect(releasesOf({ ...MANAGED, route: 'self-service' }, []).timeline).toEqual([{ at: -Infinity, value: 'all' }]);
});

it('counts the decisions that let another company go first', () => {
  const decisions = [...TO_FIRST, reject('migrate-first-company'), other('first-company'), other('adjust')];
  const trail = decisions.map((decision, index) => ({ ...decision, at: new Date(index), recordedAt: new Date(index) }));
  expect(releasesOf(MANAGED, trail).firstCompanies).toBe(3);
});
