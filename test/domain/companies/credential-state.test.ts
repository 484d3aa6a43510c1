/** Tests which companies can move first, and the reasons that support and the client read for the others. */
import type { CompanyState } from '../../../domain/companies/company-state';
import { firstNotReadyForSupport, firstNotReadyText } from '../../../domain/companies/credential-state';

const of = (state: CompanyState, confirmedAt: Date | null = new Date()) =>
  firstNotReadyText({ state, confirmedAt, heldBack: null, credential: state === 'waiting' ? 'supplied' : null });

test.each(['waiting', 'failed', 'outcome-unknown', 'importing', 'syncing', 'moved'] as const)(
  'a company that is %s can go first, because it is tried or checked again',
  (state) => expect(of(state)).toBeNull(),
);

test.each(['waiting', 'failed', 'outcome-unknown'] as const)('a company that is %s needs a confirmation', (state) =>
  expect(of(state, null)).toBe('the client has not confirmed that syncing is off'),
);

test.each(['excluded', 'skipped'] as const)('a company that is %s cannot go first', (state) =>
  expect(of(state)).toBe('it was left out'),
);

test('only support reads the names of other clients in the reason why a company cannot go first', () => {
  const heldBack = '"1" is already part of another open migration; leave this company out, or ask support';
  const heldBackDetails = '"1" is already part of migration other.xero';
  const company = { state: 'waiting', confirmedAt: null, credential: 'missing', heldBack } as const;
  expect(firstNotReadyText(company)).toBe(heldBack);
  expect(firstNotReadyForSupport({ ...company, heldBackDetails })).toBe(heldBackDetails);
  expect(firstNotReadyForSupport({ ...company, heldBackDetails: null })).toBe(heldBack);
  const missing = { ...company, heldBack: null, heldBackDetails: null };
  expect(firstNotReadyForSupport(missing)).toBe('the client has not confirmed that syncing is off');
});
