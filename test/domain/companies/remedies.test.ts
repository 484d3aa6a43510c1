import { acceptedSupplies } from '../../../domain/companies/credential-state';
import { COMPANY_STATES, isOpen, NOT_CHECKED, type CompanyState } from '../../../domain/companies/company-state';
import { FAILURE_KINDS, type FailureKind } from '../../../domain/companies/failures';
import {
  acceptedRemedies,
  remediesFor,
  remedyText,
  type Remediable,
  type Remedy,
} from '../../../domain/companies/remedies';

const company = (changes: Partial<Remediable>): Remediable => ({
  state: 'failed',
  failure: null,
  linkUrl: 'https://link.example/1',
  heldBack: null,
  deferred: false,
  tries: 0,
  credential: null,
  confirmedAt: null,
  crossedAt: null,
  ...changes,
});

test.each<[FailureKind, readonly Remedy[]]>([
  ['reauthorization-required', ['relink', 'replace-credential', 'retry', 'skip']],
  ['application-refused', ['replace-credential', 'application', 'retry', 'relink', 'skip']],
  ['wrong-organization', ['replace-credential', 'relink', 'retry', 'skip']],
  ['credential-unreadable', ['replace-credential', 'retry', 'skip']],
  ['refused', ['retry', 'replace-credential', 'skip']],
  ['incomplete', ['retry', 'amend', 'replace-credential', 'skip']],
  ['sync-failed', ['retry', 'replace-credential', 'skip']],
  ['sync-timed-out', ['retry', 'replace-credential', 'skip']],
])('a company that failed with %s has the remedies %j, in this order', (failure, remedies) => {
  expect(remediesFor(company({ failure }))).toEqual(remedies);
});

test('a retry is not a remedy once the grant of an accepted credential has ended, unless there is no link', () => {
  const ended = company({ failure: 'reauthorization-required', crossedAt: new Date() });
  expect(remediesFor(ended)).toEqual(['relink', 'replace-credential', 'skip']);
  expect(acceptedRemedies(ended, { route: 'self-service', isCompleting: true, isFirst: false })).not.toContain('retry');
  expect(remediesFor({ ...ended, linkUrl: null })).toContain('retry');
});

test('relink is offered only with a link', () => {
  const failure = 'reauthorization-required';
  expect(remediesFor(company({ failure, linkUrl: null }))).toEqual(['replace-credential', 'retry', 'skip']);
  expect(remediesFor(company({ state: 'outcome-unknown', linkUrl: null }))).not.toContain('relink');
});

test('a company that has failed or has an unknown outcome can always be retried, given a new credential or skipped', () => {
  for (const state of ['failed', 'outcome-unknown'] as const) {
    expect(remediesFor(company({ state }))).toEqual(expect.arrayContaining(['retry', 'replace-credential', 'skip']));
  }
});

test('a waiting company can be left out, and can also be corrected if it is held back', () => {
  expect(remediesFor(company({ state: 'waiting' }))).toEqual(['exclude']);
  expect(remediesFor(company({ state: 'waiting', heldBack: 'its name is empty' }))).toEqual(['amend', 'exclude']);
});

test('a company whose row is not checked yet has no remedies, because nothing is wrong with it', () => {
  expect(remediesFor(company({ state: 'waiting', heldBack: NOT_CHECKED }))).toEqual([]);
});

test('a confirmed company without a usable credential can be given one, before it is left out', () => {
  const confirmed = company({ state: 'waiting', confirmedAt: new Date() });
  expect(remediesFor({ ...confirmed, credential: 'missing' })).toEqual(['credentials', 'exclude']);
  expect(remediesFor({ ...confirmed, credential: 'too-early' })).toEqual(['credentials', 'exclude']);
  expect(remediesFor({ ...confirmed, credential: 'supplied' })).toEqual(['exclude']);
  expect(remediesFor({ ...confirmed, credential: 'missing', confirmedAt: null })).toEqual(['exclude']);
  expect(remediesFor({ ...confirmed, credential: 'missing', heldBack: 'empty' })).toEqual(['amend', 'exclude']);
});

test('a company that waits for its next try can be given a new credential, skipped or left out', () => {
  const retried = company({ state: 'waiting', confirmedAt: new Date(), credential: 'supplied', tries: 1 });
  expect(remediesFor(retried)).toEqual(['replace-credential', 'skip', 'exclude']);
  expect(remediesFor({ ...retried, credential: 'missing' })).toEqual(['credentials', 'exclude']);
  expect(remediesFor({ ...retried, heldBack: 'its name is empty' })).toEqual(['amend', 'exclude']);
});

