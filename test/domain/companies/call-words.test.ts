/** Tests how failed calls are put into words for support. */
import { companyIdsIn, inSupportWords } from '../../../domain/companies/call-words';

const ID = '0e5a3a5c-3a3f-4c5f-9a55-0a4c1c1f7d11';
const CONNECTION = `/v2/companies/${ID}/connections/7d11aaaa-3a3f-4c5f-9a55-0a4c1c1f7d11`;

test.each([
  [
    'GET /account: answered 503 Maintenance (from PublicApi, correlation id 0af1)',
    'could not read the account: the service answered 503: Maintenance (correlation id 0af1)',
  ],
  [
    'GET /v2/companies: answered 500 Oops (from PublicApi)',
    'could not list the companies at the service: the service answered 500: Oops',
  ],
  [
    'POST /companies: could not connect: connect ECONNREFUSED 127.0.0.1:8100',
    'could not create a company: the service cannot be reached: connect ECONNREFUSED 127.0.0.1:8100',
  ],
  [
    `GET ${CONNECTION}: no complete response arrived within 60000 ms`,
    'could not read the connection of C-7: no answer within 60 s',
  ],
  [
    `the service refused a request or could not link the connection (PUT ${CONNECTION}/authorization: answered 400 The token is used)`,
    'the service refused a request or could not link the connection (could not hand over the credential of C-7: the service answered 400: The token is used)',
  ],
  [
    `PUT ${CONNECTION}/authorization: no complete response arrived within 30000 ms`,
    'the attempt to hand over the credential of C-7 had no clear outcome: no answer within 30 s',
  ],
  [
    'POST /companies: answered 503 Maintenance (from PublicApi)',
    'the attempt to create a company had no clear outcome: the service answered 503: Maintenance',
  ],
  [
    'POST /companies: answered 404; the answer is not from the service, but probably from a proxy: page not found',
    'the attempt to create a company had no clear outcome: an answer that is not from the service, but probably from a proxy, says 404: page not found',
  ],
  [
    'POST /companies: answered 200 with a body that is not JSON',
    'the attempt to create a company had no clear outcome: the service answered 200 with a body that is not JSON',
  ],
  [
    'POST /companies: the connection broke: socket hang up',
    'the attempt to create a company had no clear outcome: the connection broke: socket hang up',
  ],
  // A 429 means in any form that the call had no effect.
  [
    'POST /companies: answered 429; the answer is not from the service, but probably from a proxy: slow down',
    'could not create a company: an answer that is not from the service, but probably from a proxy, says 429: slow down',
  ],
  [
    "POST /companies: not sent, because the service's rate limit was reached; the next request can be sent after 2030-01-06T21:00:00.000Z",
    "could not create a company: not sent, because the service's rate limit was reached; the next request can be sent after 2030-01-06 21:00 UTC",
  ],
  [
    'GET /account: answered 404; the answer is not from the service, but probably from a proxy: page not found',
    'could not read the account: an answer that is not from the service, but probably from a proxy, says 404: page not found',
  ],
  // An earlier version wrote this text, which the ledger can still contain.
  [
    'GET /account: answered 404, not from the service (probably a proxy): page not found',
    'could not read the account: an answer that is not from the service, but probably from a proxy, says 404: page not found',
  ],
  [
    "GET /account: not sent, because the service's rate limit was reached; the next request can be sent after 2030-01-06T21:00:00.000Z",
    "could not read the account: not sent, because the service's rate limit was reached; the next request can be sent after 2030-01-06 21:00 UTC",
  ],
  [
    'GET /account: answered 429 and asks for a retry after 2030-01-06T21:00:00.000Z',
    'could not read the account: the service answered 429, and asks for a retry after 2030-01-06 21:00 UTC',
  ],
  [
    'GET /account: answered 200 with a body that is not JSON',
    'could not read the account: the service answered 200 with a body that is not JSON',
  ],
  [
    'GET /companies/…/dataStatus: answered 409 not ready',
    'could not read the progress of the sync of a company: the service answered 409: not ready',
  ],
  [
    'DELETE /something/else: answered 500 x',
    'the attempt to make a call had no clear outcome: the service answered 500: x',
  ],
  ['DELETE /something/else: answered 400 x', 'could not make a call: the service answered 400: x'],
  ['The vault was encrypted under another key', 'The vault was encrypted under another key'],
])('%s', (text, words) => {
  expect(inSupportWords(text, (id) => (id === ID ? 'C-7' : null))).toBe(words);
});

test('finds the companies of calls by their ids at the service', () => {
  expect(companyIdsIn(`GET ${CONNECTION}: answered 503 x`)).toEqual([ID]);
  expect(companyIdsIn('GET /companies/…/dataStatus: answered 503 x')).toEqual([]);
  expect(companyIdsIn('the service is down')).toEqual([]);
});
