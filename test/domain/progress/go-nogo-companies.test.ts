/** Tests the answers of go-nogo about the companies that move next. */
import { goNoGo } from '../../../domain/progress/go-nogo';
import type { NextCompanies } from '../../../domain/progress/go-nogo-facts';
import { counts, stateAt } from '../../support/migrations/migration-states';
import { facts, MOVING, noGos, whyOf } from './go-nogo-sample';

test('a company that was chosen to go first, but cannot be moved, is a no-go', () => {
  const chosen = (notReady: string | null) => facts({ chosenFirst: { reference: 'C-7', notReady } });
  expect(noGos(chosen(null))).toEqual([]);
  const notReady = chosen('no credential supplied');
  expect(noGos(notReady)).toEqual(['first-company']);
  expect(goNoGo(notReady).answers.find(({ check }) => check === 'first-company')?.why).toBe(
    'C-7 was chosen to go first, but cannot be moved: no credential supplied',
  );
});

test('a chosen first company that is tried again can be moved, although no other company can be moved', () => {
  const none = { ...facts().next, wave: null, companies: 0, oldestCredentialAt: null };
  const chosen = (next: NextCompanies, notReady: string | null = null) =>
    facts(
      { next, chosenFirst: { reference: 'C-1', notReady } },
      stateAt('migrate-first-company', { counts: counts({ total: 3, failed: 1, excluded: 2 }) }),
    );
  expect(noGos(chosen(none))).not.toContain('companies');
  expect(whyOf(chosen(none), 'companies')).toBe('C-1 can go first; no other company can be moved');
  expect(noGos(chosen(none, 'it was left out'))).toContain('companies');
  expect(whyOf(chosen(none, 'it was left out'), 'companies')).toBe('no company can be moved');
  const unconfirmed = chosen({ ...none, companies: 2, unconfirmed: 2 });
  expect(noGos(unconfirmed)).not.toContain('companies');
  expect(whyOf(unconfirmed, 'companies')).toBe('C-1 can go first; no other company can be moved yet (2 not confirmed)');
});

test('companies of earlier waves that cannot be moved are named, but do not hold up the next wave', () => {
  const next = { ...facts().next, leftBehind: 1, firstLeftBehind: ['C-7'] };
  const given = facts({ next });
  expect(noGos(given)).toEqual([]);
  expect(goNoGo(given).answers.find(({ check }) => check === 'companies')?.why).toBe(
    '9 companies of wave 2 can be moved, 1 company (C-7) of earlier waves cannot be moved yet',
  );
  // Companies without a wave move last.
  const unconfirmed = { ...MOVING, counts: { ...MOVING.counts, unconfirmed: 1 } };
  expect(whyOf(facts({ next: { ...next, wave: null } }, unconfirmed), 'sync-disabled')).toBe(
    'the client has confirmed that syncing is off for every company without a wave',
  );
  expect(whyOf(facts({ next }, unconfirmed), 'sync-disabled')).toBe(
    'the client has confirmed that syncing is off for every company of wave 2',
  );
  expect(whyOf(facts(), 'sync-disabled')).toBe('the client has confirmed that syncing is off for every company');
  expect(whyOf(facts({ next: { ...facts().next, wave: null } }), 'sync-disabled')).toBe(
    'the client has confirmed that syncing is off for every company',
  );
});

test('companies without a usable credential are named', () => {
  const next = { ...facts().next, withoutCredential: 3, firstWithoutCredential: ['C-1', 'C-2'] };
  expect(goNoGo(facts({ next })).answers.find(({ check }) => check === 'credentials')?.why).toBe(
    'a usable credential is missing for 3 confirmed companies (C-1, C-2 and 1 more) of wave 2',
  );
});

test('credentials are a no-go while no company is confirmed, and the companies say what is missing', () => {
  const next = { ...facts().next, wave: null, companies: 60, unconfirmed: 60, oldestCredentialAt: null };
  expect(noGos(facts({ next }))).toEqual(['sync-disabled', 'credentials', 'companies']);
  expect(whyOf(facts({ next }), 'credentials')).toBe(
    'a credential cannot be used before its company is confirmed, and 60 companies are not confirmed yet',
  );
  expect(whyOf(facts({ next }), 'companies')).toBe('no company can be moved yet (60 not confirmed)');
  const confirmed = { ...next, unconfirmed: 57, withoutCredential: 3 };
  expect(whyOf(facts({ next: confirmed }), 'companies')).toBe(
    'no company can be moved yet (57 not confirmed, 3 without a usable credential)',
  );
});
