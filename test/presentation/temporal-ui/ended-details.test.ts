/** Tests the page of a migration that has ended. */
import { momentText } from '../../../domain/text/sentences';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { counts, decideAll, LATER, stateAt } from '../../support/migrations/migration-states';
import { detailsAt, estimated } from './details-page';

test('the page of a cancelled migration says who cancelled it and why, and which steps were not reached', () => {
  const lines = detailsAt(
    decideAll(stateAt('schedule', estimated), { kind: 'cancel', role: 'client', reason: 'wrong manifest' }),
  ).split('\n');
  expect(lines).toContain(`**Cancelled:** by Cleo (client) at ${momentText(LATER)}: wrong manifest`);
  expect(lines.find((line) => line.startsWith('2.'))).toContain('**ended here**');
  expect(lines.find((line) => line.startsWith('3.'))).toContain('not reached');
});

test.each<[string, Partial<MigrationState>, string]>([
  [
    'if all companies were moved',
    { closed: 'completed', counts: counts({ total: 2, moved: 2 }) },
    'every company was moved, and its syncing must stay off',
  ],
  [
    'if one company was not moved',
    { closed: 'completed', counts: counts({ total: 2, moved: 1, failed: 1 }) },
    'in the handover report',
  ],
  [
    'if it was cancelled',
    { closed: 'cancelled' },
    'you may switch syncing back on for companies whose access was not handed over to us. Never switch',
  ],
  [
    'if it was cancelled',
    { closed: 'cancelled' },
    'if syncing is off for a company that was not moved, its data stays out of date until you switch syncing back on in your own application, or until its end customer reconnects. The handover report says for which companies you may switch syncing back on.',
  ],
])(
  'after the migration has ended, the page says what may be switched back on and whose data is out of date: %s',
  (_, changes, text) => {
    expect(detailsAt(stateAt('complete-migration', { ...estimated, ...changes }))).toContain(text);
  },
);

test('the page of a finished migration shows 20 links to reconnect, the report, and what support has accepted', () => {
  const reconnect = Array.from({ length: 20 }, (_, index) => ({
    ...{ reference: `R-${index}`, name: 'A_B Ltd', url: `https://link.example/connect/${index}?a=1&b=2` },
  }));
  const failed = counts({ total: 60, moved: 32, failed: 28, mustReconnect: 25 });
  const text = detailsAt(stateAt('complete-migration', { closed: 'completed', counts: failed, reconnect }));
  expect(text).toContain(
    '- R-19, A\\_B Ltd: https://link.example/connect/19?a=1&b=2\n- and 5 more in the handover report',
  );
  expect(text).toContain(
    '**Handover report:** create it in the portal if you have a link to it, or ask solutions team, +44 20 7946 0018 for it. It lists every company.',
  );
  expect(text).toContain('- not moved, which support has accepted: 3');
  expect(text).not.toContain('What to do');
});

test('the page of a migration that has just ended says that the links to reconnect follow', () => {
  const justEnded = {
    closed: 'completed',
    counts: counts({ total: 9, moved: 8, failed: 1, mustReconnect: 1 }),
  } as const;
  const text = detailsAt(stateAt('complete-migration', justEnded));
  expect(text).toContain('1 company must reconnect: please send its end customer the link.');
  expect(text).toContain('## Links to reconnect\n\nThe links are being collected. Reload this page in a minute.');
  const collected = detailsAt(stateAt('complete-migration', { ...justEnded, reconnect: [] }));
  expect(collected).not.toContain('being collected');
});
