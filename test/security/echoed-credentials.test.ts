/**
 * A service that echoes credentials in its responses. Output, ledger rows and log lines must not contain these
 * credentials.
 */
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { withTypedFailures } from '../../activities/typed-failures';
import { createCompanyDataClient, type CompanyDataClient } from '../../company-data-client';
import { Secret } from '../../security';
import { createLog } from '../../security/log';
import {
  CORRELATION_ID,
  startMisbehavingService,
  type MisbehavingService,
  type Reply,
} from '../company-data-client/misbehaving-service';
import { useImportRig } from '../support/migrations/company-import';
import { alterBody } from '../support/faults/http-proxy';
import { readRow } from '../support/migrations/ledger';

const random = (): string => randomBytes(20).toString('base64');
const KEY = random();
/** Contains characters that JSON and URLs escape. */
const ACCESS = `1//${random()}"${random()}`;
const REFRESH = `${random()}+/=${random()}`;

const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'escaped as in JSON': (text) => JSON.stringify(JSON.stringify(text)),
  'as in a URL': (text) => `https://a.example/cb?token=${encodeURIComponent(text)}`,
  'in base64': (text) => Buffer.from(text).toString('base64'),
};
type Place =
  | 'the error'
  | 'an error of another form'
  | 'a validation error'
  | 'headers'
  | 'an HTML page'
  | 'a redirect'
  | 'a success';
const PLACES: readonly [number, Place][] = [
  [400, 'the error'],
  [400, 'an error of another form'],
  [400, 'a validation error'],
  [500, 'the error'],
  [500, 'headers'],
  [502, 'an HTML page'],
  [302, 'a redirect'],
  [200, 'a success'],
];
const CASES = PLACES.flatMap(([status, place]) => Object.keys(ENCODINGS).map((form) => [status, place, form] as const));

/** Echoes the secrets of the request: the API key and the values of the body. */
const echo =
  (status: number, place: Place, form: string): Reply =>
  (response, { headers, body }) => {
    const sent = [headers.authorization ?? '', ...Object.values(JSON.parse(body) as Record<string, string>)];
    const text = `cannot use ${sent.map(ENCODINGS[form] ?? String).join(' or ')}`;
    const answer = responseWith(status, place, text);
    response.writeHead(status, { 'content-type': 'application/json', ...answer.headers });
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  };

function responseWith(status: number, place: Place, text: string): { body: unknown; headers: Record<string, string> } {
  const error = { statusCode: status, service: 'PublicApi', error: 'failed', correlationId: CORRELATION_ID };
  const correlated = { 'x-correlation-id': encodeURI(text) };
  switch (place) {
    case 'the error':
      return { body: { ...error, error: text, service: text }, headers: {} };
    case 'an error of another form':
      return { body: { ...error, error: text, service: text, correlationId: text }, headers: {} };
    case 'a validation error':
      return { body: { ...error, validation: { errors: [{ message: text, itemId: text }] } }, headers: {} };
    case 'headers':
      return { body: error, headers: { ...correlated, 'retry-after': '0', 'x-sent': encodeURI(text) } };
    case 'an HTML page':
      return { body: `<html><title>${text}</title>`, headers: { 'content-type': 'text/html' } };
    case 'a redirect':
      return { body: '', headers: { location: `https://a.example/login?${encodeURI(text)}` } };
    case 'a success': {
      const complaint = { statusText: text, errorMessage: text };
      const connectionInfo = { organizationId: text, organizationName: text };
      const fields = { linkUrl: `https://a.example/?t=${text}`, platformName: text, connectionInfo };
      return {
        body: { id: CORRELATION_ID, status: 'PendingAuth', ...fields, dataConnectionErrors: [complaint] },
        headers: correlated,
      };
    }
  }
}

/**
 * Expects that the text contains no fragment of 16 characters of a credential in any of the encodings. Leaves out the
 * first and the last 4 characters of each encoded credential.
 */
