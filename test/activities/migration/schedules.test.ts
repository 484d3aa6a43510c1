/** The Schedule of a migration's windows, as interpreted by Temporal itself. */
import { Client, Connection } from '@temporalio/client';
import { createWindowSchedules } from '../../../activities';
import { scheduleIdOf } from '../../../domain/migration/temporal-names';
import { WEEKDAYS, windowOccurrences, type Window } from '../../../domain/planning/windows';
import { until } from '../../support/async';
import { ownNamespace } from '../../support/jest/namespaces';
import { sharedTemporal } from '../../support/servers/shared-servers';

const MIGRATION = 'listed.quickbooks-online';
let client: Client;
beforeAll(async () => {
  const connection = await Connection.connect({ address: await sharedTemporal() });
  client = new Client({ connection, namespace: ownNamespace() });
});
afterAll(async () => {
  await createWindowSchedules(client.schedule).update(MIGRATION, []);
  await client.connection.close();
});

/** Returns the next times at which Temporal will open a window. */
async function nextStarts(count: number): Promise<readonly string[]> {
  const described = async () => (await client.schedule.getHandle(scheduleIdOf(MIGRATION)).describe()).info;
  await until(async () => (await described()).nextActionTimes.length >= count);
  return (await described()).nextActionTimes.slice(0, count).map((at) => at.toISOString());
}

const nightly = (timeZone: string): Window => ({ days: ['sat', 'sun'], from: '02:30', to: '05:00', timeZone });

test.each<[string, Window, string, readonly string[]]>([
  [
    'at the change if clocks go forward and 02:30 does not exist',
    nightly('Europe/Berlin'),
    '2027-03-26T12:00:00.000Z',
    ['2027-03-27T01:30:00.000Z', '2027-03-28T01:00:00.000Z', '2027-04-03T00:30:00.000Z'],
  ],
  [
    'at the first 02:30 if clocks go back and 02:30 occurs twice',
    nightly('Europe/Berlin'),
    '2027-10-29T12:00:00.000Z',
    ['2027-10-30T00:30:00.000Z', '2027-10-31T00:30:00.000Z', '2027-11-06T01:30:00.000Z'],
  ],
  [
    'in a zone whose clocks change by half an hour',
    { days: ['sat', 'sun'], from: '02:15', to: '05:00', timeZone: 'Australia/Lord_Howe' },
    '2027-10-01T00:00:00.000Z',
    ['2027-10-01T15:45:00.000Z', '2027-10-02T15:30:00.000Z', '2027-10-08T15:15:00.000Z'],
  ],
])('Temporal opens the windows at the calculated instants: %s', async (_, window, from, instants) => {
  expect(await createWindowSchedules(client.schedule).update(MIGRATION, windowOccurrences([window], from))).toBe(
    'running',
  );
  expect(await nextStarts(instants.length)).toEqual(instants);
});

test('the catch-up time of windows that never close is two weeks', async () => {
  const wholeWeek: Window = { days: WEEKDAYS, from: '00:00', to: '00:00', timeZone: 'UTC' };
  await createWindowSchedules(client.schedule).update(
    MIGRATION,
    windowOccurrences([wholeWeek], '2027-03-26T12:00:00Z'),
  );
  const catchupWindow = async () =>
    (await client.schedule.getHandle(scheduleIdOf(MIGRATION)).describe()).policies.catchupWindow;
  await until(async () => (await catchupWindow()) === 14 * 24 * 3_600_000);
});

test('new occurrences replace the old occurrences without changing a pause or its note', async () => {
  const schedules = createWindowSchedules(client.schedule);
  const keep = (timeZone: string) =>
    schedules.update(MIGRATION, windowOccurrences([nightly(timeZone)], '2027-06-01T12:00:00.000Z'));
  await keep('Europe/Berlin');
  await client.schedule.getHandle(scheduleIdOf(MIGRATION)).pause('paused by Sam');
  await until(async () => (await keep('Europe/London')) === 'paused');
  await until(async () => (await nextStarts(1))[0] === '2027-06-05T01:30:00.000Z');
  const { state, info } = await client.schedule.getHandle(scheduleIdOf(MIGRATION)).describe();
  expect(state).toMatchObject({ paused: true, note: 'paused by Sam' });
  expect(info.nextActionTimes.every((at) => at.toISOString().endsWith('T01:30:00.000Z'))).toBe(true);
});
