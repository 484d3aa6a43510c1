/** Tests that failures are reported in one line, with advice on what to do next. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { ServiceError, WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { withService } from '../../../cli/connections/service-client';
import { CommandFailed, withAdvice } from '../../../cli/shared/errors';
import {
  connectionErrorText,
  LabelReserved,
  LedgerBehind,
  MigrationClosed,
  MigrationRunning,
  NoSuchMigration,
  PayloadKeyMissing,
  NoWorker,
  Unreachable,
  RepairUnfinished,
  WorkflowHadNoEffect,
  WorkflowIdOccupied,
  WorkflowTaskFailing,
} from '../../../client';
import { occupiedText } from '../../../domain/migration/temporal-names';
import { FileChanged } from '../../../cli/manifest/row-file';
import { AccessDenied, DeferredUntil, ForeignResponse, KeyRefused } from '../../../company-data-client';
import {
  KeyInvalid,
  MigrationKeyInvalid,
  UnknownMasterKey,
  UnknownPayloadKey,
  VaultKeyMismatch,
  VaultSecretElsewhere,
  VaultSecretMissing,
  WrappedKeyBroken,
} from '../../../security';
import {
  DatabaseUnavailable,
  AmendedMigrationEnded,
  LedgerMissing,
  MigrationExists,
  OrganizationTaken,
  StagingFull,
  VaultClosed,
  VaultKeyAltered,
  VaultKeyNotSigned,
  VaultUsable,
} from '../../../store';
import { ferry } from '../captured-terminal';
import { temporaryFolder } from '../../support/temporary-folder';

const ROOT = path.join(__dirname, '../../..');
const M = 'acme.xero';
const NO_STACK = { TOKENFERRY_HOME: '/nowhere' };
const CORRELATION_ID = '6f1c1f9e-1f0a-4d3e-9a53-0d6a2f1c9b11';

const answer = (status: number, error: string) => ({
  ...{ kind: 'response' as const, status, isFromService: true, error },
  ...{ service: 'PublicApi', correlationId: CORRELATION_ID },
});

function withCode(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

const grpc = Object.assign(new Error('14 UNAVAILABLE: no connection'), { code: 14, details: 'no connection' });

const FAILURES: readonly (readonly [Error, message: RegExp, advice: RegExp])[] = [
  [new Unreachable('Temporal', '127.0.0.1:1'), /cannot reach Temporal at 127\.0\.0\.1:1/, /ferry up/],
  [new DatabaseUnavailable('the database at host/db cannot be used: no'), /host\/db/, /check the database/],
  [
    new LedgerMissing('postgres://u:p@host/db'),
    /^the database at host:5432\/db contains no ledger$/,
    /^check DATABASE_URL; .* ferry setup$/,
  ],
  [
    new NoWorker(M),
    /no worker is answering for acme\.xero/,
    /^make sure that a worker is running; .*ferry doctor; then run/,
  ],
  [new WorkflowTaskFailing(M), /acme\.xero/, /check the keys and the version of every worker/],
  [new NoSuchMigration(M), /there is no migration acme\.xero/, /ferry list/],
  [new MigrationExists(`migration ${M} already exists`), /acme\.xero/, /--label/],
  [
    new MigrationRunning(M),
    /acme\.xero has already been started, so this start was refused$/,
    /^see what to do next with: ferry show acme\.xero$/,
  ],
  [new LabelReserved('the label batch is reserved'), /batch/, /--label/],
  [new LedgerBehind(M), /first with: ferry reconcile acme\.xero$/, /this decision again/],
  [new WorkflowIdOccupied(occupiedText(`${M}.closing`)), /terminate --workflow-id acme\.xero\.closing$/, /run this/],
  [
    new RepairUnfinished(M),
    /has not ended within 30 minutes; it makes progress only while a worker is running/,
    /run: ferry reconcile acme\.xero/,
  ],
  [new WorkflowHadNoEffect('the workflow has ended'), /has ended/, /only your workers/],
  [new MigrationClosed(M, 'completed'), /acme\.xero/, /ferry report acme\.xero$/],
  [new MigrationClosed(M, 'closed'), /acme\.xero is closed/, /ferry show acme\.xero$/],
  [new AmendedMigrationEnded(`migration ${M} has ended`), /acme\.xero/, /new migration/],
  [
    new OrganizationTaken([{ reference: 'C-1', organization: '91', migrationId: M }]),
    /91/,
    /correct or remove every such row/,
  ],
  [new StagingFull('too much supplied data is waiting for a decision'), /too much supplied data/, /smaller file/],
  [new VaultClosed(M), /acme\.xero has no vault yet/, /ferry show acme\.xero$/],
  [new MigrationKeyInvalid('The migration key is incomplete.'), /incomplete/, /get the key again/],
  [new VaultKeyNotSigned(`the key of ${M} has not been signed`), /acme\.xero/, /ferry vault rotate/],
  [new VaultKeyAltered(M, `The key of ${M} was altered`), /acme\.xero/, /ferry vault renew acme\.xero; credentials/],
  [new VaultKeyMismatch(M), /vault of acme\.xero/, /neither sealed nor stored any credential/],
  [new PayloadKeyMissing(M, 'abcd'), /acme\.xero.*payload key abcd/, /TOKENFERRY_PAYLOAD_KEY/],
  [new UnknownPayloadKey('0123456789abcdef', ['efgh']), /payload key 0123456789abcdef/, /TOKENFERRY_PAYLOAD_KEY/],
  [
    new UnknownPayloadKey('not an id', ['efgh']),
    /names no valid payload key/,
    /^Tokenferry does not write such payloads: find out who .*"A result that nobody can decrypt"$/,
  ],
  [new UnknownMasterKey(M, 'abcd', ['efgh']), /acme\.xero.*abcd/, /once this master key is added/],
  [new WrappedKeyBroken(M, 'abcd'), /./, /once the private key is restored/],
  [
    new VaultSecretElsewhere(M, '/keys'),
    /folder \/keys on this machine.*acme\.xero.*shared storage is mounted.*TOKENFERRY_VAULT_SECRETS/,
    /once the right folder is in place/,
  ],
  [
    new VaultSecretMissing(M, { file: '/keys/12.ab' }),
    /\/keys\/12\.ab\. If you still have this file, put it back\. Only if the file is lost, .*"ferry vault renew acme\.xero".*have the client supply its credentials again, and resume .*"ferry resume acme\.xero"/,
    /nothing was changed/,
  ],
  [new VaultUsable(M), /acme\.xero/, /nothing was changed/],
  [
    new WorkflowFailedError(
      'failed',
      new Error('activity failed', { cause: new Error('the history is malformed') }),
      'TIMEOUT',
    ),
    /^the history is malformed$/,
    /Temporal UI/,
  ],
  [new KeyInvalid('This is no signing key.'), /no signing key/, /restore the key from a copy/],
  [new FileChanged('m.csv'), /m\.csv has changed since it was checked/, /run the command again/],
  [
    new ForeignResponse('GET /account', { ...answer(404, 'page not found'), isFromService: false }, []),
    /GET \/account: answered 404; the answer is not from the service, but probably from a proxy: page not found/,
    /check COMPANY_DATA_URL/,
  ],
  [
    new DeferredUntil('GET /account', new Date('2030-01-06T21:00:00Z'), answer(429, 'too many')),
    /GET \/account: not sent, because the service's rate limit was reached; .* after 2030-01-06T21:00:00\.000Z$/,
    /^run the command again after this time$/,
  ],
  [
    new KeyRefused('GET /account', answer(401, 'no'), []),
    new RegExp(`GET /account.*401.*${CORRELATION_ID}`),
    /ferry doctor/,
  ],
  [new AccessDenied('GET /account', answer(403, 'no'), []), new RegExp(CORRELATION_ID), /correlation id/],
  [new ServiceError('Failed to list', { cause: grpc }), /^Temporal: no connection$/, /ferry doctor/],
  [new Error('Connection terminated unexpectedly'), /^database error: Connection terminated/, /ferry doctor/],
  [withCode('listen EADDRINUSE: address already in use 127.0.0.1:8700', 'EADDRINUSE'), /8700/, /--port/],
  [withCode("ENOENT: no such file or directory, open 'x.csv'", 'ENOENT'), /x\.csv/, /check the path/],
  [withCode("EACCES: permission denied, open 'x.csv'", 'EACCES'), /x\.csv/, /permissions/],
];

test.each(FAILURES.map(([error, ...expected]) => [error.name, error, ...expected] as const))(
  '%s has a message and advice',
  (_, error, message, advice) => {
    const failure = withAdvice(error, NO_STACK);
    expect(failure).toBeInstanceOf(CommandFailed);
    if (!(failure instanceof CommandFailed)) return;
    expect(failure.message).toMatch(message);
    expect(failure.advice).toMatch(advice);
    expect(`${failure.message}${failure.advice}`).not.toMatch(/\n|\bat .*:\d+:\d+/);
  },
);

test.each<[string, Error]>([
  ['cannot read from Temporal', new ServiceError('Failed to query', { cause: grpc })],
  // The text is the same whether the database cannot be reached or denies access.
  ['cannot read from the database', new Error('Connection terminated unexpectedly')],
  ['cannot read from the database', new Error('permission denied for table companies')],
  ['no worker answers', new NoWorker(M)],
  ['the worker cannot continue', new WorkflowTaskFailing(M)],
  ['there is no migration acme.xero', new NoSuchMigration(M)],
  ['workflow not found for ID: acme.xero', new WorkflowNotFoundError('workflow not found for ID: acme.xero', M, '')],
  ['acme.xero cannot be read on this machine: payload key abcd is missing', new PayloadKeyMissing(M, 'abcd')],
])('a display that keeps refreshing says what is missing: %s', (text, error) =>
  expect(connectionErrorText(error)).toBe(text),
);

test('the line of a display fits 80 columns if no worker answers', () => {
  const line = `last read at 12:00:00; ${connectionErrorText(new NoWorker(M))}; retrying automatically`;
  expect(line.length).toBeLessThan(80);
});

const WITH_OWN_ADVICE = FAILURES.map(([error]) => error).filter(({ name }) =>
  ['DeferredUntil', 'ForeignResponse'].includes(name),
);
test.each(WITH_OWN_ADVICE.map((error) => [error.name, error] as const))(
  'a command that calls the service keeps the advice for %s',
  async (_, error) => {
    const env = { TOKENFERRY_HOME: '/nowhere', COMPANY_DATA_URL: 'http://127.0.0.1:1', COMPANY_DATA_API_KEY: 'key' };
    await expect(withService(env, () => Promise.reject(error))).rejects.toBe(error);
  },
);

test('withAdvice returns a programming error unchanged', () => {
  const mistake = new TypeError('x is not a function');
  expect(withAdvice(mistake, NO_STACK)).toBe(mistake);
});

/**
 * Error classes that need no advice, because they already contain it, never reach a command, or are handled where they
 * occur.
 */
