import { isPlaceholder } from '../../../domain/text/placeholders';
import { clientSecretProblem } from '../../../domain/supply/client-secret';
import { ferry } from '../captured-terminal';

test.each([
  ...[
    '<client id>',
    '<migration>',
    '{{clientId}}',
    '{client-id}',
    '[your id]',
    '...',
    '…',
    '---',
    '???',
    'xxx',
    'XXXX',
  ],
  ...['NAME', 'ID', 'CLIENT_ID', 'your-client-id', 'your_client_secret', 'YOUR CLIENT ID', 'client id', 'client_id'],
  ...['Your Name', 'name of the person', 'your-app-id-here', 'yourClientSecret', 'changeme', 'CHANGE_ME', ' <id> '],
  ...['https://example.com/callback', 'http://www.example.org', 'https://example...', 'https://example.net:8080'],
])('%s is a placeholder', (text) => {
  expect(isPlaceholder(text)).toBe(true);
});

test.each([
  ...['', 'ABq7yK', 'my-app', 'x', '0', 'acme-app', 'client-7', 'Sam', 'name', 'Ida', 'Xi', 'Xander', 'secret'],
  ...['0oa1b2c3<4>', 'a.b-c_d', 'Yourclient Ltd', 'Your Accountants LLP', 'Id-7', 'Sam, +1 555 0100', 'solutions team'],
  ...['https://example.solutions', 'https://examplecorp.com/help', 'sam@example.com', 'id', 'Sam (support)', '[ab'],
])('"%s" is a value', (text) => {
  expect(isPlaceholder(text)).toBe(false);
});

test('a placeholder is refused as a client secret, and the message does not quote it', () => {
  expect(clientSecretProblem('<client secret>')).toBe('contains only a placeholder');
  expect(clientSecretProblem('s3cr3t-<1>')).toBeNull();
});

test.each([
  [['application', 'acme.xero', '--client-id', '<id>', '--environment', 'production'], '--client-id', '<id>'],
  [['start', 'm.csv', '-p', 'xero', '--client', 'a', '--contact', '...', '--by', 'Sam'], '--contact', '...'],
  [['pause', 'acme.xero', '--by', 'NAME'], '--by', 'NAME'],
  [['invite', 'acme.xero', '--name', '<person>', '--by', 'Sam'], '--name', '<person>'],
])('ferry %j is refused before anything is read', async (args, option, value) => {
  const { exitCode, err } = await ferry(args);
  expect(exitCode).not.toBe(0);
  expect(err).toContain(`'${value}' is a placeholder. Replace it with the actual value of ${option}.`);
});
