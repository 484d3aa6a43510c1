import { randomBytes } from 'node:crypto';
import { ferry } from '../captured-terminal';

const [ISSUER, AUDIENCE, ORIGIN] = ['https://identity.example', 'tokenferry-codec', 'https://temporal.example'];

test.each([
  [
    'tokens are not checked and other machines can reach the address',
    ['--host', '0.0.0.0'],
    'only on a loopback address such as 127.0.0.1, not on 0.0.0.0',
  ],
  ['the address only looks like a loopback address', ['--host', '127.evil.example'], 'not on 127.evil.example'],
  [
    'the token options are incomplete',
    ['--issuer', ISSUER],
    '--issuer, --audience and --key-set must be used together',
  ],
  [
    'the key set file does not exist',
    ['--issuer', ISSUER, '--audience', AUDIENCE, '--key-set', 'none.json'],
    'the key set none.json cannot be read',
  ],
])('codec-server does not start if %s', async (_, options, why) => {
  const env = { TOKENFERRY_PAYLOAD_KEY: randomBytes(32).toString('base64') };
  const { exitCode, err } = await ferry(['codec-server', '--origin', ORIGIN, ...options], undefined, env);
  expect({ exitCode, err }).toEqual({ exitCode: 1, err: expect.stringContaining(why) as string });
});

test('codec-server does not blame the database if the name of its host cannot be resolved', async () => {
  const tokens = ['--issuer', ISSUER, '--audience', AUDIENCE, '--key-set', `${ISSUER}/keys`];
  const env = { TOKENFERRY_PAYLOAD_KEY: randomBytes(32).toString('base64') };
  const command = ['codec-server', '--origin', ORIGIN, '--host', 'codec.invalid', ...tokens];
  const { exitCode, err } = await ferry(command, undefined, env);
  expect({ exitCode, err }).toEqual({
    exitCode: 1,
    err: expect.stringMatching(/^ferry: getaddrinfo \w+ codec\.invalid; check --host and --port\n$/) as string,
  });
});
