/** Tests that `ferry application` sends the secret of the client's application to the service and nowhere else. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Prompts } from '../../../cli/terminal/prompts';
import { createKey, listAccounts, revokeKey } from '../../../company-data-service';
import { createPayloadCodec } from '../../../security';
import { closeMigration, openMigration, recordApplication, supplyMigration } from '../../../store';
import { until } from '../../support/async';
import { manifestRows, suppliedMigration } from '../../support/migrations/ledger';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';
import { runJson, MANIFEST } from '../command-line';
import { decodePayloads, payloadsIn } from './payloads';
import { temporaryFolder } from '../../support/temporary-folder';

const ID = 'owner.quickbooks-online';
const CANARY = 'canary-7f3a-client-secret';
const CLIENT = ['--as', 'client', '--by', 'Cleo'];

const orchestrator = useOrchestratorWithWorker();
const folder = temporaryFolder();
beforeAll(async () => {
  await ferry(['start', MANIFEST, '--platform', 'quickbooks-online', '--client', 'owner'], undefined, orchestrator.env);
});

function secretFile(text: string): string {
  const file = path.join(folder, 'secret');
  writeFileSync(file, text);
  return file;
}

const run = (args: string[], prompts?: Partial<Prompts>) => ferry(args, undefined, orchestrator.env, prompts);
const answering = (secret: string): Partial<Prompts> => ({ confirm: async () => false, secret: async () => secret });
const TYPED = answering(`${CANARY}\n`);
const application = async (id: string, environment: string, ...more: string[]) =>
  run(['application', ID, '--client-id', id, '--environment', environment, ...CLIENT, ...more], TYPED);
const registeredApplication = async () => (await orchestrator.client().integration('qhyg')).value.application;

test('the application is registered with the service, and the details are checked again', async () => {
  const { exitCode, out, err } = await application('asked-for', 'production');
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
  expect(out).toBe(`✓ ${ID}: the application is asked-for (production)\n`);
  expect(await registeredApplication()).toEqual({ clientId: 'asked-for', environment: 'production' });
  await until(async () => (await runJson(orchestrator, 'show', ID)).json['preflight'] !== null);
});

test('the secret can come from a file, which the client is told to delete', async () => {
  const file = secretFile(`${CANARY}\n`);
  const { exitCode, out } = await application('from-file', 'production', '--secret-file', file);
  expect(exitCode).toBe(0);
  expect(out).toContain(`${file} still contains the client secret in plain text. Delete it and all copies.`);
  expect(await registeredApplication()).toEqual({ clientId: 'from-file', environment: 'production' });
});

test('an application that would replace the application of moved companies must be confirmed', async () => {
  const { db } = orchestrator.ferry;
  const before = await registeredApplication();
  const moved = (crossed_at: Date | null) =>
    db.updateTable('companies').set({ crossed_at }).where('migration_id', '=', ID).where('row', '<=', 2).execute();
  await moved(new Date());
  try {
    const questions: string[] = [];
    const prompts: Partial<Prompts> = {
      secret: async () => CANARY,
      confirm: async (question) => {
        questions.push(question);
        return false;
      },
    };
    const command = ['application', ID, '--client-id', 'typo-app', '--environment', 'production', ...CLIENT];
    const declined = await run(command, prompts);
    expect(declined).toMatchObject({
      exitCode: 1,
      err: 'ferry: the application was not replaced; nothing was sent\n',
    });
    expect(questions).toEqual(['Replace the application?']);
    expect(declined.out).toContain(
      `2 companies were connected with ${before?.clientId} (production); if typo-app (production) is registered instead, the service cannot refresh their tokens`,
    );
    // The replacement can be undone: registering the earlier application again restores the access.
    expect(declined.out).not.toContain('cannot be undone');
    expect(await registeredApplication()).toEqual(before);
    const unattended = await run([...command, '--secret-file', secretFile(CANARY)]);
    expect(unattended.err).toMatch(
      /2 companies were connected with from-file .* refresh their tokens; nothing was sent; .*run the command again with --yes/,
    );
    expect(await registeredApplication()).toEqual(before);
    expect((await application(before?.clientId ?? '', 'production')).exitCode).toBe(0);
    expect((await application('typo-app', 'production', '--yes')).out).toContain(
      '! 2 companies were connected with from-file (production), but typo-app (production) is registered now, so the service can no longer refresh their tokens. ' +
        `To see what helps, run: ferry show ${ID}\n`,
    );
    const lost =
      '2 companies (C-1001, C-1002) were connected with from-file (production), but typo-app (production) is registered now';
    for (const command of ['show', 'go-nogo', 'sign-off'])
      expect((await run([command, ID])).out.replace(/\s+/g, ' ')).toContain(lost);
    const again = `ferry application ${ID} --client-id from-file --environment production`;
    for (const command of ['show', 'go-nogo']) {
      expect((await run([command, ID])).out).toContain(`: ${again}\n`);
      const { json } = await runJson(orchestrator, command, ID);
      expect(json['next']).toContainEqual({ who: 'support', command: again });
    }
    const { json } = await runJson(orchestrator, 'report', ID);
    expect(json['applications']).toMatchObject({
      replaced: [{ application: { clientId: 'from-file' }, companies: 2, references: ['C-1001', 'C-1002'] }],
      registered: { clientId: 'typo-app', environment: 'production' },
    });
    const { out: csv } = await run(['report', ID, '--format', 'csv']);
    const action = 'keep your application from-file (production), and ask support to register it again';
    expect(csv.split('\n').filter((line) => line.includes(action))).toHaveLength(2);
  } finally {
    await moved(null);
  }
});

test('the question names the migrations whose companies depend on the application, also of another client', async () => {
  const { db, temporal } = orchestrator.ferry;
  const before = await registeredApplication();
  const ended = suppliedMigration({ client: 'kite', platformKey: 'qhyg', namespace: temporal.options.namespace });
  await supplyMigration(db, ended, manifestRows(3));
  await openMigration(db, ended.id);
  await recordApplication(db, ended.id, { clientId: 'kite-app', environment: 'production' });
  await db
    .updateTable('companies')
    .set({ crossed_at: new Date(), state: 'moved' })
    .where('migration_id', '=', ended.id)
    .execute();
  await closeMigration(db, ended.id, 'completed');
  const command = ['application', ID, '--client-id', 'bee-app', '--environment', 'production', ...CLIENT];
  const { err } = await run([...command, '--secret-file', secretFile(CANARY)]);
  expect(err).toContain(
    `3 companies, of ${ended.id} (ended), were connected with kite-app (production); if bee-app (production) is registered instead, the service cannot refresh their tokens; nothing was sent`,
  );
  expect(await registeredApplication()).toEqual(before);
  await db.deleteFrom('companies').where('migration_id', '=', ended.id).execute();
});

test.each<[string, string[], string]>([
  [
    'an application of the wrong environment',
    ['--environment', 'sandbox'],
    'uses the production environment, not sandbox',
  ],
  [
    'an empty secret',
    ['--secret-file', '/dev/null'],
    '/dev/null is empty; nothing was sent or sealed; specify a file that contains only the client secret',
  ],
  ['a missing file', ['--secret-file', '/nowhere/secret'], '/nowhere/secret cannot be read: there is no such file'],
  [
    'a file of credentials as the secret',
    ['--secret-file', MANIFEST],
    'looks like a file of credentials or companies; nothing was sent or sealed; specify a file that contains only the client secret',
  ],
])('nothing is sent if there is %s', async (_, more, message) => {
  const before = await registeredApplication();
  const { exitCode, err } = await application('other', 'production', ...more);
  expect(exitCode).toBe(1);
  expect(err).toContain(message);
  expect(await registeredApplication()).toEqual(before);
});

test('nothing is sent with the key of a client, because the service would refuse it after the decision', async () => {
  const { serviceDatabaseUrl, env } = orchestrator;
  const [account] = await listAccounts(serviceDatabaseUrl);
  const { key } = await createKey(serviceDatabaseUrl, { accountId: account?.id ?? '', role: 'client' });
  const before = (await runJson(orchestrator, 'audit', ID)).json;
  // The command does not ask for a secret that it cannot register.
  const { exitCode, err } = await ferry(
    ['application', ID, '--client-id', 'other', '--environment', 'production', ...CLIENT],
    undefined,
    { ...env, COMPANY_DATA_API_KEY: key },
    { ...answering(CANARY), secret: () => Promise.reject(new Error('asked')) },
  );
  expect({ exitCode, err }).toEqual({
    exitCode: 1,
    err: 'ferry: COMPANY_DATA_API_KEY has the role client, but only an administrator key can register an application; nothing was sent; set COMPANY_DATA_API_KEY to an administrator key, or ask support to register the application\n',
  });
  expect((await runJson(orchestrator, 'audit', ID)).json).toEqual(before);
});

test('an application that the service does not register after the decision must be supplied again', async () => {
  const { serviceDatabaseUrl, env } = orchestrator;
  const [account] = await listAccounts(serviceDatabaseUrl);
  const { id, key } = await createKey(serviceDatabaseUrl, { accountId: account?.id ?? '', role: 'administrator' });
  const before = await registeredApplication();
  const { exitCode, err } = await ferry(
    ['application', ID, '--client-id', 'unregistered', '--environment', 'production', ...CLIENT],
    undefined,
    { ...env, COMPANY_DATA_API_KEY: key },
    {
      ...answering(CANARY),
      secret: async () => {
        await revokeKey(serviceDatabaseUrl, id);
        // The service caches keys for two seconds.
        await setTimeout(2_500);
        return CANARY;
      },
    },
  );
  expect(exitCode).toBe(1);
  expect(err).toContain('the migration has accepted the application, but its registration with the service failed: ');
  expect(err).toContain('; check the service and COMPANY_DATA_API_KEY with: ferry doctor; ');
  expect(err).toMatch(/\. Then run the command again\n$/);
  expect(await registeredApplication()).toEqual(before);
});

test('application fails without a terminal on which to ask for the secret', async () => {
  const { exitCode, err } = await run(['application', ID, '--client-id', 'x', '--environment', 'production']);
  expect({ exitCode, err }).toEqual({
    exitCode: 1,
    err: 'ferry: cannot ask for the client secret, because the input or the output of the command is not a terminal; put the client secret in a file, and pass the file with --secret-file\n',
  });
});

test('the secret cannot be passed as an option', async () => {
  const { exitCode, out, err } = await application('x', 'production', '--secret', CANARY);
  expect(exitCode).toBe(2);
  expect(out + err).not.toContain(CANARY);
});

test('the secret is never in the output, the history or the ledger, even after a failure', async () => {
  const outputs: string[] = [];
  for (const more of [[], ['--json'], ['--debug'], ['--secret-file', secretFile(CANARY)]]) {
    for (const env of [{}, { COMPANY_DATA_API_KEY: 'wrong' }, { COMPANY_DATA_URL: 'http://127.0.0.1:1' }]) {
      const { out, err } = await ferry(
        ['application', ID, '--client-id', 'x', '--environment', 'production', ...more],
        undefined,
        { ...orchestrator.env, ...env },
        answering(CANARY),
      );
      outputs.push(out, err);
    }
  }
  const { events } = await orchestrator.ferry.temporal.workflow.getHandle(ID).fetchHistory();
  const decisions = await orchestrator.ferry.db.selectFrom('decisions').selectAll().execute();
  const decrypted = await createPayloadCodec(orchestrator.config.payloadKeys).decode(payloadsIn(events));
  const history = decrypted.map(({ data }) => Buffer.from(data ?? []).toString());
  const everything = decodePayloads(JSON.stringify([outputs, decisions, events])) + history.join('\n');
  // Proves that the search would find a value that is present.
  expect(everything).toContain('"clientId":"from-file","environment":"production"');
  expect(everything.includes(CANARY)).toBe(false);
});

test('an application that would replace the application of another open migration is refused before the secret is read', async () => {
  const file = path.join(folder, 'bee.csv');
  writeFileSync(file, 'reference,name,realmId,expectedInvoices\nB-1,Bee,4620816365,5\n');
  const bee = ['start', file, '--platform', 'quickbooks-online', '--client', 'bee', '--by', 'Bea'];
  expect(await run(bee)).toMatchObject({ exitCode: 0 });
  const bees = ['application', 'bee.quickbooks-online', '--environment', 'production'];
  const supply = async (...more: string[]) => run([...bees, '--secret-file', secretFile(CANARY), ...more]);
  const { exitCode, err } = await supply('--client-id', 'bee-app', '--secret-file', '/nowhere/secret');
  expect({ exitCode, err }).toEqual({
    exitCode: 1,
    err:
      `ferry: ${ID} uses the application x (production). bee-app (production) would replace it, because an account ` +
      `has only one QuickBooks Online application; nothing was sent; give each client its own ` +
      `account (docs/deploying.md); or, if ${ID} moves no companies, wait until it has ended\n`,
  });
  expect(await registeredApplication()).toEqual({ clientId: 'x', environment: 'production' });

  const findings = async () => {
    const { json } = await runJson(orchestrator, 'show', 'bee.quickbooks-online');
    return (json['preflight'] as { problemCodes?: string[] } | null)?.problemCodes;
  };
  await until(async () => (await findings())?.includes('application-of-another-migration') === true);
  const review = async () => (await run(['show', 'bee.quickbooks-online'])).out;
  expect(await review()).toContain(`the service uses the application x (production), which was supplied for ${ID}`);
  expect(await review()).toContain(
    '  client: ferry application bee.quickbooks-online --client-id x --environment production --as client',
  );
  expect(await review()).not.toContain('check again');

  // `ferry approve` asks no question, because the approval is refused anyway.
  const confirm = () => Promise.reject(new Error('asked'));
  const approve = ['approve', 'bee.quickbooks-online', '--by', 'Sam'];
  const refused = await run(approve, { confirm, secret: async () => '' });
  expect(refused).toMatchObject({ exitCode: 1, err: '' });
  expect(refused.out).toContain('✗ refused: bee.quickbooks-online: the check of the details found 1 kind of problem');
  expect(refused.out).toContain('with: ferry reject bee.quickbooks-online supply-details --reason "check again"\n');

  // Two migrations can use the same application, even if they belong to different clients.
  expect(await supply('--client-id', 'x', '--by', 'Bea')).toMatchObject({ exitCode: 0 });
  await until(async () => (await findings())?.length === 0);
  expect(await review()).toContain('Application: x (production), supplied by Bea');
});

test('the file with the secret of a refused application is kept', async () => {
  const support = ['--by', 'Sam'];
  await run(['cancel', 'bee.quickbooks-online', '--reason', 'no', '--yes', ...support]);
  const approved = await run(['approve', ID, '--yes', ...support]);
  expect(approved).toMatchObject({ exitCode: 0, err: '' });
  const { exitCode, out } = await application('late', 'production', '--secret-file', secretFile(CANARY));
  expect(exitCode).toBe(1);
  expect(out).toContain('the details have been accepted');
  expect(out).toContain('Nothing was registered with the service');
  expect(out).not.toContain('Delete it');
});
