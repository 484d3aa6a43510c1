import type { DataType } from '../../company-data-service/platform/data-types';
import { RECORD_SCHEMAS } from '../../company-data-service/platform/record-schemas';
import { until } from '../support/async';
import {
  newAuthorizedConnection,
  runService,
  waitForSyncs,
  newSyncedConnection,
  type Body,
  type RunningService,
} from './running-service';

let service: RunningService;
beforeAll(async () => {
  service = await runService();
});
afterAll(() => service.close());

interface Paths {
  readonly company: string;
  readonly connection: string;
}

/** Pushes a record, waits until the platform has created it, and returns its id there. */
async function pushUntilCreated({ company, connection }: Paths, dataType: DataType, body: unknown): Promise<string> {
  const operation = (await service.client('POST', `${connection}/push/${dataType}`, { body })).body;
  const { pushOperationKey } = operation as unknown as { pushOperationKey: string };
  let done = operation as unknown as { status: string; changes: { recordRef: { id: string } }[] };
  await until(async () => {
    done = (await service.client('GET', `${company}/push/${pushOperationKey}`)).body as unknown as typeof done;
    return done.status !== 'Pending';
  });
  expect(done.status).toBe('Success');
  return done.changes[0]?.recordRef.id ?? '';
}

async function recordsAfterSync(company: string, dataType: DataType = 'invoices'): Promise<Body[]> {
  await service.client('POST', `${company}/data/all`);
  await waitForSyncs(service.client, company);
  return (await service.client('GET', `${company}/data/${dataType}?pageSize=5000`)).body.results;
}

describe('a pushed record', () => {
  it('is readable after the next sync and after every later sync, but not before', async () => {
    const paths = await newSyncedConnection(service.administrator, 'sbx-ok-3');
    const id = await pushUntilCreated(paths, 'invoices', { invoiceNumber: 'INV-77', totalAmount: 12.5, colour: 'red' });
    const invoice = `${paths.company}/data/invoices/${id}`;
    expect(await service.client('GET', invoice)).toMatchObject({ status: 404 });

    for (const _sync of [1, 2]) {
      const invoices = await recordsAfterSync(paths.company);
      expect(invoices).toHaveLength(4);
      const { body } = await service.client('GET', invoice);
      expect(body).toMatchObject({
        id,
        invoiceNumber: 'INV-77',
        totalAmount: 12.5,
        amountDue: 12.5,
        status: 'Submitted',
      });
      expect(body).not.toHaveProperty('colour');
      expect(invoices).toContainEqual(body);
    }
    expect(await recordsAfterSync(paths.company, 'bills')).toHaveLength(2);
  });

  it.each([
    ['chartOfAccounts', { name: 'Petty cash' }],
    ['bills', { totalAmount: 7.5, subTotal: 6.5, taxAmount: 1 }],
    ['customers', { status: 'Archived' }],
    ['invoices', { customerRef: { id: 'customer-1' } }],
    ['items', { isActive: false }],
    ['payments', { currency: 'EUR' }],
    ['suppliers', { name: 'Acme' }],
  ] as const)('has all fields of its type even if some were left out: %s', async (dataType, given) => {
    const paths = await newAuthorizedConnection(service.administrator, 'sbx-ok-1');
    const id = await pushUntilCreated(paths, dataType, { ...given, id: 'mine' });
    const found = (await recordsAfterSync(paths.company, dataType)).find((record) => record.id === id);
    expect(RECORD_SCHEMAS[dataType].strict().parse(found)).toMatchObject(given);
  });

  it('has amounts that fit together, even if some were left out', async () => {
    const paths = await newAuthorizedConnection(service.administrator, 'sbx-ok-1');
    await pushUntilCreated(paths, 'bills', { reference: 'total', totalAmount: 120 });
    await pushUntilCreated(paths, 'bills', { reference: 'parts', subTotal: 50, taxAmount: 3 });
    const bills = await recordsAfterSync(paths.company, 'bills');
    expect(bills).toContainEqual(
      expect.objectContaining({ reference: 'total', totalAmount: 120, subTotal: 100, taxAmount: 20, amountDue: 120 }),
    );
    expect(bills).toContainEqual(
      expect.objectContaining({ reference: 'parts', totalAmount: 53, subTotal: 50, taxAmount: 3, amountDue: 53 }),
    );
  });

  it('is fetched together with the other records, across pages', async () => {
    const paths = await newAuthorizedConnection(service.administrator, 'sbx-ok-249');
    for (let index = 0; index < 3; index += 1)
      await pushUntilCreated(paths, 'invoices', { invoiceNumber: `NEW-${index}` });
    const numbers = (await recordsAfterSync(paths.company)).map(({ invoiceNumber }) => invoiceNumber);
    expect(new Set(numbers).size).toBe(252);
    expect(numbers).toEqual(expect.arrayContaining(['NEW-0', 'NEW-1', 'NEW-2']));
  });

  it('is not visible to another grant for the same organization', async () => {
    await pushUntilCreated(await newAuthorizedConnection(service.administrator, 'sbx-ok-2'), 'invoices', {
      invoiceNumber: 'MINE',
    });
    const { company } = await newAuthorizedConnection(service.administrator, 'sbx-ok-2');
    expect(await recordsAfterSync(company)).toHaveLength(2);
  });
});
