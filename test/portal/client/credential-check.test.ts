/** The check of a credential file before it is sent, with the rows of the portal's API. */
import type { CompanyState } from '../../../domain/companies/company-state';
import type { Company } from '../../../portal/client/api';
import { refusedCredentials } from '../../../portal/client/credential-check';
import { companyOf } from '../../../portal/server/companies';
import { WAITING_ROW as ROW } from '../sample-row';
import { wrongStateText } from '../../../presentation/wording/credential-refusals';

function refusalOf(company: Company, replaces: boolean): string | undefined {
  const offered = { reference: 'C-1', obtainedAt: '2026-11-20T11:00:00.000Z' };
  const [refused] = refusedCredentials([offered], new Map([['C-1', company]]), { isRotating: true, replaces });
  return refused?.why;
}

const bothWays = (company: Company) => [refusalOf(company, false), refusalOf(company, true)];

test.each([
  ['was retried', { tries: 1 }],
  ['was deferred', { tries: 2, isDeferred: true, failureText: 'the service did not answer' }],
  ['was interrupted and has no credential', { tries: 1, credential: 'missing' as const }],
])('a waiting company that %s accepts a supplied and a replaced credential', (_, changes) => {
  expect(bothWays(companyOf({ ...ROW, ...changes }, null))).toEqual([undefined, undefined]);
});

test.each([
  ['was not tried yet', { tries: 0 }],
  ['is held back', { tries: 1, heldBack: 'its name is empty' }],
])('a waiting company that %s accepts only a supplied credential', (_, changes) => {
  expect(bothWays(companyOf({ ...ROW, ...changes }, null))).toEqual([undefined, wrongStateText('waiting', true)]);
});

test.each<CompanyState>(['failed', 'outcome-unknown'])('a company that is %s accepts only a replacement', (state) => {
  expect(bothWays(companyOf({ ...ROW, state, tries: 1 }, null))).toEqual([wrongStateText('failed', false), undefined]);
});

test.each<CompanyState>(['importing', 'syncing', 'moved', 'skipped', 'excluded'])(
  'a company that is %s accepts no credential',
  (state) => {
    const why = wrongStateText(state, false);
    expect(bothWays(companyOf({ ...ROW, state, tries: 1 }, null))).toEqual([why, why]);
  },
);

test('a company of a migration that has ended accepts no credential', () => {
  expect(companyOf({ ...ROW, hasEnded: true }, null).accepts).toEqual([]);
  expect(companyOf({ ...ROW, state: 'waiting', tries: 0, hasEnded: true }, null).problem).toBe(
    'the migration ended before the company was moved',
  );
});

test('with the rows of an older portal, the worker decides about companies that are not moved yet', () => {
  const { accepts: _, ...older } = companyOf({ ...ROW, tries: 1 }, null);
  expect(bothWays(older)).toEqual([undefined, undefined]);
  expect(bothWays({ ...older, state: 'not-moved' })).toEqual([wrongStateText('failed', false), undefined]);
  expect(bothWays({ ...older, state: 'moved' })).toEqual(bothWays(companyOf({ ...ROW, state: 'moved' }, null)));
});
