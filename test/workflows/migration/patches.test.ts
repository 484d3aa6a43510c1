/** Which changes of this version apply to a migration, and which marker its history needs for them. */
import * as workflow from '@temporalio/workflow/lib/workflow';
import type { Counts } from '../../../domain/companies/counts';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { waitingForOf } from '../../../domain/progress/waiting-for';
import { continuedState, withPatches } from '../../../workflows/migration/patches';
import { counts, decideAll, firstCompany, stateAt } from '../../support/migrations/migration-states';

let markers: readonly string[] = [];
const asked: string[] = [];
jest.spyOn(workflow, 'patched').mockImplementation((id) => {
  asked.push(id);
  return markers.includes(id);
});

const DEFERRED: Partial<Counts> = { total: 8, moved: 4, failed: 3, mustReconnect: 1, waiting: 1, deferred: 1 };

/** Returns what a migration waits for, and the ids passed to `patched`, if the history has only the `known` markers. */
function patchedWith(known: readonly string[], some: Partial<Counts>, changes: Partial<MigrationState> = {}) {
  markers = known;
  asked.length = 0;
  const state = withPatches(stateAt('complete-migration', { relinking: 3, counts: counts(some), ...changes }));
  return { what: waitingForOf(state).what, asked: [...asked] };
}

const NEXT_TRY = 'the remaining company is waiting for its next try';

test('the count of relinked companies is used only if the history has its marker', () => {
  const relinked = { ...DEFERRED, relinked: 3 };
  // A new worker has counted the companies, but an old worker has run the workflow. The old worker assumed that 1 of
  // the 3 failed companies was relinked, asked about the other 2, and recorded the marker `ask-while-deferred`.
  expect(patchedWith(['ask-while-deferred'], relinked)).toEqual({
    what: 'decide what to do about 2 companies that were not moved',
    asked: ['count-relinked', 'ask-while-deferred'],
  });
  expect(patchedWith(['count-relinked', 'ask-while-deferred'], relinked)).toEqual({
    what: NEXT_TRY,
    asked: ['count-relinked'],
  });
});

test('a rejected application can be replaced before the first company only if the history has its marker', () => {
  const pause = { reason: '', by: null, stopReason: 'application-refused', at: '2026-03-02T09:00:00.000Z' } as const;
  const replaces = (changes: Partial<MigrationState>) =>
    withPatches(stateAt('migrate-first-company', { pause, ...changes })).replacesRejected;
  markers = ['replace-rejected-application'];
  expect(replaces({})).toBe(true);
  expect(continuedState(stateAt('migrate-first-company', { replacesRejected: true }))).not.toHaveProperty(
    'replacesRejected',
  );
  // Every version accepts another application once the first company has begun to move, so no marker is needed.
  asked.length = 0;
  expect(replaces({ firstCompany: firstCompany() })).toBeUndefined();
  expect(replaces({ pause: { ...pause, stopReason: 'account-limit' } })).toBeUndefined();
  expect(asked).toEqual([]);
  markers = [];
  expect(replaces({})).toBeUndefined();
  expect(asked).toEqual(['replace-rejected-application']);
});

test('the count of relinked companies needs no marker while it changes nothing', () => {
  expect(patchedWith([], { ...DEFERRED, mustReconnect: 3, relinked: 3 })).toEqual({ what: NEXT_TRY, asked: [] });
  const ended = { closed: 'cancelled' } as const;
  expect(patchedWith([], { ...DEFERRED, relinked: 3 }, ended).asked).toEqual([]);
});

test('the wait of a self-service migration goes on while decisions are recorded only if the history has its marker', () => {
  const wait = { key: 'k', since: 's', reminders: 0, escalated: false, stopNotified: false };
  const { unrecorded } = decideAll(stateAt('complete-migration'), { kind: 'resume', role: 'client' });
  const keeps = (changes: Partial<MigrationState>) =>
    withPatches(stateAt('complete-migration', { route: 'self-service', wait, unrecorded, ...changes })).keepsWait;
  markers = ['keep-wait'];
  expect(keeps({})).toBe(true);
  expect(continuedState(stateAt('complete-migration', { keepsWait: true }))).not.toHaveProperty('keepsWait');
  asked.length = 0;
  for (const changes of [{ wait: null }, { unrecorded: [] }, { route: 'managed' }, { closed: 'cancelled' }] as const)
    expect(keeps(changes)).toBeUndefined();
  expect(asked).toEqual([]);
  markers = [];
  expect(keeps({})).toBeUndefined();
  expect(asked).toEqual(['keep-wait']);
});
