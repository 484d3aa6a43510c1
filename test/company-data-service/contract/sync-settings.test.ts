import { startService } from '../../../company-data-service';
import { SyncSettingsSchema } from '../../../company-data-service/http/schemas/company';
import { DATA_TYPES } from '../../../company-data-service/platform/data-types';
import {
  newAuthorizedConnection,
  newConnection,
  runService,
  waitForSyncs,
  newSyncedConnection,
  type RunningService,
} from '../running-service';
import { until } from '../../support/async';
import { SERVICE_CIPHER } from '../../support/servers/keys';
import { execute } from '../../support/servers/database';

let service: RunningService;
beforeAll(async () => {
  service = await runService();
});
afterAll(() => service.close());

const setting = (dataType: string, changes: object = {}) => ({
  dataType,
  fetchOnFirstLink: true,
  syncSchedule: 24,
  syncOrder: 0,
  ...changes,
});

describe('8 Sync settings', () => {
  it('are the defaults until a company has its own', async () => {
    const { company } = await newConnection(service.client);
    const { body } = await service.client('GET', `${company}/syncSettings`);
    const settings = SyncSettingsSchema.strict().parse(body);
    expect(settings).toMatchObject({ companyId: company.split('/').at(-1), overridesDefaults: false });
    expect(settings.settings.map(({ dataType }) => dataType)).toEqual(DATA_TYPES);

    const own = [setting('invoices', { syncSchedule: 0, fetchOnFirstLink: false })];
    const stored = await service.client('POST', `${company}/syncSettings`, { body: { settings: own } });
    expect(stored).toMatchObject({ status: 204, text: '' });
    const changed = SyncSettingsSchema.parse((await service.client('GET', `${company}/syncSettings`)).body);
    expect(changed).toMatchObject({ overridesDefaults: true });
    expect(changed.settings.find(({ dataType }) => dataType === 'invoices')).toEqual(own[0]);
    expect(changed.settings).toHaveLength(DATA_TYPES.length);
  });

  it.each([
    ['no settings', {}],
    ['an unknown data type', { settings: [setting('colours')] }],
    ['half an hour', { settings: [setting('bills', { syncSchedule: 0.5 })] }],
    ['a negative order', { settings: [setting('bills', { syncOrder: -1 })] }],
  ])('are refused with 400: %s', async (_what, body) => {
    const { company } = await newConnection(service.client);
    expect(await service.client('POST', `${company}/syncSettings`, { body })).toMatchObject({ status: 400 });
  });

  it('determine which data sets are synced after the end customer’s first consent', async () => {
    const { company, connection } = await newConnection(service.client);
    const settings = DATA_TYPES.map((dataType) => setting(dataType, { fetchOnFirstLink: dataType === 'bills' }));
    await service.client('POST', `${company}/syncSettings`, { body: { settings } });
    const { linkUrl } = (await service.client('GET', connection)).body;
    for (const _time of [1, 2]) {
      expect((await fetch(linkUrl, { method: 'POST' })).status).toBe(200);
      await waitForSyncs(service.client, company);
      const { body } = await service.client('GET', `${company}/data/history`);
      expect(body.results.map(({ dataType }) => dataType)).toEqual(['bills']);
    }
  });

  it('cause a data set to be synced again when its schedule is due, if its sync has been requested before', async () => {
    const { company } = await newSyncedConnection(service.administrator, 'sbx-ok-2');
    const untouched = await newAuthorizedConnection(service.administrator, 'sbx-ok-2');
    await service.client('POST', `${company}/syncSettings`, {
      body: { settings: [setting('items', { syncSchedule: 0 }), setting('bills', { syncSchedule: 48 })] },
    });
    await execute(
      service.database.url,
      `update company_data_service.data_sets set scheduled_at = scheduled_at - interval '25 hours'`,
    );
    const another = await startService({
      cipher: SERVICE_CIPHER,
      databaseUrl: service.database.url,
      syncBaseMs: 20,
      syncMsPerRecord: 1,
    });
    try {
      const again = DATA_TYPES.filter((dataType) => dataType !== 'items' && dataType !== 'bills');
      await until(
        async () =>
          (await service.client('GET', `${company}/data/history`)).body.totalResults ===
          DATA_TYPES.length + again.length,
      );
      const { body } = await service.client(
        'GET',
        `${company}/data/history?orderBy=-requested&pageSize=${again.length}`,
      );
      expect(body.results.map(({ dataType }) => dataType).sort()).toEqual(again);
      expect((await service.client('GET', `${untouched.company}/data/history`)).body.totalResults).toBe(0);
    } finally {
      await another.close();
    }
  });
});
