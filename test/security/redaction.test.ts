import { redactCredentials, redactSecrets } from '../../security/redaction';

/** Contains characters that JSON, URLs and HTML escape. */
const TOKEN = '1//0gX/a+b=c&d"e\\f-Qk7vZp3RtYw8';
const asJson = (text: string): string => JSON.stringify(text).slice(1, -1);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

test.each<[string, string]>([
  ['as it is', TOKEN],
  ['in JSON', JSON.stringify({ token: TOKEN })],
  ['in JSON within JSON', JSON.stringify({ body: TOKEN.slice(14) })],
  [
    'in JSON that escapes all special characters',
    TOKEN.replace(/\W/g, (each) => `\\u00${each.charCodeAt(0).toString(16)}`),
  ],
  ['in a URL', `https://a.example/?t=${encodeURIComponent(TOKEN)}&x=1`],
  [
    'in a URL with lowercase hexadecimal digits',
    encodeURIComponent(TOKEN).replace(/%../g, (byte) => byte.toLowerCase()),
  ],
  ['in a URL within a URL', encodeURIComponent(encodeURIComponent(TOKEN))],
  ['in a form', new URLSearchParams({ token: TOKEN }).toString()],
  ['in HTML', TOKEN.replace(/\W/g, (each) => `&#x${each.charCodeAt(0).toString(16).toUpperCase()};`)],
  ['in hexadecimal digits', Buffer.from(TOKEN).toString('hex')],
  ['in base64', base64(TOKEN)],
  ['in the base64 of a longer text', base64(`{"accessToken":"${TOKEN}","region":"eu"}`)],
  ['in base64 with another alignment', base64(`x${TOKEN}y`)],
  ['in base64 for URLs', Buffer.from(`ab${TOKEN}`).toString('base64url')],
  ['without its end', TOKEN.slice(0, 20)],
  ['without its beginning', TOKEN.slice(9)],
])('masks a secret %s', (_where, quoted) => {
  const shown = redactSecrets(`it says ${quoted} here`, [TOKEN]);
  expect(shown).toMatch(/^it says .*\[secret\]/);
  for (const form of [
    TOKEN,
    asJson(TOKEN),
    encodeURIComponent(TOKEN),
    base64(TOKEN),
    Buffer.from(TOKEN).toString('hex'),
  ])
    for (let at = 0; at + 16 <= form.length; at += 1) expect(shown).not.toContain(form.slice(at, at + 16));
  expect(shown).toMatch(/here$/);
});

test('masks anything that looks like a token in text from outside', () => {
  const jwt = 'eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiJzb21lYm9keSBlbHNlIn0x.c2lnbmF0dXJlLW9mLXRoZS10b2tlbjE';
  expect(redactSecrets(`refused ${jwt}`, [])).toBe('refused [secret].[secret].[secret]');
  expect(redactSecrets('shpat_0123456789abcdef0123456789abcdef is dead', [])).toBe('[secret] is dead');
});

test('leaves text without credentials unchanged', () => {
  const text =
    'accessToken: Invalid input: expected string; PUT /companies/0e5a3a5c-3a3f-4c5f-9a55-0a4c1c1f7d11/authorization, ' +
    'the value is the word Basic and a key; Basic credentials expected; CompanyValidationException: Company limit exceeded';
  expect(redactSecrets(text, ['eu', 'de'])).toBe(text);
});

test.each([
  ['sbx-unavailable.x', 'The platform is unavailable.', 'The platform is unavailable.'],
  ['sbx-inaccessible.7f', '"inaccessible."', '"inaccessible."'],
  [
    'sbx-wrong-organization-5',
    'The access token belongs to another organization.',
    'The access token belongs to another organization.',
  ],
  ['sbx-unavailable.x', 'sbx-unavailable.x is refused', '[secret] is refused'],
  ['sbx-unavailable.x', 'refused: bx-unavailable.', 'refused: [secret]'],
  ['unavailable', 'the password is unavailable', 'the password is [secret]'],
  ['qkvzprtywabc-defghijkl', 'refused: qkvzprtywabcd', 'refused: [secret]d'],
  ['aqkvzprtywabc-7', 'refused: qkvzprtywabc-', 'refused: [secret]'],
])('masks parts of %s in "%s", but no ordinary words', (secret, text, shown) => {
  expect(redactSecrets(text, [secret])).toBe(shown);
});

test.each([
  ['Authorization: Basic QUJDREVGRw==', 'Authorization: Basic [secret]'],
  ['{"authorization":"Bearer eyJh.bGci.OiJSUzI1NiJ9"}', '{"authorization":"Bearer [secret]"}'],
  ['postgres://ferry:pass-word@db.example/ferry', 'postgres://[secret]@db.example/ferry'],
  ['GET /cb?access_token=abc123&x=1', 'GET /cb?access_token=[secret]&x=1'],
  ['{"refreshToken":"abc123","name":"x"}', '{"refreshToken":"[secret]","name":"x"}'],
  ['"{\\"clientSecret\\":\\"abc123\\",\\"a\\":1}"', '"{\\"clientSecret\\":\\"[secret]\\",\\"a\\":1}"'],
  ["{ accessToken: 'abc123' }", "{ accessToken: '[secret]' }"],
])('redacts %s to %s in a log line', (written, shown) => {
  expect(redactCredentials(written)).toBe(shown);
});
