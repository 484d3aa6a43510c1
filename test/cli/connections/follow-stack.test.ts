/** Tests which servers a live view reconnects to, and when it keeps its connections. */
import { Unreachable, type MigrationClient } from '../../../client';
import { openFollowingClient, type FollowedConfig } from '../../../cli/connections/follow-stack';
import { Secret } from '../../../security/secret';
import { DatabaseUnavailable } from '../../../store';

const DATABASE_URL = new Secret('postgres://team/ledger');

/** Returns the configuration with this Temporal server. */
function configured(address: string, isUsed: boolean | null): FollowedConfig {
  const runningStack = { isUsed: isUsed === true, isDatabaseExternal: false, databaseUrl: DATABASE_URL };
  const config = { temporal: { address, namespace: 'default' }, databaseUrl: DATABASE_URL };
  return { ...config, ...(isUsed === null ? {} : { runningStack }) } as unknown as FollowedConfig;
}

/** Opens a client with the first configuration, and follows the stack once while `next` is the configuration. */
async function follow(first: FollowedConfig, next: FollowedConfig, failure?: Error): Promise<readonly string[]> {
  let config = first;
  const opened: string[] = [];
  const { followStack } = await openFollowingClient(
    () => config,
    async ({ temporal }) => {
      if (opened.length > 0 && failure) throw failure;
      opened.push(temporal.address ?? '');
      return { close: async () => undefined } as unknown as MigrationClient;
    },
  );
  config = next;
  await followStack();
  return opened;
}

const BEFORE = configured('localhost:1', true);
const AFTER = configured('localhost:2', true);

test('a client of the running stack connects to the new addresses of the stack', async () => {
  expect(await follow(BEFORE, AFTER)).toEqual(['localhost:1', 'localhost:2']);
});

test.each([
  ['no stack was running', null],
  ['the environment named other servers than those of the stack', false],
])('a client stays with its servers when a stack starts later, if %s', async (_, isUsed) => {
  expect(await follow(configured('team:7233', isUsed), AFTER)).toEqual(['team:7233']);
});

test.each([
  ['do not answer', new Unreachable('Postgres', 'localhost')],
  ['refuse the password', new DatabaseUnavailable('the database at localhost cannot be used: no')],
])('a client keeps its connections if the new servers %s', async (_, failure) => {
  expect(await follow(BEFORE, AFTER, failure)).toEqual(['localhost:1']);
});

test('a client says that the schema of the stack is newer, because only a newer program can read it', async () => {
  const failure = Object.defineProperty(new DatabaseUnavailable('newer'), 'hasNewerSchema', { value: true });
  await expect(follow(BEFORE, AFTER, failure)).rejects.toBe(failure);
});
