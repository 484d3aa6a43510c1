import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { goNoGo } from '../../../domain/progress/go-nogo';
import type { GoNoGoFacts } from '../../../domain/progress/go-nogo-facts';
import { AT, counts, stateAt } from '../../support/migrations/migration-states';
import { facts, FORECAST, MOVING, noGos, warned, whyOf } from './go-nogo-sample';

test('the notes give the end and the time without current data according to the forecast, if there is one', () => {
  expect(goNoGo(facts()).notes.slice(-2)).toEqual([
    'the last company is expected to be moved by 2026-03-10 03:00 UTC at the latest',
    'until then, the data of a company can be out of date for up to 5 hours',
  ]);
  const proposal = { startAt: '2026-03-09T22:00:00.000Z', role: 'support', by: 'Sam', at: AT } as const;
  const unconfirmed = counts({ total: 9, waiting: 9, unconfirmed: 9 });
  const before = stateAt('disable-syncing', { proposal, counts: unconfirmed });
  expect(goNoGo(facts({}, before)).notes.at(-1)).toBe(
    'until then, the data of a company can be out of date for up to 5 hours after the start',
  );
  // The client has confirmed the companies since the workflow last counted them.
  const live = { counts: counts({ total: 9, waiting: 9, unconfirmed: 0 }) };
  expect(goNoGo(facts({ live }, before)).notes.at(-1)).toBe(
    'until then, the data of a company can be out of date for up to 5 hours',
  );
  const some = { ...FORECAST, companies: 4, isComplete: false };
  expect(goNoGo(facts({ forecast: some })).notes.at(-2)).toBe(
    'the last of 4 companies that are moving or can be moved is expected to be moved by 2026-03-10 03:00 UTC at the latest',
  );
  expect(goNoGo(facts({ forecast: { ...some, companies: 1 } })).notes.at(-2)).toBe(
    'the only company that is moving or can be moved is expected to be moved by 2026-03-10 03:00 UTC at the latest',
  );
  // The answer about the companies counts deferred companies among those that can be moved.
  const deferring = { counts: counts({ total: 9, moved: 3, waiting: 6, deferred: 2 }) };
  expect(goNoGo(facts({ forecast: some, live: deferring })).notes.at(-2)).toBe(
    'the last of 4 companies that are moving or can be moved, apart from deferred companies, is expected to be moved by 2026-03-10 03:00 UTC at the latest',
  );
  expect(goNoGo(facts({ forecast: null })).notes.join()).not.toContain('expected to be moved');
});

test.each<[Partial<typeof DEFAULT_LIMITS>, GoNoGoFacts['failures'], string]>([
  [
    { toleratedFailures: 5 },
    { failed: 2, tried: 40, accepted: 0 },
    'more than 5 companies could not be moved; or, more than 20% of all tried companies could not be moved, from 20 tried companies on (counted so far: 2 of 40 tried companies)',
  ],
  [
    { toleratedFailures: 1 },
    { failed: 2, tried: 40, accepted: 0 },
    'a worker moves or checks another company: the number of companies that could not be moved already exceeds the limit (counted so far: 2 of 40 tried companies)',
  ],
])('the notes say when failures pause the migration: limits %j, failures %j', (limits, failures, sentence) => {
  const { pauseNotes } = goNoGo(facts({ limits: { ...DEFAULT_LIMITS, ...limits }, failures }));
  expect(pauseNotes[0]).toBe(sentence);
});

test('while the migration is paused, the notes announce no pause that a resume prevents', () => {
  const paused = { ...MOVING, pause: { reason: 'holiday', by: 'Sam', stopReason: null, at: AT } };
  const limits = { ...DEFAULT_LIMITS, toleratedFailures: 1 };
  const { pauseNotes } = goNoGo(facts({ limits, failures: { failed: 2, tried: 40, accepted: 0 } }, paused));
  expect(pauseNotes[0]).toBe(
    'more than 1 company could not be moved; or, more than 20% of all tried companies could not be moved, from 20 tried companies on (failures before the resume do not count)',
  );
});

