import { batchDetails, batchSummary } from '../../../presentation/temporal-ui/batch-details';
import { migrationIdOf } from '../../../domain/migration/temporal-names';
import { PLATFORMS } from '../../../platforms/platforms';
import { AT, counts } from '../../support/migrations/migration-states';

const run = { migrationId: 'acme.quickbooks-online', runNumber: 2, outage: null };
const window = { opensAt: '2026-03-07T20:00:00.000Z', closesAt: '2026-03-08T04:00:00.000Z' };

test('the page of a batch run shows its window, the counts and the time of the count', () => {
  const text = batchDetails({ ...run, window, counts: counts({ total: 10, moved: 4, waiting: 6 }), at: AT });
  expect(text.split('\n')[0]).toBe('# 4 of 10 companies have moved. Nothing for you to do here.');
  expect(text).toContain('This is batch run 2 of acme.quickbooks-online');
  expect(text).toContain('**Window:** when this run began, from 2026-03-07 20:00 UTC to 2026-03-08 04:00 UTC\n');
  expect(text).toContain('The page of acme.quickbooks-online shows the present windows, who has to act');
  expect(text).toContain('`[############..................]` 4 of 10 companies moved');
  expect(text).toContain('- not moved yet: 6');
  expect(text).toMatch(
    /Counted at \d{4}-.* UTC\. The count is updated within about a minute when a move begins or ends\./,
  );
});

test('the page shows no times without windows, and no counts before the first count', () => {
  const text = batchDetails({ ...run, window: null, counts: null, at: AT });
  expect(text).toContain('none when this run began: moves could begin at any time');
  expect(text).toContain('# The run is beginning.');
  expect(text).not.toContain('Counted');
  const endless = { opensAt: '2020-01-01T00:00:00.000Z', closesAt: '2026-03-22T00:00:00.000Z' };
  expect(batchDetails({ ...run, window: endless, counts: null, at: AT })).toBe(text);
  expect(batchSummary({ ...run, window: endless })).toBe('Batch run 2 of acme.quickbooks-online');
});

test('during an outage, the page says what the run is waiting for, without the error of the call', () => {
  const outage = { why: 'PUT /companies: answered 503', since: AT, until: '2026-03-07T20:05:00.000Z' };
  const textOf = (source?: 'service' | 'platform') =>
    batchDetails({ ...run, window, counts: null, at: AT, outage: { ...outage, ...(source && { source }) } });
  expect(textOf('platform')).toContain(
    '**On hold:** no call is getting through to the platform; next attempt at 2026-03-07 20:05 UTC. The run continues automatically.',
  );
  expect(textOf()).toContain('**On hold:** for a technical reason; next attempt at 2026-03-07 20:05 UTC.');
  expect(textOf()).not.toContain('503');
  expect(batchDetails({ ...run, window, counts: null, at: AT })).not.toContain('On hold');
});

test('the summary says when the window closes', () => {
  expect(batchSummary({ ...run, window })).toBe('Batch run 2 of acme.quickbooks-online, until 2026-03-08 04:00 UTC');
  expect(batchSummary({ ...run, window: null })).toBe('Batch run 2 of acme.quickbooks-online');
});

test("the summary of the longest migration id is within Temporal's limit of 200 bytes", () => {
  const word = 'a'.repeat(64);
  const ids = PLATFORMS.map(({ slug }) => migrationIdOf(word, slug, word));
  const summaries = ids.flatMap((migrationId) =>
    [9, 1_000, 1_000_000].map((runNumber) => batchSummary({ migrationId, runNumber, window })),
  );
  expect(Math.max(...summaries.map((summary) => Buffer.byteLength(summary)))).toBeLessThanOrEqual(200);
  for (const summary of summaries)
    expect(summary).toMatch(/^Batch run \d+ of a{64}\.[a-z0-9-]+\.a{64}(, until .+ UTC)?$/);
});
