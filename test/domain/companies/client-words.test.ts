import { inClientWords } from '../../../domain/companies/client-words';
import { companyOf } from '../../../portal/server/companies';

const REFUSED = 'the service refused a request or could not link the connection';
const BAD_REQUEST =
  'POST /companies: answered 400 The name is too long; choose another (from PublicApi, correlation id 0af1)';

test.each([
  [`${REFUSED} (${BAD_REQUEST})`, `${REFUSED} (The name is too long; choose another)`],
  [BAD_REQUEST, 'The name is too long; choose another'],
  ['GET /companies/…/dataStatus: answered 409 not ready (correlation id 0af1)', 'not ready'],
  ['PUT /x: answered 503 Maintenance (from PublicApi)', 'the Company Data Service has a technical problem'],
  [
    'GET /account: answered 404; the answer is not from the service, but probably from a proxy: page not found',
    'the Company Data Service has a technical problem',
  ],
  [
    'GET /account: answered 404, not from the service (probably a proxy): page not found',
    'the Company Data Service has a technical problem',
  ],
  ['GET /account: answered 400 {"error": "x"}', 'the Company Data Service has a technical problem'],
  ['GET /account: answered 200 with a body that is not JSON', 'the Company Data Service has a technical problem'],
  ['GET /account: answered 401 unknown key', 'the Company Data Service refuses access'],
  [
    'POST /companies: answered 402 CompanyValidationException: Company limit exceeded (correlation id 0af1)',
    'the account at the Company Data Service has reached a limit or has expired',
  ],
  ['GET /account: answered 429 slowly (from PublicApi)', 'the Company Data Service is limiting the number of requests'],
  [
    "PUT /x: not sent, because the service's rate limit was reached; the next request can be sent after 2030-01-06T21:00:00.000Z",
    'the Company Data Service is limiting the number of requests',
  ],
  ['POST /x: could not connect: connect ECONNREFUSED 127.0.0.1:8100', 'the Company Data Service did not answer'],
  ['PUT /x: no complete response arrived within 60000 ms', 'the Company Data Service did not answer'],
  [
    'GET /x: not valid HTTP: Response does not match the HTTP/1.1 protocol',
    'the Company Data Service has a technical problem',
  ],
  ['GET /x: the response is longer than 16777216 bytes', 'the Company Data Service has a technical problem'],
  ['GET /x: the list has more than 10000 pages', 'the Company Data Service has a technical problem'],
  [
    `${REFUSED} (PUT /x: the connection broke: other side closed)`,
    `${REFUSED} (the Company Data Service did not answer)`,
  ],
])('%s: the client reads %s', (text, expected) => {
  expect(inClientWords(text)).toBe(expected);
});

test.each([
  'must reconnect: the authorization no longer works (the refresh token has already been used)',
  'a data set could not be synced (invoices: 3 of 400 records)',
  'no credential',
])('%s: the client reads this text unchanged', (text) => {
  expect(inClientWords(text)).toBe(text);
});

test.each([
  ['this', REFUSED],
  ['an earlier', 'the service refused the company or its details'],
])('the portal shows no technical text of a failed call in a text that %s version stored', (_, refused) => {
  const company = {
    ...{ row: 1, reference: 'C-1', name: 'One', wave: null, state: 'failed', failure: 'refused' },
    ...{ failureText: `${refused} (${BAD_REQUEST})`, heldBack: null, leftOutReason: null, credential: 'supplied' },
    ...{ confirmedAt: null, movedAt: null, isDeferred: false, retryAt: null, linkUrl: null, crossedAt: null },
  } as unknown as Parameters<typeof companyOf>[0];
  expect(companyOf(company, null).problem).toBe(`${refused} (The name is too long; choose another)`);
});
