import fc from 'fast-check';
import { DECISION_MESSAGES, parseDecision, type DecisionMessage } from '../../../domain/migration/parse-decision';
import { MAX_COMPANIES_PER_MESSAGE } from '../../../domain/migration/decision-fields';

const parse = (message: DecisionMessage, input: unknown) => parseDecision(message, input, () => 'fresh');
const WINDOW = { days: ['mon', 'fri'], from: '22:00', to: '05:00', timeZone: 'Europe/London' };
const INTERVALS = { firstAfterMs: 60_000, everyMs: 60_000, escalateAfterMs: 60_000 };
const SENT = { role: 'client', by: 'Cleo', decisionId: 'one' } as const;
const SEALED = 'ab'.repeat(32);

describe('a well-formed message', () => {
  test.each<[DecisionMessage, object, object]>([
    ['approve', { step: 'schedule' }, { kind: 'step', step: 'schedule', verdict: 'approve' }],
    ['reject', { step: 'schedule', reason: 'too soon' }, { kind: 'step', verdict: 'reject', reason: 'too soon' }],
    [
      'reject',
      { step: 'migrate-first-company', next: 'another-company', company: 'C-7' },
      { afterwards: { next: 'another-company', reference: 'C-7' } },
    ],
    [
      'reject',
      { step: 'migrate-first-company', next: 'same-company', company: 'C-7' },
      { afterwards: { next: 'same-company', reference: 'C-7' } },
    ],
    ['reject', { step: 'migrate-first-company', next: 'same-company' }, { afterwards: { next: 'same-company' } }],
    ['reject', { step: 'migrate-first-company', next: 'abandon', row: 7 }, { afterwards: { next: 'abandon' } }],
    ['proposeTime', { startAt: '2026-03-07T20:00Z' }, { kind: 'time', startAt: '2026-03-07T20:00:00.000Z' }],
    ['proposeTime', { startAt: '2026-03-07T20:00:00+02:00' }, { startAt: '2026-03-07T18:00:00.000Z' }],
    ['proposeTime', { startAt: '2026-03-07T20:00:00.5-0530' }, { startAt: '2026-03-08T01:30:00.500Z' }],
    ['confirmSyncDisabled', { companies: 'all' }, { kind: 'sync-disabled', companies: 'all' }],
    ['confirmSyncDisabled', { companies: ['a', 'b'] }, { companies: ['a', 'b'] }],
    ['credentialsSupplied', { companies: 0 }, { kind: 'credentials-supplied', companies: 0 }],
    ['credentialsSupplied', { companies: 1, sealedDigest: SEALED }, { companies: 1, sealedDigest: SEALED }],
    ['replaceCredential', { companies: ['a'], sealedDigest: SEALED }, { companies: ['a'], sealedDigest: SEALED }],
    [
      'applicationSupplied',
      { clientId: 'app', environment: 'sandbox', sealedDigest: SEALED },
      { kind: 'application-supplied', sealedDigest: SEALED },
    ],
    ['pause', { reason: 'lunch' }, { kind: 'pause', reason: 'lunch' }],
    ['resume', {}, { kind: 'resume' }],
    ['adjust', { limits: { windows: [{ ...WINDOW, more: 1 }] } }, { limits: { windows: [WINDOW] } }],
    [
      'adjust',
      { limits: { remindWhileStale: { ...INTERVALS, more: 1 } } },
      { limits: { remindWhileStale: INTERVALS } },
    ],
  ])('%s %j is parsed', (message, fields, decision) => {
    expect(parse(message, { ...SENT, ...fields, more: 'is ignored' })).toEqual({
      decision: expect.objectContaining({ ...SENT, ...decision }) as unknown,
    });
  });

  test('gets a fresh id if it has none', () => {
    expect(parse('resume', { role: 'support', by: 'Sam' })).toMatchObject({ decision: { decisionId: 'fresh' } });
  });

  test('gets no fields that were not sent', () => {
    expect(parse('approve', { ...SENT, step: 'schedule' })).toEqual({
      decision: { ...SENT, kind: 'step', step: 'schedule', verdict: 'approve' },
    });
  });
});