const WITHOUT_ADVICE: Readonly<Record<string, string>> = {
  ...{
    CommandFailed: 'already has advice',
    Unanswered: 'already has advice',
    UnknownAnswer: 'already has advice',
    SetupFailed: 'already has advice',
    ConfigurationError: 'already has advice',
  },
  UnreadableFile: 'reported as a finding',
  NotShredded: 'handled where the file is shredded',
  ManifestAmended: 'handled in an activity',
  SealBroken: 'handled in a worker, for one credential',
  NotReleased: 'handled in an activity',
  LeaseLost: 'handled in a worker, for one attempt',
  ...{ CallRefused: 'returned by the codec server', TokenRefused: 'returned by the codec server' },
  OutputClosed: 'not a failure: the reader has closed the pipe',
  KeySetUnavailable: 'handled by ferry codec-server',
  IdentityRefused: 'answered by the portal, and logged',
  IdentityProviderUnavailable: 'logged by the worker, which tries again',
  AccountMismatch: 'handled by ferry service keys',
  NewerSchema: 'the cause of a DatabaseUnavailable; of the service: handled by ferry service',
  ...{
    PostgresUnavailable: 'handled by ferry up',
    TemporalCliUnavailable: 'handled by ferry up',
    TemporalUnavailable: 'handled by ferry up',
    WorkerUnavailable: 'handled by ferry up',
    PortalUnavailable: 'handled by ferry up',
    PortalRoleRefused: 'handled by ferry setup and ferry up',
  },
  ...{ StackAlreadyRunning: 'handled by ferry up', NoFreePort: 'handled by ferry up' },
  CompanyDataError: 'only its subclasses are thrown',
};

