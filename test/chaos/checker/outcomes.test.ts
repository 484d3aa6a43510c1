import type { RowFacts, Send } from '../../../chaos/checker/facts';
import { checkOutcomes } from '../../../chaos/checker/outcomes';
import type { ServiceConnection } from '../../../chaos/checker/service';

const CONNECTION: ServiceConnection = {
  ...{ id: 'c-1', companyId: 'k-1', platformKey: 'vxvy', status: 'PendingAuth', organizationId: null, errors: [] },
  ...{ acceptedDigest: null, exchangePending: false, dataTypes: 7, incomplete: 7, syncErrors: false },
  ...{ authErrors: false, invoices: 0 },
};
const SENT: Send = {
  ...{ at: 0, connectionId: 'c-1', body: 'b-1', forwarded: true, delivered: true, status: 200 },
};
const USED = [{ sha256: 't-1', platformKey: 'vxvy', usedByService: true }];

function factsOf(row: Partial<RowFacts['row']>, changes: Partial<RowFacts> = {}): RowFacts {
  const connections = changes.connections ?? [CONNECTION];
  return {
    row: {
      ...{ migration: 'acme.freshbooks', row: 1, reference: 'R-1', platformKey: 'vxvy', organization: 'o-1' },
      ...{ state: 'waiting', failure: null, expectedInvoices: 2, confirmedAt: new Date(0), companyId: 'k-1' },
      ...{
        connectionId: 'c-1',
        claimedAt: null,
        sentAt: null,
        sentAgain: false,
        crossedAt: null,
        existedBefore: false,
      },
      ...row,
    },
    migration: {
      ...{ id: 'acme.freshbooks', route: 'managed', platformKey: 'vxvy', state: 'open', ending: null, windows: [] },
    },
    ...{ companies: [], own: connections[0], tokens: [], platformTokens: [], sends: [] },
    ...changes,
    connections,
  };
}

const namedIn = (facts: RowFacts) => checkOutcomes([facts]).violations.map(({ invariant }) => invariant);
const refusedBy = (statusText: string) => [
  { ...CONNECTION, errors: [{ statusText, errorMessage: 'refused', status: 'Active' }] },
];
const MUST_RECONNECT = { state: 'failed', failure: 'reauthorization-required' };

it('accepts a company that must reconnect if the platform has refused its grant', () => {
  expect(namedIn(factsOf(MUST_RECONNECT, { connections: refusedBy('GrantRefused') }))).toEqual([]);
});

it('names a company that must reconnect if the platform was only unavailable', () => {
  const connections = refusedBy('PlatformUnavailable');
  expect(namedIn(factsOf(MUST_RECONNECT, { connections, sends: [SENT] }))).toEqual(['outcome']);
});

it('accepts a company that must reconnect if a restored service has forgotten its authorization', () => {
  expect(namedIn(factsOf(MUST_RECONNECT, { sends: [SENT] }))).toEqual([]);
  expect(namedIn(factsOf(MUST_RECONNECT, { sends: [{ ...SENT, connectionId: 'before-the-restore' }] }))).toEqual([]);
});

it('names as lost a used token whose company is not linked, unless it can still be recovered', () => {
  const sentAt = new Date(0);
  expect(namedIn(factsOf(MUST_RECONNECT, { platformTokens: USED, sends: [SENT] }))).toEqual(['lost']);
  expect(namedIn(factsOf({ state: 'importing', sentAt }, { platformTokens: USED }))).toEqual([]);
  expect(namedIn(factsOf({ state: 'waiting', sentAt }, { platformTokens: USED }))).toEqual([]);
  expect(namedIn(factsOf({ state: 'waiting' }, { platformTokens: USED }))).toEqual(['lost']);
});

it.each([
  ['was not used', {}, ['unknown']],
  [
    'continues the exchange',
    { connections: [{ ...CONNECTION, exchangePending: true }], platformTokens: USED },
    ['unknown'],
  ],
  ['has no connection', { connections: [], platformTokens: USED }, []],
  ['has refused', { connections: refusedBy('GrantRefused') }, []],
] as const)('says of an unknown outcome that its token %s', (truth, changes, named) => {
  const facts = factsOf({ state: 'outcome-unknown' }, changes);
  expect(checkOutcomes([facts]).unknown).toMatchObject([{ truth: expect.stringContaining(truth) as string }]);
  expect(namedIn(facts)).toEqual(named);
});

it('names an open row of a completed migration', () => {
  const migration = { ...factsOf({}).migration, state: 'closed', ending: 'completed' };
  expect(namedIn(factsOf({ state: 'outcome-unknown' }, { migration }))).toEqual(['outcome']);
});