test('without a limit on failures, the notes say that their number never pauses the migration', () => {
  const limits = { ...DEFAULT_LIMITS, toleratedShare: null };
  const { pauseNotes, notes } = goNoGo(facts({ limits, failures: { failed: 2, tried: 40, accepted: 0 } }));
  expect(pauseNotes.join()).not.toContain('could not be moved');
  expect(notes[0]).toBe(
    'the number of companies that could not be moved never pauses the migration (counted so far: 2 of 40 tried companies)',
  );
});

test('a pause that the failures so far make certain is a no-go, with the numbers and what to do', () => {
  const given = facts({
    limits: { ...DEFAULT_LIMITS, toleratedFailures: 1 },
    failures: { failed: 2, tried: 40, accepted: 0 },
  });
  expect(noGos(given)).toEqual(['failures']);
  expect(whyOf(given, 'failures')).toBe(
    'the migration pauses itself as soon as a worker moves or checks another company: 2 of 40 tried companies could not be moved ' +
      '(limits: 1 company, 20% once 20 companies have been tried); to see the failures and how to resolve them: ferry exceptions acme.quickbooks-online; ' +
      'to tolerate more failures: ferry adjust acme.quickbooks-online --tolerated-failures 3',
  );
});

test('a share of failures that is certain to be exceeded once enough companies have been tried is a no-go', () => {
  const given = facts({ failures: { failed: 5, tried: 14, accepted: 0 } });
  expect(noGos(given)).toEqual(['failures']);
  expect(whyOf(given, 'failures')).toContain(
    'the migration pauses itself once 6 more companies have been tried, even if all of them move: 5 of 14 tried companies could not be moved',
  );
  expect(whyOf(given, 'failures')).toContain('ferry adjust acme.quickbooks-online --tolerated-share 0.3');
  // Besides the 10 tried companies, only 9 are waiting, so 20 are never tried.
  expect(noGos(facts({ failures: { failed: 5, tried: 10, accepted: 0 } }))).toEqual([]);
});

test('a share of failures is not certain to be exceeded if too few of the waiting companies can be tried', () => {
  const given = facts({ failures: { failed: 5, tried: 14, accepted: 0 } });
  const { progress } = given;
  if (progress === null) throw new Error('the sample has progress');
  const unsupplied = { ...progress, counts: { ...progress.counts, withoutCredential: 4 } };
  expect(noGos({ ...given, progress: unsupplied })).not.toContain('failures');
});

test('a limit that the next failure exceeds is a warning', () => {
  const given = facts({
    limits: { ...DEFAULT_LIMITS, toleratedFailures: 2 },
    failures: { failed: 2, tried: 40, accepted: 0 },
  });
  expect(noGos(given)).toEqual([]);
  expect(warned(given)).toContain('failures');
  expect(whyOf(given, 'failures')).toContain('the next company that cannot be moved pauses the migration: 2 of 40');
  expect(warned(facts({ failures: { failed: 1, tried: 40, accepted: 0 } }))).not.toContain('failures');
});

test('failures that were accepted when the migration was resumed are not counted, and the answer says so', () => {
  const limits = { ...DEFAULT_LIMITS, toleratedFailures: 2 };
  // The workflow's count of failures can be older than the ledger's, so accepted failures are not derived from it.
  const state = { ...MOVING, counts: counts({ total: 10, moved: 2, failed: 3, waiting: 5 }) };
  const why = (accepted: number) =>
    whyOf(facts({ limits, failures: { failed: 2, tried: 5, accepted } }, state), 'failures');
  expect(why(1)).toContain(
    '2 of 5 tried companies could not be moved, not counting those that had already failed when someone last resumed the migration (limits: 2 companies, ',
  );
  expect(why(0)).toContain('2 of 5 tried companies could not be moved (limits: 2 companies, ');
});
