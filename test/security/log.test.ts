import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { Secret } from '../../security';
import { createLog } from '../../security/log';

const MARKER = `marker${randomBytes(12).toString('hex')}`;
const secret = new Secret(MARKER);

/** Returns the log line that is written for these fields. */
function logged(fields: object, message = 'something happened'): string {
  const lines: string[] = [];
  createLog({ to: { write: (line) => lines.push(line) } }).info(fields, message);
  const line = lines.join('');
  expect(() => JSON.parse(line) as unknown).not.toThrow();
  return line;
}

const failing = (message: string, more: object = {}, cause?: unknown): Error =>
  Object.assign(new Error(message, { cause }), more);
const bytes = Buffer.from(MARKER);

test.each<[string, object]>([
  ['a field', { secret }],
  ['arrays and objects', { deep: [{ deeper: { secret } }] }],
  ['a Map', { map: new Map([['key', secret]]) }],
  ['a Set', { set: new Set([secret]) }],
  ["an error's own properties", { err: failing('failed', { secret, request: { headers: [MARKER] } }) }],
  ['an error under another name', { reason: failing('failed', { detail: `Failing row contains (${MARKER})` }) }],
  ['causes of causes', { err: failing('a', {}, failing('b', {}, failing('c', { body: MARKER, secret }))) }],
  [
    'an AggregateError',
    { err: Object.assign(new AggregateError([failing('x', { body: MARKER })], 'all'), { secret }) },
  ],
  ['an error itself', failing('failed', { token: MARKER })],
  ['bytes', { sealed: bytes, more: new Uint8Array(bytes) }],
  ['the body of a request', { body: JSON.stringify({ accessToken: MARKER, refreshToken: MARKER }) }],
  ['the headers of a request', { headers: { authorization: `Basic ${Buffer.from(MARKER).toString('base64')}` } }],
  ['an address', { url: `https://user:${MARKER}@a.example/?access_token=${MARKER}&client_secret=${MARKER}` }],
])('writes no secret that is passed in %s', (_where, fields) => {
  const line = logged(fields);
  expect(line).not.toContain(MARKER);
  expect(line).not.toContain(Buffer.from(MARKER).toString('base64'));
  expect(line).not.toContain(bytes.subarray(0, 8).join(','));
});

test('writes a request object of Node without its credentials', () => {
  const sent = httpRequest({ host: '127.0.0.1', port: 9, auth: `user:${MARKER}`, path: `/?access_token=${MARKER}` });
  sent.on('error', () => undefined);
  const line = logged({ sent });
  sent.destroy();
  expect(line).not.toContain(MARKER);
  expect(line).not.toContain(Buffer.from(`user:${MARKER}`).toString('base64'));
});

test('redacts the message', () => {
  expect(logged({}, `it sent {"refreshToken":"${MARKER}"} and Authorization: Bearer ${MARKER}`)).not.toContain(MARKER);
});

test('writes name, message, stack and code of an error and of its causes', () => {
  const { err } = JSON.parse(
    logged({ err: failing('not stored', { code: '23505' }, failing('no connection', { code: 'ECONNREFUSED' })) }),
  ) as { err: Record<string, unknown> };
  expect(err).toMatchObject({
    type: 'Error',
    message: 'not stored',
    stack: expect.stringContaining('log.test.ts') as string,
    code: '23505',
    cause: { message: 'no connection', code: 'ECONNREFUSED' },
  });
});

test("writes an error's advice", () => {
  const advice = 'set TOKENFERRY_PORTAL_URL';
  expect(logged({ err: failing('no URL', { advice, more: MARKER }) })).toContain(`"advice":"${advice}"`);
  expect(logged({ err: failing('no URL', { advice: { body: MARKER } }) })).not.toContain('advice');
});

test('writes circular references up to the depth limit', () => {
  const round: Record<string, unknown> = { name: 'round' };
  round['again'] = round;
  expect(logged({ round })).toContain('"name":"round"');
});

test('redacts the log lines of child loggers', () => {
  const lines: string[] = [];
  createLog({ to: { write: (line) => lines.push(line) } })
    .child({ secret, at: `https://user:${MARKER}@a.example` })
    .warn({ error: failing('failed', { secret, body: MARKER }) }, 'failed');
  expect(lines.join('')).toContain('failed');
  expect(lines.join('')).not.toContain(MARKER);
});
