import { endText } from '../../../presentation/temporal-ui/page-times';
import { momentText } from '../../../domain/text/sentences';
import { stopReasonText } from '../../../domain/companies/failures';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { STEPS } from '../../../domain/migration/steps';
import {
  approve,
  AT,
  counts,
  decideAll,
  firstCompany,
  preflight,
  proposeTime,
  stateAt,
} from '../../support/migrations/migration-states';
import { detailsAt, estimated } from './details-page';

const SITUATIONS: readonly (readonly [string, MigrationState])[] = [
  ...STEPS.map((step) => [step, stateAt(step, estimated)] as const),
  ['before anything', stateAt('supply-details', { preflight: null, counts: counts({}) })],
  ['time proposed', decideAll(stateAt('schedule', estimated), proposeTime('client'))],
  ['first company moving', stateAt('migrate-first-company', { firstCompany: firstCompany({ stage: 'importing' }) })],
  ['first company failed', stateAt('migrate-first-company', { firstCompany: firstCompany({ stage: 'failed' }) })],
  ['outcomes unknown', stateAt('complete-migration', { counts: counts({ total: 10, moved: 8, outcomeUnknown: 2 }) })],
  ['completed', stateAt('complete-migration', { closed: 'completed', counts: counts({ total: 10, moved: 10 }) })],
  ['abandoned', stateAt('migrate-first-company', { closed: 'abandoned' })],
  ...(['key-refused', 'account-limit', 'application-refused', 'wrong-organization', 'ledger-behind'] as const).map(
    (stop) =>
      [
        stop,
        stateAt('complete-migration', { pause: { reason: stopReasonText(stop), by: null, stopReason: stop, at: AT } }),
      ] as const,
  ),
];

test.each(SITUATIONS)('the page contains no internal terms: %s', (_, state) => {
  expect(detailsAt(state)).not.toMatch(/ledger|slice|vault|crossing|digest|API_KEY|PendingAuth|undefined|null|NaN/i);
});

test('the page shows who has to act, the six steps, the companies, who to call and what must stay switched off', () => {
  const moving = counts({
    ...{ total: 40, waiting: 10, syncing: 2, importing: 1 },
    ...{ moved: 20, failed: 3, mustReconnect: 1, excluded: 4 },
  });
  const text = detailsAt(stateAt('complete-migration', { ...estimated, counts: moving }));
  expect(text.split('\n')[0]).toBe('# 20 of 40 companies have moved, 13 to go. Nothing for you to do.');
  expect(text).toContain('[###############...............]` 20 of 40 companies moved');
  const numbers = ['moving: 3', 'not moved yet: 10', 'must reconnect: 1', 'not moved: 2'];
  for (const line of [...numbers, 'left out: 4']) expect(text).toContain(`- ${line}`);
  expect(text).toMatch(
    /1\. Supply details \(client and support\): \*\*done\*\*, ended .+, approved by Sam \(support\)/,
  );
  expect(text).toContain('**Who to call:** solutions team, +44 20 7946 0018');
  expect(text).toContain('Never switch it back on in your own application');
});

test('the page shows since when someone has had to act, what to do and how', () => {
  const wait = { key: 'x', since: AT, reminders: 0, escalated: false, stopNotified: false };
  const text = detailsAt(stateAt('disable-syncing', { ...estimated, wait }));
  expect(text).toContain(`**Waiting for:** client, since ${momentText(AT)}`);
  expect(text).toContain('**What to do:** confirm that syncing is off for ');
  expect(text.split('\n')).toContain('**How:** tell solutions team, +44 20 7946 0018, who will record your decision');
});

test.each([
  ['supply-details', { preflight: preflight({ problems: ['a'], problemCodes: ['application-missing'] }) }],
  ['migrate-first-company', { counts: counts({ total: 2, waiting: 2, withoutCredential: 2 }) }],
  ['complete-migration', { counts: counts({ total: 2, moved: 1, failed: 1 }) }],
  ['complete-migration', { closed: 'completed' }],
] as const)('a client without access to the ledger is told no command that needs it: %s', (step, changes) => {
  const text = detailsAt(stateAt(step, { proposal: null, ...changes }));
  expect(text).not.toMatch(/ferry (show|report)/);
});

