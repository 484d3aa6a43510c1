import fc from 'fast-check';
import type { DecisionMessage } from '../../../domain/migration/parse-decision';
import {
  DECISION_MESSAGES,
  MOST_COMPANIES_IN_A_MESSAGE,
  parseDecision,
} from '../../../domain/migration/parse-decision';

const read = (message: DecisionMessage, input: unknown) => parseDecision(message, input, () => 'fresh');
const WINDOW = { days: ['mon', 'fri'], from: '22:00', to: '05:00', timeZone: 'Europe/London' };
const PATIENCE = { firstAfterMs: 60_000, everyMs: 60_000, escalateAfterMs: 60_000 };
const SENT = { role: 'client', by: 'Cleo', decisionId: 'one' } as const;

describe('what is sent in the right form is read as it was meant', () => {
  test.each<[DecisionMessage, object, object]>([
    ['approve', { step: 'schedule' }, { kind: 'step', step: 'schedule', verdict: 'approve' }],
    ['reject', { step: 'schedule', reason: 'too soon' }, { kind: 'step', verdict: 'reject', reason: 'too soon' }],
    [
      'reject',
      { step: 'migrate-first-company', next: 'another-company', company: 'C-7' },
      { afterwards: { next: 'another-company', reference: 'C-7' } },
    ],
    ['reject', { step: 'migrate-first-company', next: 'abandon', row: 7 }, { afterwards: { next: 'abandon' } }],
    ['proposeTime', { startAt: '2026-03-07T20:00Z' }, { kind: 'time', startAt: '2026-03-07T20:00:00.000Z' }],
    ['proposeTime', { startAt: '2026-03-07T20:00:00+02:00' }, { startAt: '2026-03-07T18:00:00.000Z' }],
    ['proposeTime', { startAt: '2026-03-07T20:00:00.5-0530' }, { startAt: '2026-03-08T01:30:00.500Z' }],
    ['confirmSyncDisabled', { companies: 'all' }, { kind: 'sync-disabled', companies: 'all' }],
    ['confirmSyncDisabled', { companies: ['a', 'b'] }, { companies: ['a', 'b'] }],
    ['credentialsSupplied', { companies: 0 }, { kind: 'credentials-supplied', companies: 0 }],
    ['pause', { reason: 'lunch' }, { kind: 'pause', reason: 'lunch' }],
    ['resume', {}, { kind: 'resume' }],
    ['adjust', { limits: { windows: [{ ...WINDOW, more: 1 }] } }, { limits: { windows: [WINDOW] } }],
    ['adjust', { limits: { remindWhileDark: { ...PATIENCE, more: 1 } } }, { limits: { remindWhileDark: PATIENCE } }],
  ])('%s %j', (message, fields, decision) => {
    expect(read(message, { ...SENT, ...fields, more: 'is ignored' })).toEqual({
      decision: expect.objectContaining({ ...SENT, ...decision }) as unknown,
    });
  });

  test('a decision without an id, as people type them, gets one', () => {
    expect(read('resume', { role: 'support', by: 'Sam' })).toMatchObject({ decision: { decisionId: 'fresh' } });
  });

  test('what nobody sent is not there', () => {
    expect(read('approve', { ...SENT, step: 'schedule' })).toEqual({
      decision: { ...SENT, kind: 'step', step: 'schedule', verdict: 'approve' },
    });
  });
});