test('a deferred company can be retried now, given a new credential, skipped or left out', () => {
  const deferred = company({ state: 'waiting', deferred: true, tries: 2 });
  expect(remediesFor(deferred)).toEqual(['retry', 'replace-credential', 'skip', 'exclude']);
  expect(remediesFor({ ...deferred, failure: 'application-refused' })).toEqual([
    ...['credentials', 'application', 'retry', 'skip', 'exclude'],
  ]);
  // Before step 6, at most first companies have moved with the application, so it is probably wrong.
  const step5 = { route: 'managed', isCompleting: false, isFirst: true } as const;
  expect(acceptedRemedies({ ...deferred, failure: 'application-refused' }, step5)).toEqual([
    ...['application', 'credentials', 'exclude'],
  ]);
});

test('a deferred company without a usable credential is given one before it is retried', () => {
  const deferred = company({ state: 'waiting', deferred: true, tries: 2, confirmedAt: new Date() });
  for (const credential of ['missing', 'too-early'] as const)
    expect(remediesFor({ ...deferred, credential })).toEqual(['credentials', 'retry', 'skip', 'exclude']);
  expect(remediesFor({ ...deferred, credential: 'supplied' })[0]).toBe('retry');
});

test.each<[CompanyState]>([['importing'], ['syncing'], ['moved'], ['skipped'], ['excluded']])(
  'a company that is %s has no remedies',
  (state) => expect(remediesFor(company({ state }))).toEqual([]),
);

test('an open company that is not moving can always be skipped or left out', () => {
  for (const state of COMPANY_STATES.filter(isOpen)) {
    if (state === 'importing' || state === 'syncing') continue;
    const remedies = remediesFor(company({ state }));
    expect(remedies.some((remedy) => remedy === 'skip' || remedy === 'exclude')).toBe(true);
    expect(remedies.map((each) => remedyText(each, remedies)).every((text) => text.length > 0)).toBe(true);
  }
});

test('before step 6, a managed migration accepts only what does not need step 6', () => {
  const failed = company({ failure: 'reauthorization-required' });
  const retried = { ...company({ state: 'waiting' }), tries: 1 };
  const step5 = { route: 'managed', isCompleting: false, isFirst: false } as const;
  expect(acceptedRemedies(failed, step5)).toEqual(['replace-credential']);
  expect(acceptedRemedies(failed, { ...step5, isFirst: true })).toEqual(['replace-credential', 'retry']);
  expect(acceptedRemedies(retried, { ...step5, isFirst: true })).toEqual(['credentials', 'exclude']);
  for (const rules of [{ ...step5, isCompleting: true }, { ...step5, route: 'self-service' } as const]) {
    expect(acceptedRemedies(failed, rules)).toEqual(remediesFor(failed));
    expect(acceptedRemedies(retried, rules)).toEqual(remediesFor(retried));
  }
});

test('a corrected number of invoices is followed by a retry only if the migration accepts one', () => {
  const incomplete = company({ failure: 'incomplete' });
  const step5 = { route: 'managed', isCompleting: false, isFirst: false } as const;
  const text = (rules: Parameters<typeof acceptedRemedies>[1], of = incomplete) =>
    remedyText('amend', acceptedRemedies(of, rules));
  for (const rules of [
    { ...step5, isFirst: true },
    { ...step5, isCompleting: true },
    { ...step5, route: 'self-service' } as const,
  ])
    expect(text(rules)).toMatch(/ was wrong, retry afterwards\)$/);
  expect(text(step5)).toMatch(/ was wrong, retry in step 6; in step 5, only the first company can be retried\)$/);
  expect(text(step5, company({ state: 'waiting', heldBack: 'no name' }))).toBe('correct the row in the manifest');
});

test('a remedy supplies a credential only with a message whose credential the company accepts', () => {
  const facts = COMPANY_STATES.flatMap((state) =>
    [null, ...FAILURE_KINDS].flatMap((failure) =>
      [null, 'its name is empty'].flatMap((heldBack) =>
        [0, 1].flatMap((tries) => [true, false].map((deferred) => ({ state, failure, heldBack, tries, deferred }))),
      ),
    ),
  );
  for (const each of facts) {
    const remedies = remediesFor(company(each));
    const accepted = acceptedSupplies(each);
    // The handover report, which tells the client only about the first remedy, has no text for this one.
    expect([each, remedies[0]]).not.toEqual([each, 'application']);
    expect([each, remedies.includes('credentials') && !accepted.includes('credentialsSupplied')]).toEqual([
      each,
      false,
    ]);
    expect([each, remedies.includes('replace-credential') && !accepted.includes('replaceCredential')]).toEqual([
      each,
      false,
    ]);
    if (each.state !== 'waiting')
      expect([each, remedies.includes('replace-credential')]).toEqual([each, accepted.length > 0]);
  }
});
