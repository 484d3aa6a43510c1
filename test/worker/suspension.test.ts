/** Tests the watch that notices a suspended process. */
import { watchForSuspension } from '../../worker/suspension';

let gaps: number[];
let stop: () => void;
beforeEach(() => {
  jest.useFakeTimers();
  gaps = [];
  stop = watchForSuspension((ms) => gaps.push(ms));
});
afterEach(() => {
  stop();
  jest.useRealTimers();
});

test('a process that runs, or is late by a few seconds, is not reported', () => {
  jest.advanceTimersByTime(60_000);
  jest.setSystemTime(Date.now() + 8_000);
  jest.advanceTimersByTime(60_000);
  expect(gaps).toEqual([]);
});

test('a process that did not run for more than 10 seconds is reported once', () => {
  jest.advanceTimersByTime(5_000);
  jest.setSystemTime(Date.now() + 60_000);
  jest.advanceTimersByTime(60_000);
  expect(gaps).toEqual([61_000]);
});

test('a watch that was ended reports nothing', () => {
  stop();
  jest.setSystemTime(Date.now() + 60_000);
  jest.advanceTimersByTime(60_000);
  expect(gaps).toEqual([]);
});