describe('what is sent in another form is answered with what is expected', () => {
  const eightDays = Array.from({ length: 8 }, () => 'mon');
  const tooMany = Array.from({ length: MOST_COMPANIES_IN_A_MESSAGE + 1 }, (_, index) => `c${index}`);

  test.each<[string, DecisionMessage, unknown, string]>([
    ['nothing', 'approve', undefined, 'an object'],
    ['null', 'approve', null, 'an object'],
    ['text', 'approve', 'schedule', 'an object'],
    ['a list', 'approve', [SENT], 'an object'],
    ['no role', 'resume', { by: 'Cleo' }, 'role must be client or support'],
    ['another role', 'resume', { ...SENT, role: 'admin' }, 'role must be'],
    ['a role that is no text', 'resume', { ...SENT, role: { toString: 1 } }, 'role must be'],
    ['no name', 'resume', { role: 'client' }, 'by must name the person'],
    ['an empty name', 'resume', { ...SENT, by: '  ' }, 'by must name the person'],
    ['an endless name', 'resume', { ...SENT, by: 'x'.repeat(201) }, 'by must name the person'],
    ['a reason that is no text', 'pause', { ...SENT, reason: 7 }, 'reason must be text'],
    ['an endless reason', 'pause', { ...SENT, reason: 'x'.repeat(2_001) }, 'reason must be text'],
    ['an id that is no text', 'pause', { ...SENT, decisionId: null }, 'decisionId must be text'],
    ['no step', 'approve', SENT, 'step must be one of supply-details'],
    ['an unknown step', 'reject', { ...SENT, step: 'toString' }, 'step must be one of'],
    ['an unknown next', 'reject', { ...SENT, step: 'schedule', next: 'retry' }, 'next must be'],
    ['no company', 'reject', { ...SENT, step: 'schedule', next: 'another-company' }, 'company must name'],
    ['a row', 'reject', { ...SENT, step: 'schedule', next: 'another-company', company: 7 }, 'company must name'],
    ['no first company', 'chooseFirstCompany', SENT, 'company must be'],
    ['no time', 'proposeTime', SENT, 'startAt must be'],
    ['a number for a time', 'proposeTime', { ...SENT, startAt: 1_772_913_600_000 }, 'startAt must be'],
    ['a date alone', 'proposeTime', { ...SENT, startAt: '2026-03-07' }, 'startAt must be'],
    ['a time without zone', 'proposeTime', { ...SENT, startAt: '2026-03-07T20:00' }, 'startAt must be'],
    ['a day that does not exist', 'proposeTime', { ...SENT, startAt: '2026-13-07T20:00Z' }, 'startAt must be'],
    ['words for a time', 'proposeTime', { ...SENT, startAt: 'Saturday 1' }, 'startAt must be'],
    ['one company as text', 'confirmSyncDisabled', { ...SENT, companies: 'acme' }, 'companies must be "all"'],
    ['companies that are no text', 'confirmSyncDisabled', { ...SENT, companies: ['a', 2] }, 'companies must be "all"'],
    ['too many companies', 'confirmSyncDisabled', { ...SENT, companies: tooMany }, '1000 at most'],
    ['an endless reference', 'confirmSyncDisabled', { ...SENT, companies: ['x'.repeat(201)] }, 'companies must be'],
    ['what cannot be stored', 'exclude', { ...SENT, companies: ['a\0'], reason: 'sold' }, 'companies must be'],
    ['a name that cannot be stored', 'pause', { ...SENT, by: 'Cleo\0' }, 'by must name the person'],
    ['half a character', 'pause', { ...SENT, reason: 'sold \ud83d' }, 'reason must be text'],
    ['an id that cannot be stored', 'pause', { ...SENT, decisionId: '\0' }, 'decisionId must be text'],
    ['no limit', 'adjust', { ...SENT, limits: { speed: 7 } }, 'there is no limit speed; there are slicesAtOnce'],
    ['no name of a limit', 'adjust', { ...SENT, limits: { '\0': 7 } }, 'there is no such limit'],
    ['no time zone', 'adjust', { ...SENT, limits: { windows: [{ ...WINDOW, timeZone: 'Mars/Base' }] } }, 'zones that'],
    [
      'an offset for one',
      'adjust',
      { ...SENT, limits: { windows: [{ ...WINDOW, timeZone: '+01:00' }] } },
      'zones that',
    ],
    ['too many days', 'adjust', { ...SENT, limits: { windows: [{ ...WINDOW, days: eightDays }] } }, 'windows must be'],
    [
      'a time with no window',
      'proposeTime',
      { ...SENT, startAt: '2026-03-07T20:00Z', windows: [{ ...WINDOW, from: '22' }] },
      'windows must be a list of at most 50 windows',
    ],
    ['a count that is text', 'credentialsSupplied', { ...SENT, companies: '3' }, 'companies must be a number'],
    ['a negative count', 'credentialsSupplied', { ...SENT, companies: -1 }, 'companies must be a number'],
  ])('%s: %s', (_, message, input, expected) => {
    expect(read(message, input)).toEqual({ malformed: expect.stringContaining(expected) as string });
  });

  test('a message may name as many companies as are allowed', () => {
    expect(read('confirmSyncDisabled', { ...SENT, companies: tooMany.slice(1) })).toHaveProperty('decision');
  });
});

describe('whatever is sent', () => {
  const messages = fc.constantFrom(...DECISION_MESSAGES);
  /** Of any characters, halves of some among them. */
  const text = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 }).map((of) => String.fromCharCode(...of));
  const fields = fc.record(
    {
      role: fc.oneof(fc.constant('client'), fc.anything()),
      by: fc.oneof(fc.constant('Cleo'), text, fc.anything()),
      decisionId: fc.oneof(fc.constant('one'), text, fc.anything()),
      reason: fc.oneof(fc.constant(undefined), text, fc.anything()),
      step: fc.oneof(fc.constant('schedule'), fc.anything()),
      next: fc.oneof(fc.constant('another-company'), fc.anything()),
      row: fc.anything(),
      startAt: fc.oneof(fc.string(), fc.anything()),
      companies: fc.oneof(fc.array(text), fc.anything()),
      limits: fc.oneof(fc.dictionary(text, fc.anything()), fc.anything()),
    },
    { requiredKeys: [] },
  );

  test('it is either read or refused with a reason, and nothing is thrown', () => {
    fc.assert(
      fc.property(messages, fc.oneof(fc.anything({ withNullPrototype: true }), fields), (message, input) => {
        const reading = read(message, input);
        if ('malformed' in reading) expect(reading.malformed).not.toBe('');
        else expect(reading.decision.role).toMatch(/^(client|support)$/);
      }),
      { numRuns: 2_000 },
    );
  });

  test('what is read survives being stored', () => {
    fc.assert(
      fc.property(messages, fields, (message, input) => {
        const reading = read(message, input);
        const stored = JSON.stringify(reading);
        expect(JSON.parse(stored)).toEqual(reading);
        // Postgres takes neither, and would refuse it for ever.
        expect(stored).not.toMatch(/\\u0000|\\ud[89a-f]/);
      }),
      { numRuns: 2_000 },
    );
  });
});
