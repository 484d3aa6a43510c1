import { randomUUID } from 'node:crypto';
import { credentialBinding } from '../../../company-data-service/credentials/secret-cipher';
import { PushOperationSchema } from '../../../company-data-service/http/schemas/push';
import { SERVICE_CIPHER } from '../../support/servers/keys';
import {
  newAuthorizedConnection,
  newConnection,
  quickBooksCredential,
  runService,
  type Body,
  type RunningService,
} from '../running-service';
import { execute } from '../../support/servers/database';

let service: RunningService;
beforeAll(async () => {
  service = await runService();
});
afterAll(() => service.close());

const record = { invoiceNumber: 'INV-1', totalAmount: 12.5, status: 'Draft' };

async function waitForPush(company: string, key: string): Promise<Body> {
  for (;;) {
    const { body } = await service.client('GET', `${company}/push/${key}`);
    if (body.status !== 'Pending') return body;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
const push = async ({ connection }: { connection: string }, body: unknown = record, dataType = 'invoices') =>
  service.client('POST', `${connection}/push/${dataType}`, { body });

describe('4.7 A push operation', () => {
  it('is pending with status code 202 at first and succeeds with status code 200', async () => {
    const paths = await newAuthorizedConnection(service.administrator, 'sbx-ok-1');
    const created = await push(paths);
    expect(created.status).toBe(200);
    const operation = PushOperationSchema.strict().parse(created.body);
    expect(operation).toMatchObject({ status: 'Pending', statusCode: 202, dataType: 'invoices', changes: [] });
    expect(operation).not.toHaveProperty('completedOnUtc');

    const done = PushOperationSchema.strict().parse(await waitForPush(paths.company, operation.pushOperationKey));
    expect(done).toMatchObject({ status: 'Success', statusCode: 200, providerStatusCode: 200 });
    expect(done.changes).toMatchObject([{ type: 'Created', recordRef: { dataType: 'invoices' } }]);
  });

  it('shows the provider’s 202 after the provider has accepted the record but has not finished', async () => {
    const paths = await newAuthorizedConnection(service.administrator, 'sbx-slow-500-ok-1');
    const { pushOperationKey } = PushOperationSchema.parse((await push(paths)).body);
    for (;;) {
      const { body, status } = await service.client('GET', `${paths.company}/push/${pushOperationKey}`);
      const { providerStatusCode, statusCode } = PushOperationSchema.parse(body);
      expect([status, statusCode]).toEqual([200, 202]);
      if (providerStatusCode === 202) break;
    }
    expect(await waitForPush(paths.company, pushOperationKey)).toMatchObject({ status: 'Success' });
  });

  it('times out when the provider takes too long', async () => {
    const paths = await newAuthorizedConnection(service.administrator, 'sbx-ok-1.slow');
    const id = paths.connection.split('/').at(-1) ?? '';
    const credential = JSON.stringify(quickBooksCredential('sbx-slow-700000-ok-1'));
    const encrypted = SERVICE_CIPHER.encrypt(credential, credentialBinding(id)).toString('hex');
    await execute(
      service.database.url,
      `update company_data_service.credentials set encrypted_fields = decode('${encrypted}', 'hex')
       where connection_id = '${id}'`,
    );
    const { pushOperationKey } = PushOperationSchema.parse((await push(paths)).body);
    expect(await waitForPush(paths.company, pushOperationKey)).toMatchObject({ status: 'TimedOut', statusCode: 504 });
  });

  it('fails with the provider’s error', async () => {
    const paths = await newAuthorizedConnection(service.administrator, 'sbx-expires-during-sync-2');
    const { pushOperationKey } = PushOperationSchema.parse((await push(paths)).body);
    expect(await waitForPush(paths.company, pushOperationKey)).toMatchObject({
      status: 'Failed',
      statusCode: 401,
      providerStatusCode: 401,
      errorMessage: 'The grant has expired.',
    });
  });

  it('is created once per idempotency key', async () => {
    const paths = await newAuthorizedConnection(service.administrator, 'sbx-ok-1');
    const headers = { 'idempotency-key': randomUUID() };
    const pushBill = async () =>
      service.client('POST', `${paths.connection}/push/bills`, { body: { reference: 'B' }, headers });
    expect((await pushBill()).body).toEqual((await pushBill()).body);
    const { body } = await service.client('GET', `${paths.company}/push`);
    expect(body).toMatchObject({ totalResults: 1 });
    expect(PushOperationSchema.parse(body.results[0])).toMatchObject({ dataType: 'bills' });
  });

  it('is refused with 400 for an invalid record and with 409 if the connection is not linked', async () => {
    const paths = await newAuthorizedConnection(service.administrator, 'sbx-without-bills-ok-1');
    const wrong = await push(paths, { totalAmount: 'much', status: 'Lost' });
    expect(wrong.status).toBe(400);
    expect(wrong.body.validation.errors.map(({ itemId }) => itemId).sort()).toEqual(['status', 'totalAmount']);
    for (const body of [{}, { colour: 'red' }, [], 'text'])
      expect(await push(paths, body)).toMatchObject({ status: 400 });
    expect(await push(await newConnection(service.client))).toMatchObject({ status: 409 });
  });
});