test('every error class has advice or a reason to have none', () => {
  const advised = new Set(FAILURES.map(([error]) => error.constructor.name));
  const classes = ['client', 'cli', 'store', 'security', 'config', 'stack']
    .flatMap((folder) => sourcesOf(path.join(ROOT, folder)))
    .flatMap((text) => [
      ...text.matchAll(/class (\w+) extends (?:Error|CommandFailed|NoWorker|DatabaseUnavailable)\b/g),
    ])
    .map(([, name = '']) => name);
  expect(classes.length).toBeGreaterThan(20);
  expect(classes.filter((name) => !advised.has(name) && !(name in WITHOUT_ADVICE))).toEqual([]);
});

function sourcesOf(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'utf8'));
}

describe('on the command line', () => {
  const folder = temporaryFolder();

  const env = () => ({ TOKENFERRY_HOME: folder });

  test('a port in use is reported with the option that changes it', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address ? String(address.port) : '';
    const key = Buffer.alloc(32, 1).toString('base64');
    const args = ['codec-server', '--origin', 'http://localhost:8233', '--port', port];
    const { exitCode, err } = await ferry(args, undefined, { ...env(), TOKENFERRY_PAYLOAD_KEY: key });
    server.close();
    expect(exitCode).toBe(1);
    expect(err).toMatch(
      new RegExp(
        `^ferry: listen EADDRINUSE.*${port}; another program is using this port; choose another port with --port\\n$`,
      ),
    );
  });

  test('the stack traces of an error and of its causes are printed only with --debug', async () => {
    const key = Buffer.alloc(32, 1).toString('base64');
    const unreachable = { ...env(), TEMPORAL_ADDRESS: '127.0.0.1:1', TOKENFERRY_PAYLOAD_KEY: key };
    const { err } = await ferry(['list'], undefined, unreachable);
    expect(err).toBe(
      'ferry: cannot reach Temporal at 127.0.0.1:1; start Temporal, or correct its address and credentials (TEMPORAL_ADDRESS, TEMPORAL_API_KEY or your Temporal profile); to use a stack on this machine instead, open a shell without the environment variables for your servers and keys (docs/configuration.md), and run there: ferry up\n',
    );
    const debugged = await ferry(['list', '--debug'], undefined, unreachable);
    expect(debugged.err).toMatch(/\n {4}at .*\ncaused by: Unreachable: cannot reach Temporal/s);
    expect(existsSync(path.join(folder, 'signing.key'))).toBe(false);
  });
});