describe('parseDecision', () => {
  const eightDays = Array.from({ length: 8 }, () => 'mon');
  const tooMany = Array.from({ length: MAX_COMPANIES_PER_MESSAGE + 1 }, (_, index) => `c${index}`);

  const deep = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}1${']'.repeat(levels)}`);

  test.each<[string, DecisionMessage, unknown, string]>([
    ['levels that cannot be written as JSON', 'pause', { ...SENT, extra: deep(100_000) }, 'more than 20 levels deep'],
    ['a field with 21 levels', 'pause', { ...SENT, extra: deep(21) }, 'more than 20 levels deep'],
    [
      'a field that no batch can hold',
      'pause',
      { ...SENT, extra: 'x'.repeat(500_000) },
      'more than 500,000 characters',
    ],
    ['nothing', 'approve', undefined, 'must be an object'],
    ['null', 'approve', null, 'must be an object'],
    ['text', 'approve', 'schedule', 'must be an object'],
    ['a list', 'approve', [SENT], 'must be an object'],
    ['no role', 'resume', { by: 'Cleo' }, 'role must be client or support'],
    ['another role', 'resume', { ...SENT, role: 'admin' }, 'role must be'],
    ['a role that is not text', 'resume', { ...SENT, role: { toString: 1 } }, 'role must be'],
    ['no name', 'resume', { role: 'client' }, '"by" must be the name'],
    ['an empty name', 'resume', { ...SENT, by: '  ' }, '"by" must be the name'],
    ['a name that is too long', 'resume', { ...SENT, by: 'x'.repeat(201) }, '"by" must be the name'],
    [
      'a name that reorders the text after it',
      'resume',
      { ...SENT, by: 'Cleo\u202e' },
      '"by" must be the name of the person who decides, at most 200 characters, without invisible control characters',
    ],
    [
      'a reason that reorders the text after it',
      'pause',
      { ...SENT, reason: 'a\u2066b' },
      'reason must be text that is not blank, at most 2,000 characters, without invisible control characters',
    ],
    ['a reason that is not text', 'pause', { ...SENT, reason: 7 }, 'reason must be text'],
    ['a blank reason', 'pause', { ...SENT, reason: '  ' }, 'reason must be text that is not blank'],
    ['a reason that is too long', 'pause', { ...SENT, reason: 'x'.repeat(2_001) }, 'reason must be text'],
    ['an id that is not text', 'pause', { ...SENT, decisionId: null }, 'decisionId must be text'],
    [
      'a blank client id',
      'applicationSupplied',
      { ...SENT, clientId: '  ', environment: 'sandbox' },
      'clientId must be text that is not blank, at most 2,000 characters',
    ],
    ['no step', 'approve', SENT, 'step must be one of supply-details'],
    ['an unknown step', 'reject', { ...SENT, step: 'toString' }, 'step must be one of'],
    ['an unknown next', 'reject', { ...SENT, step: 'schedule', next: 'retry' }, '"next" must be'],
    ['no company', 'reject', { ...SENT, step: 'schedule', next: 'another-company' }, '"company" must be the reference'],
    [
      'a row number for a reference',
      'reject',
      { ...SENT, step: 'schedule', next: 'another-company', company: 7 },
      '"company" must be the reference',
    ],
    ['no first company', 'chooseFirstCompany', SENT, '"company" must be'],
    ['no time', 'proposeTime', SENT, 'startAt must be'],
    ['a number for a time', 'proposeTime', { ...SENT, startAt: 1_772_913_600_000 }, 'startAt must be'],
    ['a date without a time', 'proposeTime', { ...SENT, startAt: '2026-03-07' }, 'startAt must be'],
    ['a time without a zone', 'proposeTime', { ...SENT, startAt: '2026-03-07T20:00' }, 'startAt must be'],
    ['a month that does not exist', 'proposeTime', { ...SENT, startAt: '2026-13-07T20:00Z' }, 'startAt must be'],
    ['a time in words', 'proposeTime', { ...SENT, startAt: 'Saturday 1' }, 'startAt must be'],
    ['companies as text', 'confirmSyncDisabled', { ...SENT, companies: 'acme' }, '"companies" must be "all"'],
    [
      'companies that are not text',
      'confirmSyncDisabled',
      { ...SENT, companies: ['a', 2] },
      '"companies" must be "all"',
    ],
    ['too many companies', 'confirmSyncDisabled', { ...SENT, companies: tooMany }, 'at most 1,000'],
    ['too many companies in a list', 'replaceCredential', { ...SENT, companies: tooMany }, 'at most 1,000'],
    [
      'companies as text where "all" is not allowed',
      'exclude',
      { ...SENT, companies: 'acme' },
      'references, not "all"',
    ],
    ['no companies where "all" is not allowed', 'skip', SENT, 'references, not "all"'],
    [
      'a reference that is too long',
      'confirmSyncDisabled',
      { ...SENT, companies: ['x'.repeat(201)] },
      '"companies" must be',
    ],
    [
      'a reference that cannot be stored',
      'exclude',
      { ...SENT, companies: ['a\0'], reason: 'sold' },
      '"companies" must be',
    ],
    ['a name that cannot be stored', 'pause', { ...SENT, by: 'Cleo\0' }, '"by" must be the name'],
    ['an unpaired surrogate', 'pause', { ...SENT, reason: 'sold \ud83d' }, 'reason must be text'],
    ['an id that cannot be stored', 'pause', { ...SENT, decisionId: '\0' }, 'decisionId must be text'],
    [
      'an unknown limit',
      'adjust',
      { ...SENT, limits: { speed: 7 } },
      'unknown limit speed; the limits are slicesAtOnce',
    ],
    ['an invalid name of a limit', 'adjust', { ...SENT, limits: { '\0': 7 } }, 'unknown limit; the limits are'],
    [
      'an unknown time zone',
      'adjust',
      { ...SENT, limits: { windows: [{ ...WINDOW, timeZone: 'Mars/Base' }] } },
      'valid time zones',
    ],
    [
      'an offset as a time zone',
      'adjust',
      { ...SENT, limits: { windows: [{ ...WINDOW, timeZone: '+01:00' }] } },
      'valid time zones',
    ],
    ['too many days', 'adjust', { ...SENT, limits: { windows: [{ ...WINDOW, days: eightDays }] } }, 'windows must be'],
    [
      'an invalid window',
      'proposeTime',
      { ...SENT, startAt: '2026-03-07T20:00Z', windows: [{ ...WINDOW, from: '22' }] },
      'windows must be a list of at most 50 windows',
    ],
    ['a count that is text', 'credentialsSupplied', { ...SENT, companies: '3' }, '"companies" must be a whole number'],
    ['a short digest', 'credentialsSupplied', { ...SENT, companies: 1, sealedDigest: 'ab' }, '64 lower-case hex'],
    ['a negative count', 'credentialsSupplied', { ...SENT, companies: -1 }, '"companies" must be a whole number'],
  ])('refuses a message with %s (%s), and says what it expects', (_, message, input, expected) => {
    expect(parse(message, input)).toEqual({ malformed: expect.stringContaining(expected) as string });
  });

  test('accepts a message with the maximum number of companies', () => {
    expect(parse('confirmSyncDisabled', { ...SENT, companies: tooMany.slice(1) })).toHaveProperty('decision');
  });
});

describe('any message', () => {
  const messages = fc.constantFrom(...DECISION_MESSAGES);
  /** Any characters, including unpaired surrogates. */
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

  test('is either parsed or refused with a reason, without an exception', () => {
    fc.assert(
      fc.property(messages, fc.oneof(fc.anything({ withNullPrototype: true }), fields), (message, input) => {
        const parsed = parse(message, input);
        if ('malformed' in parsed) expect(parsed.malformed).not.toBe('');
        else expect(parsed.decision.role).toMatch(/^(client|support)$/);
      }),
      { numRuns: 2_000 },
    );
  });

  test('can be stored once it is parsed', () => {
    fc.assert(
      fc.property(messages, fields, (message, input) => {
        const parsed = parse(message, input);
        const stored = JSON.stringify(parsed);
        expect(JSON.parse(stored)).toEqual(parsed);
        // Postgres accepts neither NUL nor an unpaired surrogate, so storing the decision would fail forever.
        expect(stored).not.toMatch(/\\u0000|\\ud[89a-f]/);
      }),
      { numRuns: 2_000 },
    );
  });
});
