import { readSyncSettings, storeSyncSettings } from '../../syncs/sync-settings';
import type { Api, ServiceContext } from '../context';
import { syncScheduleNotAllowed } from '../errors/errors';
import { answerOnce } from '../idempotency';
import { CompanyPathSchema, loadCompany } from '../resources';
import { NothingSchema } from '../schemas/common';
import { SyncSettingsBodySchema, SyncSettingsSchema } from '../schemas/company';

const HOURLY = 1;

export function syncSettingRoutes(app: Api, context: ServiceContext): void {
  const { db } = context;
  const onRequest = loadCompany(context);
  const described = { tags: ['Syncs'], params: CompanyPathSchema };

  app.get(
    '/companies/:companyId/syncSettings',
    { onRequest, schema: { ...described, summary: 'Read the sync settings', response: { 200: SyncSettingsSchema } } },
    async ({ company }) => ({ companyId: company.id, ...(await readSyncSettings(db, company.id)) }),
  );

  app.post(
    '/companies/:companyId/syncSettings',
    {
      onRequest,
      schema: {
        ...described,
        summary: 'Change the sync settings',
        body: SyncSettingsBodySchema,
        response: { 204: NothingSchema },
      },
    },
    (request, reply) =>
      answerOnce(db, request, reply, async (transaction) => {
        const { settings } = request.body;
        const isHourly = settings.some(({ syncSchedule }) => syncSchedule === HOURLY);
        if (isHourly && request.caller.plan === 'trial') throw syncScheduleNotAllowed();
        await storeSyncSettings(transaction, request.company.id, settings);
        return { statusCode: 204 };
      }),
  );
}
