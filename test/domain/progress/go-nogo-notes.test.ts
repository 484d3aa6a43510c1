import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { goNoGo } from '../../../domain/progress/go-nogo';
import type { GoNoGoFacts } from '../../../domain/progress/go-nogo-facts';
import { facts, FORECAST } from './go-nogo-sample';

test('the notes give the end and the time without current data according to the forecast, if there is one', () => {
  expect(goNoGo(facts()).notes.slice(-2)).toEqual([
    'the last company is expected to be moved by 2026-03-10 03:00 UTC at the latest',
    'until then, the data of a company can be out of date for up to 5 hours',
  ]);
  const some = { ...FORECAST, companies: 4, isComplete: false };
  expect(goNoGo(facts({ forecast: some })).notes.at(-2)).toBe(
    'the last of 4 companies that can be moved now is expected to be moved by 2026-03-10 03:00 UTC at the latest',
  );
  expect(goNoGo(facts({ forecast: null })).notes.join()).not.toContain('expected to be moved');
});

test.each<[Partial<typeof DEFAULT_LIMITS>, GoNoGoFacts['failures'], string]>([
  [
    { toleratedFailures: 5 },
    { failed: 2, tried: 40 },
    'more than 5 companies could not be moved; or, once 20 companies have been tried, more than 20% of them could not be moved (counted so far: 2 of 40 tried companies)',
  ],
  [
    { toleratedFailures: 1 },
    { failed: 2, tried: 40 },
    'a worker tries another company: the number of companies that could not be moved already exceeds the limit (counted so far: 2 of 40 tried companies)',
  ],
])('the notes say when failures pause the migration: limits %j, failures %j', (limits, failures, sentence) => {
  const { pauseNotes } = goNoGo(facts({ limits: { ...DEFAULT_LIMITS, ...limits }, failures }));
  expect(pauseNotes[0]).toBe(sentence);
});

test('without a limit on failures, the notes say that their number never pauses the migration', () => {
  const limits = { ...DEFAULT_LIMITS, toleratedShare: null };
  const { pauseNotes, notes } = goNoGo(facts({ limits, failures: { failed: 2, tried: 40 } }));
  expect(pauseNotes.join()).not.toContain('could not be moved');
  expect(notes[0]).toBe(
    'the number of companies that could not be moved never pauses the migration (counted so far: 2 of 40 tried companies)',
  );
});
