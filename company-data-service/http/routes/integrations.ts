import type { onRequestAsyncHookHandler } from 'fastify';
import { z } from 'zod';
import { PLATFORMS, type Platform as PlatformEntry } from '../../../platforms/platforms';
import { applicationBinding } from '../../credentials/secret-cipher';
import type { Database } from '../../database/database';
import { fieldsOf } from '../../query/fields';
import type { Api, ServiceContext } from '../context';
import { ListSchema, pageOfItems } from '../lists/list-requests';
import { administratorOnly, platformAt } from '../resources';
import { pageOf } from '../schemas/common';
import {
  ApplicationBodySchema,
  ApplicationSchema,
  IntegrationSchema,
  type IntegrationView,
} from '../schemas/integration';

const INTEGRATION_FIELDS = fieldsOf(IntegrationSchema);
const PlatformPathSchema = z.object({ platformKey: z.string() });

export function integrationRoutes(app: Api, { db, cipher, publicUrl }: ServiceContext): void {
  app.get(
    '/integrations',
    {
      schema: {
        summary: 'List the platforms',
        tags: ['Integrations'],
        querystring: ListSchema,
        response: { 200: pageOf(IntegrationSchema) },
      },
    },
    async ({ caller, query }) => {
      const applications = await readApplications(db, caller.accountId);
      const views = PLATFORMS.map((entry) => integrationView(entry, applications, publicUrl()));
      return pageOfItems('/integrations', query, views, INTEGRATION_FIELDS);
    },
  );

  app.get(
    '/integrations/:platformKey',
    {
      schema: {
        summary: 'Read a platform',
        tags: ['Integrations'],
        params: PlatformPathSchema,
        response: { 200: IntegrationSchema },
      },
    },
    async ({ caller, params }) => {
      const platform = platformAt(params.platformKey, 'Integration');
      return integrationView(platform, await readApplications(db, caller.accountId), publicUrl());
    },
  );

  app.put(
    '/integrations/:platformKey/credentials',
    {
      onRequest: [administratorOnly, platformExists],
      schema: {
        summary: 'Store the credentials of the client’s own application for a platform',
        tags: ['Integrations'],
        params: PlatformPathSchema,
        body: ApplicationBodySchema,
        response: { 200: ApplicationSchema },
      },
    },
    async ({ caller, params, body: { clientId, clientSecret, environment } }) => {
      const encrypted_secret = cipher.encrypt(clientSecret, applicationBinding(caller.accountId, params.platformKey));
      const application = { client_id: clientId, encrypted_secret, environment };
      await db
        .insertInto('applications')
        .values({ account_id: caller.accountId, platform_key: params.platformKey, ...application })
        .onConflict((conflict) => conflict.columns(['account_id', 'platform_key']).doUpdateSet(application))
        .execute();
      return { clientId, environment };
    },
  );
}

const platformExists: onRequestAsyncHookHandler = async ({ params }) => {
  platformAt(PlatformPathSchema.parse(params).platformKey, 'Integration');
};

type Applications = ReadonlyMap<string, NonNullable<IntegrationView['application']>>;

/** Returns the account's applications by platform, without their secrets. */
async function readApplications(db: Database, accountId: string): Promise<Applications> {
  const rows = await db
    .selectFrom('applications')
    .select(['platform_key', 'client_id', 'environment'])
    .where('account_id', '=', accountId)
    .execute();
  return new Map(
    rows.map(({ platform_key, client_id: clientId, environment }) => [platform_key, { clientId, environment }]),
  );
}

function integrationView(platform: PlatformEntry, applications: Applications, publicUrl: string): IntegrationView {
  const { key, name, sourceType, routes, requiredFields, optionalFields } = platform;
  return {
    key,
    logoUrl: `${publicUrl}/logos/${key}.svg`,
    name,
    enabled: true,
    sourceType,
    migrationRoutes: [...routes],
    authorizationFields: [
      ...requiredFields.map((field) => ({ name: field, required: true })),
      ...optionalFields.map((field) => ({ name: field, required: false })),
    ],
    callbackUrl: `${publicUrl}/oauth/callback/${key}`,
    application: applications.get(key) ?? null,
  };
}