test('the page says which companies were not moved, and that a sign-off is final, before the client signs off', () => {
  const notMoved = counts({ total: 60, moved: 53, failed: 7, firstNotMoved: ['C-1', 'C-2'] });
  const text = detailsAt(stateAt('complete-migration', { counts: notMoved }));
  expect(text).toContain(
    '**Before you sign off:** read the handover report. Create it in the portal, or ask support for it.',
  );
  expect(text).toContain('7 companies (C-1, C-2 and 5 more) were not moved.');
  const leftOut = (changes: Partial<typeof notMoved>) =>
    detailsAt(stateAt('complete-migration', { counts: { ...notMoved, ...changes } }));
  expect(leftOut({ failed: 5, skipped: 2 })).toContain('5 more) were not moved, or were left out. The report says why');
  expect(leftOut({ failed: 0, skipped: 7 })).toContain('7 companies (C-1, C-2 and 5 more) were left out.');
  expect(text).toContain('Once both sides have signed off, no more companies can be moved');
  const signed = decideAll(
    stateAt('complete-migration', { counts: notMoved }),
    approve('complete-migration', 'client'),
  );
  expect(detailsAt(signed)).not.toContain('Before you sign off');
});

test('the page of a paused migration shows the reason of the person who paused it separately from what to do', () => {
  const pause = { reason: 'lunch', by: 'Sam', stopReason: null, at: AT };
  const lines = detailsAt(stateAt('schedule', { pause })).split('\n');
  expect(lines).toContain(`**Paused:** by Sam since ${momentText(AT)}: lunch`);
  expect(lines).toContain('**Waiting for:** client or support');
  expect(lines[0]).toBe('# Paused by Sam. No company has moved. You or support can resume the migration.');
  expect(lines).toContain(
    '**What to do:** resume the migration once the pause is no longer needed, or ask support to do so',
  );
  const closed = detailsAt(stateAt('schedule', { pause, closed: 'cancelled' }));
  expect(closed).not.toContain('lunch');
});

test('the page says that nothing has to be switched off until step 4', () => {
  expect(detailsAt(stateAt('update-application', estimated))).toContain(
    'you do not have to switch anything off before step 4',
  );
  expect(detailsAt(stateAt('disable-syncing', estimated))).not.toContain(
    'you do not have to switch anything off before step 4',
  );
});

test('the page stays below the 20 KB limit of Temporal, even if people wrote very long text', () => {
  const long = '\u{1F98A}'.repeat(100);
  const state = stateAt('complete-migration', {
    ...estimated,
    pause: { reason: long.repeat(20), by: long, stopReason: null, at: AT },
  });
  const approvals = STEPS.flatMap((step) =>
    (['client', 'support'] as const).map((role) => ({ step, role, by: long, at: AT })),
  );
  expect(Buffer.byteLength(detailsAt({ ...state, approvals }))).toBeLessThan(20_000);
  const problems = Array.from({ length: 50 }, () => long.repeat(20));
  const reconnect = Array.from({ length: 20 }, () => ({
    reference: long,
    name: long,
    url: `https://e.io/${'x'.repeat(200)}`,
  }));
  const ended = stateAt('complete-migration', { closed: 'completed', reconnect, counts: counts({ total: 9 }) });
  expect(Buffer.byteLength(detailsAt({ ...ended, approvals }))).toBeLessThan(20_000);
  const many = stateAt('supply-details', { preflight: preflight({ problems, callbackUrl: null }) });
  expect(Buffer.byteLength(detailsAt(many))).toBeLessThan(20_000);
});

test('the bar is full only if all companies have moved, and states without companies are omitted', () => {
  const almost = detailsAt(stateAt('complete-migration', { counts: counts({ total: 60, moved: 59, waiting: 1 }) }));
  expect(almost).toContain('`[#############################.]` 59 of 60 companies moved\n\n- not moved yet: 1\n\n');
  const all = detailsAt(stateAt('complete-migration', { counts: counts({ total: 60, moved: 60 }) }));
  expect(all).toContain('`[##############################]` 60 of 60 companies moved\n\n## The six steps');
});

test('the page does not ask anyone to send credentials by email', () => {
  const lacking = counts({ waiting: 9, total: 9, withoutCredential: 2, firstWithoutCredential: ['N-1', 'N-2'] });
  const text = detailsAt(stateAt('complete-migration', { counts: lacking }));
  expect(text).toContain('to go. Please supply credentials for 2 companies (N-1, N-2).');
  expect(text).toContain(
    'and send support only the sealed file; never send tokens or secrets by email, chat or phone before ferry seal has encrypted them; for help, ask',
  );
  expect(text).not.toContain('record your decision');
});

