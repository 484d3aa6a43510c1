import { Command } from 'commander';
import { addLimitOptions, limitsFrom, parseWindow } from '../../../cli/options/limit-options';
import type { Route } from '../../../platforms/platforms';
import { windowText } from '../../../presentation/wording/windows';

const WORKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri'];

test.each([
  ['mon-fri 22:00-05:00 Europe/London', WORKDAYS, '22:00', '05:00', 'Europe/London'],
  ['  Sat,SUN   00:00-24:00 UTC ', ['sat', 'sun'], '00:00', '00:00', 'UTC'],
  ['fri-mon 01:00-02:00 UTC', ['fri', 'sat', 'sun', 'mon'], '01:00', '02:00', 'UTC'],
  ['mon,mon-tue 01:00-02:00 UTC', ['mon', 'tue'], '01:00', '02:00', 'UTC'],
  ['daily 20:00-23:30 Asia/Kolkata', [...WORKDAYS, 'sat', 'sun'], '20:00', '23:30', 'Asia/Kolkata'],
])('parseWindow parses "%s"', (text, days, from, to, timeZone) => {
  expect(parseWindow(text)).toEqual({ days, from, to, timeZone });
});

test.each([
  ['', 'Write the window like "mon-fri 22:00-05:00 Europe/London"'],
  ['mon 22:00-05:00', 'The time zone is missing. Write the window like "mon-fri 22:00-05:00 Europe/London"'],
  ['someday 22:00-05:00 UTC', 'Write the window like "mon-fri 22:00-05:00 Europe/London"'],
  ['mon- 22:00-05:00 UTC', 'Write the window like "mon-fri 22:00-05:00 Europe/London"'],
  ['mon-tue-fri 22:00-05:00 UTC', 'Write the window like "mon-fri 22:00-05:00 Europe/London"'],
  ['mon 25:00-05:00 UTC', 'Write the window like "mon-fri 22:00-05:00 Europe/London"'],
  ['mon 22:00-05:00 Europe/Atlantis', 'There is no time zone Europe/Atlantis'],
])('parseWindow rejects "%s": %s', (text, message) => {
  expect(() => parseWindow(text)).toThrow(message);
});

test.each([
  'mon-fri 22:00-05:00 Europe/London',
  'sat-sun 00:00-24:00 UTC',
  'mon,wed-thu,sun 01:00-02:00 UTC',
  'fri 01:00-02:00 America/New_York',
  'daily 20:00-23:30 Asia/Kolkata',
])('windowText prints "%s" as it was parsed', (text) => {
  expect(windowText(parseWindow(text))).toBe(text);
});

test('windowText prints days in the order of the week', () => {
  expect(windowText(parseWindow('fri-mon 01:00-02:00 UTC'))).toBe('mon,fri-sun 01:00-02:00 UTC');
});

test('"any" removes a limit', () => {
  const command = addLimitOptions(new Command());
  const limits = ['--companies-per-minute', 'any', '--tolerated-failures', 'any', '--tolerated-share', 'any'];
  command.parse(limits, { from: 'user' });
  expect(limitsFrom(command.opts())).toEqual({
    companiesPerMinute: null,
    toleratedFailures: null,
    toleratedShare: null,
  });
});

test.each([
  ['--sync-timeout', '30s', 'Expected a duration from 1m to 30d.'],
  ['--sync-timeout', '31d', 'Expected a duration from 1m to 30d.'],
  ['--remind-before-stale', '2d,1d,366d', 'Expected three durations, each from 1m to 365d.'],
  ['--remind-while-stale', '30s,1h,8h', 'Expected three durations, each from 1m to 365d.'],
])('%s %s is refused with limits in the units that people type', (option, text, message) => {
  const command = addLimitOptions(new Command().exitOverride().configureOutput({ writeErr: () => {} }));
  expect(() => command.parse([option, text], { from: 'user' })).toThrow(message);
});

test('only options that have an effect in the route are offered', () => {
  const optionsOf = (route?: Route) =>
    addLimitOptions(new Command(), route).options.flatMap(({ long }) => (long?.startsWith('--remind') ? [long] : []));
  expect(optionsOf('self-service')).toEqual(['--remind-while-stale']);
  expect(optionsOf('managed')).toEqual(['--remind-before-stale', '--remind-while-stale']);
  expect(optionsOf()).toEqual(optionsOf('managed'));
});
