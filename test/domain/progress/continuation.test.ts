/** Tests when the views say that moves continue in a later window. */
import type { Window } from '../../../domain/planning/windows';
import { continuationOf, continuationText } from '../../../domain/progress/continuation';

const NIGHT: Window = { days: ['mon', 'wed'], from: '22:00', to: '23:00', timeZone: 'UTC' };
const moving = { windows: [NIGHT], counts: { importing: 0, syncing: 0, moved: 1 } };
/** 2 March 2026 is a Monday. */
const IN_WINDOW = '2026-03-02T22:10:00.000Z';
const forecast = (latest: string, beginsAt: string | null = null) => ({
  ...{ companies: 9, beginsAt },
  ends: { earliest: latest, latest },
});
const LATER = '2026-03-04T22:30:00.000Z';

test('an end in the open window has no continuation', () => {
  expect(continuationOf(moving, forecast('2026-03-02T22:50:00.000Z'), IN_WINDOW)).toBeNull();
  expect(continuationOf(moving, forecast('2026-03-02T23:00:00.000Z'), IN_WINDOW)).toBeNull();
});

test('an end after the close of the window says when it closes and when moves continue', () => {
  const found = continuationOf(moving, forecast(LATER), IN_WINDOW);
  expect(found).toEqual({ closesAt: '2026-03-02T23:00:00.000Z', opensAt: '2026-03-04T22:00:00.000Z' });
  expect(continuationText(found, (iso) => iso.slice(0, 10))).toBe(
    '; the window closes 2026-03-02, and moves continue 2026-03-04',
  );
});

test('an end after the close has no continuation if only syncs last past the close', () => {
  const planned = forecast('2026-03-02T23:20:00.000Z', '2026-03-02T22:00:00.000Z');
  expect(continuationOf(moving, planned, '2026-03-02T10:00:00.000Z')).toBeNull();
  expect(continuationOf(moving, forecast('2026-03-02T23:20:00.000Z'), IN_WINDOW)).toBeNull();
});

test('before the moves begin, the first window counts, and no move continues', () => {
  const beginsAt = '2026-03-02T22:00:00.000Z';
  const textOf = (moved: number): string => {
    const found = continuationOf(
      { ...moving, counts: { ...moving.counts, moved } },
      forecast(LATER, beginsAt),
      '2026-03-02T10:00:00.000Z',
    );
    expect(found).toMatchObject({ closesAt: '2026-03-02T23:00:00.000Z' });
    return continuationText(found, (iso) => iso.slice(0, 10));
  };
  expect(textOf(0)).toBe('; the first window closes 2026-03-02, and more moves begin 2026-03-04');
  expect(textOf(1)).toBe('; the window closes 2026-03-02, and moves continue 2026-03-04');
});

test('while companies still sync after the close, moves continue in the next window', () => {
  const found = continuationOf(moving, forecast(LATER), '2026-03-02T23:10:00.000Z');
  expect(found).toEqual({ closesAt: null, opensAt: '2026-03-04T22:00:00.000Z' });
  expect(continuationText(found, (iso) => iso.slice(0, 10))).toBe('; moves continue 2026-03-04');
});

test('without windows, and if every move has begun, there is no continuation', () => {
  expect(continuationOf({ ...moving, windows: [] }, forecast(LATER), IN_WINDOW)).toBeNull();
  expect(
    continuationOf({ ...moving, counts: { importing: 4, syncing: 5, moved: 1 } }, forecast(LATER), IN_WINDOW),
  ).toBeNull();
  expect(continuationText(null, String)).toBe('');
});