function expectNoCredentialIn(shown: string): void {
  for (const secret of [KEY, ACCESS, REFRESH]) {
    for (const form of [
      secret,
      JSON.stringify(secret).slice(1, -1),
      ...Object.values(ENCODINGS).map((as) => as(secret)),
    ]) {
      const inner = form.replace(/^https:\/\/a\.example\/cb\?token=/, '');
      for (let at = 4; at + 16 <= inner.length - 4; at += 1) expect(shown).not.toContain(inner.slice(at, at + 16));
    }
  }
}

describe('results and errors of the HTTP client', () => {
  let service: MisbehavingService;
  let client: CompanyDataClient;
  beforeAll(async () => {
    service = await startMisbehavingService();
    client = createCompanyDataClient({ baseUrl: service.url, apiKey: new Secret(KEY), retryBudgetMs: 0 });
  });
  afterAll(async () => {
    await client.close();
    await service.close();
  });
  const fields = new Secret({ accessToken: ACCESS, refreshToken: REFRESH });

  test.each(CASES)('do not contain credentials that a %i response echoes in %s, %s', async (status, place, form) => {
    service.answer(echo(status, place, form));
    const result = await client.putAuthorization('c1', 'k1', fields).catch((error: unknown) => error);
    const lines: string[] = [];
    createLog({ to: { write: (line) => lines.push(line) } }).error({ err: result, result }, 'it failed');
    const text = inspect(result, { depth: 10, showHidden: true });
    expect(text).toMatch(/\[secret\]|failed/);
    expectNoCredentialIn([text, JSON.stringify(result), String(result), ...lines].join('\n'));
  });

  test("contain the organization's id even if the token contains it, too", async () => {
    const body = { id: CORRELATION_ID, status: 'Linked', connectionInfo: { organizationId: 'acme-4711-books' } };
    service.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
    const token = new Secret({ accessToken: `v1.acme-4711-books.${random()}` });
    const { value } = await client.putAuthorization('c1', 'k1', token);
    expect(value.connectionInfo).toEqual({ organizationId: 'acme-4711-books' });
  });

  test.each(['the error', 'headers'] as const)(
    'converted to failures of activities do not contain credentials echoed in %s',
    async (place) => {
      service.answer(echo(500, place, 'as it is'));
      const { authorize } = withTypedFailures({
        authorize: (secret: typeof fields) => client.putAuthorization('c1', 'k1', secret),
      });
      const failure = await authorize(fields).catch((error: unknown) => error);
      expect(failure).toMatchObject({ type: 'ServiceFailing' });
      expectNoCredentialIn(inspect(failure, { depth: 10, showHidden: true }));
    },
  );
});

describe('the ledger of a company that was not moved', () => {
  const rig = useImportRig();

  test.each([
    [400, 'the error'],
    [400, 'a validation error'],
    [200, 'a success'],
  ] as const)('does not contain the token that a %i response echoes in %s', async (status, place) => {
    rig.proxy.reset();
    const token = `sbx-ok-5.${randomBytes(24).toString('hex')}`;
    const { id } = await rig.migration([token]);
    const refusing = alterBody((body) => ({
      ...body,
      status: 'PendingAuth',
      dataConnectionErrors: [{ statusText: 'GrantRefused', errorMessage: `${token} is used`, status: 'Active' }],
    }));
    rig.proxy.on('PUT', /\/authorization$/, status === 200 ? refusing : echo(status, place, 'as it is'));
    await rig.importSlice(id);
    const row = await readRow(rig.ledger.db, id, 1);
    expect(row).toMatchObject({ state: 'failed', failure_text: expect.stringContaining('[secret]') as string });
    const kept = JSON.stringify(row);
    for (let at = 9; at + 16 <= token.length; at += 1) expect(kept).not.toContain(token.slice(at, at + 16));
  });
});