test('the page shows the problems without the names of other clients', () => {
  const found = preflight({ problems: ['used by kite.xero'], clientProblems: ['used by another client'] });
  const text = detailsAt(stateAt('supply-details', { preflight: found }));
  expect(text).toContain('- used by another client');
  expect(text).not.toContain('kite');
});

test('the page lists the problems with the supplied details, at most ten', () => {
  const problems = Array.from({ length: 12 }, (_, index) => `problem ${index}`);
  const text = detailsAt(stateAt('supply-details', { preflight: preflight({ problems }) }));
  expect(text).toContain('**What to do:** correct these details\n\n- problem 0\n- problem 1');
  expect(text).toContain('- problem 9\n- and 2 more\n');
});

test('the page shows the start and the end only while they are in the future', () => {
  const state = stateAt('update-application', estimated);
  const before = detailsAt(state);
  expect(before).toContain('**Plan:** starts at 2026-03-07 20:00 UTC and ends between 2026-03-07 20:01 UTC and ');
  expect(before).not.toContain('**Start:**');
  expect(detailsAt(decideAll(stateAt('schedule', estimated), proposeTime('client')))).toContain(
    '**Start:** 2026-03-07 20:00 UTC, proposed by Cleo (client)',
  );
  expect(before).toMatch(
    /from the moment syncing is disabled until it has been moved, up to \d+ minutes? after the start\./,
  );
  const after = detailsAt(state, { now: '2026-03-08T00:00:00.000Z' });
  expect(after).not.toContain('2026-03-07');
  expect(after).toContain(
    '**Estimated duration:** 11 s to 2 min (10 companies, at a cautiously assumed speed, because no measured speed is known for this platform',
  );
  expect(after).toContain('**Start:** as soon as everything is ready, proposed by Sam (support)');
});

test('while companies move, the page says how much time remains, and when that was estimated', () => {
  const moving = stateAt('complete-migration', {
    ...{ ...estimated, counts: counts({ total: 60, moved: 20, waiting: 40 }) },
    throughput: { moved: 20, withinMs: 120_000 },
  });
  expect(detailsAt(moving)).toContain(
    '**Time left:** about 4 min, as of 2026-03-02 10:00 UTC (40 companies, at the current rate)',
  );
  const lacking = { ...moving, counts: { ...moving.counts, withoutCredential: 20 } };
  expect(detailsAt(lacking)).toContain(
    '**Time left:** about 2 min, as of 2026-03-02 10:00 UTC (20 companies that are moving or can be moved, at the current rate)',
  );
  const deferring = { ...moving, counts: { ...moving.counts, deferred: 20 } };
  expect(detailsAt(deferring)).toContain(
    '(20 companies that are moving or can be moved, apart from deferred companies, at the current rate)',
  );
  const slow = { ...moving, throughput: { moved: 20, withinMs: 7_200_000 } };
  expect(detailsAt(slow)).toContain('**Expected end:** ends at 2026-03-02 14:00 UTC, as of 2026-03-02 10:00 UTC');
  const onHold = { ...moving, outage: { why: 'x', since: AT, until: '2026-03-02T10:20:00.000Z' } };
  expect(detailsAt(onHold)).not.toMatch(/Time left|Expected end/);
  expect(detailsAt(onHold)).toContain('**Estimated duration:** 44 s to');
});

test('between two windows, the page says when the moves continue', () => {
  const state = stateAt('complete-migration', { ...estimated, counts: counts({ total: 10, moved: 5, waiting: 5 }) });
  const windows = [{ days: ['sun'], from: '22:00', to: '23:30', timeZone: 'UTC' }] as const;
  expect(detailsAt({ ...state, limits: { ...state.limits, windows: [...windows] } })).toContain(
    '**Plan:** continues at 2026-03-08 22:00 UTC and ends ',
  );
});

