import { Command } from 'commander';
import { addLimitOptions } from '../../../cli/options/limit-options';
import { STEPS } from '../../../domain/migration/steps';
import { changedLimitsText, limitLines } from '../../../domain/planning/limit-texts';
import { DEFAULT_LIMITS, type LimitsChange } from '../../../domain/planning/limits';
import { decisionText } from '../../../presentation/wording/decisions';
import { windowsText } from '../../../presentation/wording/windows';
import { decideOne, stateAt } from '../../support/migrations/migration-states';

const SENT = { decisionId: 'd', role: 'support', by: 'Sam' } as const;
const NIGHTS = { days: ['mon', 'tue'], from: '22:00', to: '00:00', timeZone: 'Europe/London' } as const;
const WEEKENDS = { days: ['sun', 'sat', 'thu'], from: '08:00', to: '20:00', timeZone: 'UTC' } as const;

test('changed limits are shown with their values', () => {
  const limits = { windows: [NIGHTS], slicesAtOnce: 2, toleratedShare: null };
  expect(decisionText({ ...SENT, kind: 'adjust', limits, reason: 'a holiday' })).toBe(
    'adjust the limits: 2 slices at once, no limit on the share of companies that could not be moved, moves begin mon-tue 22:00-24:00 Europe/London (a holiday)',
  );
  expect(decisionText({ ...SENT, kind: 'adjust', limits: { windows: [] } })).toBe(
    'adjust the limits: no windows (moves can begin at any time)',
  );
});

test('the outcome of a changed limit contains the old and the new value', () => {
  const outcome = (limits: LimitsChange) =>
    decideOne(stateAt('schedule'), { kind: 'adjust', role: 'support', limits }).outcome.text;
  expect(outcome({ companiesPerMinute: 6 })).toBe('companies per minute: any -> 6');
  expect(outcome({ toleratedShare: null, slicesAtOnce: 4, syncTimeoutMs: 3_600_000 })).toBe(
    'slices at once: 4, as before; sync timeout: 36 h -> 60 min; tolerated share: 20% -> any',
  );
  expect(outcome({ windows: [NIGHTS] })).toBe('windows: at any time -> mon-tue 22:00-24:00 Europe/London');
  // The text of an outcome is stored, so it stays short even if there are many windows.
  expect(outcome({ windows: Array.from({ length: 50 }, () => NIGHTS) })).toMatch(/^windows: .{1,160} and 47 more$/);
});

test.each([
  ['remindBeforeStale', '--remind-before-stale', 'reminders in steps 1 to 4'],
  ['remindWhileStale', '--remind-while-stale', 'reminders in steps 5 and 6 and in self-service'],
] as const)('%s has the same name in a decision, in its outcome and in the help', (limit, option, name) => {
  const adjust = { kind: 'adjust', role: 'support', limits: { [limit]: DEFAULT_LIMITS[limit] } } as const;
  expect(decisionText({ ...SENT, ...adjust })).toContain(`: ${name} after `);
  expect(decideOne(stateAt('schedule'), adjust).outcome.text).toMatch(new RegExp(`^${name}: after `));
  const { options } = addLimitOptions(new Command());
  expect(options.find(({ long }) => long === option)?.description).toMatch(new RegExp(`^${name}, e.g. `));
});

test('people in the self-service route read of no steps, and of no limit without an effect', () => {
  expect(limitLines(DEFAULT_LIMITS, 'self-service').filter((line) => line.startsWith('reminders'))).toEqual([
    'reminders: after 2 h, then every 60 min, escalated after 8 h',
  ]);
  expect(limitLines(DEFAULT_LIMITS, 'managed').filter((line) => line.startsWith('reminders'))).toHaveLength(2);
  const { remindWhileStale, remindBeforeStale } = DEFAULT_LIMITS;
  expect(changedLimitsText(DEFAULT_LIMITS, { remindWhileStale }, 'self-service')).toMatch(/^reminders: after 2 h, /);
  expect(changedLimitsText(DEFAULT_LIMITS, { remindBeforeStale }, 'self-service')).toBe(
    'reminders before the data is out of date: no effect in self-service',
  );
});

test('no text about a decision contains the name of a step in commands and messages', () => {
  for (const step of STEPS)
    for (const verdict of ['approve', 'reject'] as const) {
      const text = decisionText({ ...SENT, kind: 'step', step, verdict });
      expect(text).not.toContain(step === 'schedule' ? `${verdict} schedule` : step);
    }
  expect(decisionText({ ...SENT, kind: 'step', step: 'complete-migration', verdict: 'approve' })).toBe(
    'sign off the handover',
  );
  const answers = [
    decideOne(stateAt('supply-details'), { kind: 'step', step: 'supply-details', verdict: 'approve', role: 'support' }),
    decideOne(stateAt('schedule'), { kind: 'step', step: 'supply-details', verdict: 'approve', role: 'client' }),
    decideOne(stateAt('schedule'), { kind: 'step', step: 'supply-details', verdict: 'approve', role: 'support' }),
    decideOne(stateAt('schedule'), { kind: 'step', step: 'disable-syncing', verdict: 'approve', role: 'client' }),
    decideOne(stateAt('schedule'), { kind: 'step', step: 'complete-migration', verdict: 'approve', role: 'client' }),
    decideOne(stateAt('schedule'), { kind: 'step', step: 'supply-details', verdict: 'reject', role: 'client' }),
    decideOne(stateAt('schedule'), { kind: 'step', step: 'update-application', verdict: 'reject', role: 'client' }),
  ];
  expect(answers.map(({ outcome }) => outcome.text)).toEqual([
    'step 1 (supply details) approved by support',
    'only support can approve step 1 (supply details)',
    'step 1 (supply details) has already ended',
    'step 4 (disable data syncing) needs no approval: it ends when every company of the first wave is confirmed, left out or held back',
    'step 6 (complete the migration) is not open yet: the migration is at step 2 (schedule the migration)',
    'step 1 (supply details) is open again',
    'step 3 (update the application) is not open yet',
  ]);
});

test.each([
  [{ next: 'same-company', reference: 'C-1' }, 'reject the first company, C-1, and try it again (wrong key)'],
  [{ next: 'same-company' }, 'reject the first company and try the same company again (wrong key)'],
  [{ next: 'another-company', reference: 'C-2' }, 'reject the first company and try C-2 next (wrong key)'],
  [{ next: 'abandon' }, 'reject the first company and abandon the migration (wrong key)'],
] as const)('the rejection of a first company says what is tried next: %j', (afterwards, text) => {
  const rejection = { kind: 'step', step: 'migrate-first-company', verdict: 'reject', reason: 'wrong key' } as const;
  expect(decisionText({ ...SENT, ...rejection, afterwards })).toBe(text);
});

test('a decision on many companies lists only the first references', () => {
  const companies = Array.from({ length: 23 }, (_, index) => `C-${index + 1}`);
  expect(decisionText({ ...SENT, kind: 'retry', companies })).toMatch(/^retry C-1, .*C-20 and 3 more$/);
});

test('windows are separated by semicolons, and their days are in order', () => {
  expect(windowsText([NIGHTS, WEEKENDS])).toBe('mon-tue 22:00-24:00 Europe/London; thu,sat-sun 08:00-20:00 UTC');
});