test('the page promises no moves in a further window if the windows were paused during a batch run', () => {
  const windows = [{ days: ['mon'], from: '08:00', to: '10:02', timeZone: 'UTC' }] as const;
  const state = stateAt('complete-migration', {
    ...{ ...estimated, counts: counts({ total: 60, moved: 20, waiting: 40 }) },
    throughput: { moved: 20, withinMs: 120_000 },
  });
  const open = { ...state, limits: { ...state.limits, windows: [...windows] } };
  expect(detailsAt(open)).toMatch(/^\*\*Expected end:.*moves continue 2026-03-09 08:00 UTC$/m);
  const paused = detailsAt({ ...open, noFurtherWindow: true });
  expect(paused).not.toMatch(/Expected end|Time left|moves continue/);
  expect(paused).toContain(
    'The windows are paused: no move begins after 2026-03-02 10:02 UTC until support resumes them.',
  );
});

test.each(SITUATIONS)('the page promises nothing for a time that has passed: %s', (_, state) => {
  const text = detailsAt(state, { now: '2027-01-01T00:00:00.000Z' });
  expect(text).toContain('\n\nWritten at 2027-01-01 00:00 UTC. ');
  const promises = text
    .split('\n')
    .filter((line) => /^\*\*(Plan|Start|Expected end|Estimated duration|What)|out of date/.test(line));
  expect(promises.join('\n')).not.toMatch(/2026-/);
});

test('names, reasons and the contact cannot become markup', () => {
  const link = '[Go](http://e.io)';
  const pause = { reason: link, by: link, stopReason: null, at: AT };
  const ended = {
    closed: 'completed',
    reconnect: [{ reference: link, name: link, url: 'javascript:[a](b)' }],
  } as const;
  for (const changes of [{ pause }, ended]) {
    const state = { ...stateAt('complete-migration', estimated), ...changes };
    const text = detailsAt(state, { contact: link });
    expect(text).toContain('\\[Go\\](http\\://e.io)');
    expect(text).not.toMatch(/(?<!\\)\[(Go|a)/);
  }
});

test('text with line breaks cannot forge a line of the page', () => {
  const forged = 'lunch\n\n# QuickBooks Online: completed';
  const text = detailsAt(stateAt('schedule', { pause: { reason: forged, by: 'Sam', stopReason: null, at: AT } }));
  expect(text.split('\n').filter((line) => line.startsWith('# '))).toEqual([
    '# Paused by Sam. No company has moved. You or support can resume the migration.',
  ]);
});

test('the page of a migration with windows says what happens after the window has closed', () => {
  const windows = [{ days: ['mon', 'tue'], from: '22:00', to: '23:30', timeZone: 'UTC' }] as const;
  const planned = stateAt('disable-syncing', { ...estimated });
  const proposal = { startAt: '2026-03-02T22:00:00.000Z', by: 'Sam', role: 'support', at: AT } as const;
  const state = { ...planned, proposal, limits: { ...planned.limits, windows: [...windows] } };
  expect(detailsAt(state)).toContain(
    '**Deadline:** the window closes at 2026-03-02 23:30 UTC. If anything is still missing at that time, moves cannot begin before the next window, at 2026-03-03 22:00 UTC. If syncing of a company is off, its data is out of date until the company has moved.',
  );
  expect(detailsAt({ ...state, limits: planned.limits })).not.toContain('Deadline');
});

test('an end whose earliest and latest times are equal is shown as one time', () => {
  expect(endText('22:31', '22:31')).toBe('ends at 22:31');
  expect(endText('22:31', '22:40')).toBe('ends between 22:31 and 22:40');
});

test('the page does not say that data is up to date: the service can sync it on request only, or not at all', () => {
  const all = { counts: counts({ total: 3, moved: 3 }) };
  const broughtUpToDate =
    'the data of all companies that were moved was brought up to date when they moved. The handover report says how often the service syncs each company.';
  const notReplaced = detailsAt(stateAt('complete-migration', all));
  expect(notReplaced).toContain(broughtUpToDate);
  const signOff = detailsAt(stateAt('complete-migration', { ...all, replacedApplication: 2 }));
  expect(notReplaced + signOff).not.toContain('is up to date');
  expect(signOff).toMatch(/\*\*Before you sign off:\*\* .*The data of 2 companies goes out of date/);
  const ended = detailsAt(stateAt('complete-migration', { ...all, replacedApplication: 1, closed: 'completed' }));
  expect(ended).toContain(
    `${broughtUpToDate} The data of 1 company goes out of date, because the application with which it was connected was replaced. The handover report names it, and says what to do.`,
  );
});
