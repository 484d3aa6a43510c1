import { authorizeConnection } from '../../connections/authorize';
import { deleteConnection, insertConnection, platformOf, unlinkConnection } from '../../connections/connections';
import { findCompany } from '../../companies/companies';
import type { Database } from '../../database/database';
import { PlatformInaccessible } from '../../platform/platform';
import { fieldsOf } from '../../query/fields';
import { validatedCredential } from '../authorization-body';
import type { Api, ServiceContext } from '../context';
import { notAnAdministrator, downstreamInaccessible, notFound } from '../errors/errors';
import { answerOnce } from '../idempotency';
import { ListSchema, pageOfItems } from '../lists/list-requests';
import { CompanyPathSchema, ConnectionPathSchema, loadCompany, loadConnection, platformAt } from '../resources';
import { NothingSchema, pageOf } from '../schemas/common';
import {
  AuthorizationSchema,
  ConnectionPatchSchema,
  ConnectionSchema,
  NewConnectionSchema,
} from '../schemas/connection';
import { connectionView } from '../views';

const CONNECTION_FIELDS = fieldsOf(ConnectionSchema);

export function connectionRoutes(app: Api, context: ServiceContext): void {
  const { db, waitingDb, publicUrl } = context;
  const withCompany = loadCompany(context);
  const withConnection = [withCompany, loadConnection];
  const connectionSchemas = { params: ConnectionPathSchema, response: { 200: ConnectionSchema } };

  app.get(
    '/companies/:companyId/connections',
    {
      onRequest: withCompany,
      schema: {
        summary: 'List the connections of a company',
        tags: ['Connections'],
        params: CompanyPathSchema,
        querystring: ListSchema,
        response: { 200: pageOf(ConnectionSchema) },
      },
    },
    async ({ company, query }) => {
      const views = company.connections.map((connection) => connectionView(connection, publicUrl()));
      return pageOfItems(`/companies/${company.id}/connections`, query, views, CONNECTION_FIELDS);
    },
  );

  app.post(
    '/companies/:companyId/connections',
    {
      onRequest: withCompany,
      schema: {
        summary: 'Create a connection to a platform',
        tags: ['Connections'],
        params: CompanyPathSchema,
        body: NewConnectionSchema,
        response: { 200: ConnectionSchema },
      },
    },
    (request, reply) =>
      answerOnce(db, request, reply, async (transaction) => {
        const platform = platformAt(request.body.platformKey, 'Platform');
        const connection = await insertConnection(transaction, request.company.id, platform);
        return { statusCode: 200, body: connectionView(connection, publicUrl()) };
      }),
  );

  app.get(
    '/companies/:companyId/connections/:connectionId',
    {
      onRequest: withConnection,
      schema: { summary: 'Read a connection', tags: ['Connections'], ...connectionSchemas },
    },
    async ({ connection }) => connectionView(connection, publicUrl()),
  );

  app.patch(
    '/companies/:companyId/connections/:connectionId',
    {
      onRequest: withConnection,
      schema: {
        summary: 'Unlink a connection from its platform',
        tags: ['Connections'],
        ...connectionSchemas,
        body: ConnectionPatchSchema,
      },
    },
    (request, reply) =>
      answerOnce(waitingDb, request, reply, async (transaction) => {
        await unlinkConnection(transaction, request.connection.id);
        return { statusCode: 200, body: await reread(transaction, request.connection) };
      }),
  );

  app.delete(
    '/companies/:companyId/connections/:connectionId',
    {
      onRequest: withConnection,
      schema: {
        summary: 'Delete a connection with its synced data',
        tags: ['Connections'],
        params: ConnectionPathSchema,
        response: { 200: NothingSchema },
      },
    },
    async ({ connection }, reply) => {
      await waitingDb.transaction().execute((transaction) => deleteConnection(transaction, connection.id));
      return reply.code(200).send();
    },
  );

  app.put(
    '/companies/:companyId/connections/:connectionId/authorization',
    {
      onRequest: [
        ...withConnection,
        async ({ connection, caller }) => {
          const selfService = platformOf(connection).routes.includes('self-service');
          if (!selfService && caller.role !== 'administrator') throw notAnAdministrator();
        },
      ],
      schema: {
        summary: 'Authorize a connection with credentials that the platform issued to another application',
        tags: ['Connections'],
        ...connectionSchemas,
        body: AuthorizationSchema,
      },
    },
    async ({ connection, caller, body }) => {
      const platform = platformOf(connection);
      const credential = validatedCredential(body, platform);
      try {
        const { accountId } = caller;
        await authorizeConnection(context, { connectionId: connection.id, accountId, platform, credential });
      } catch (failure) {
        if (failure instanceof PlatformInaccessible) throw downstreamInaccessible(platform.name, failure.message);
        throw failure;
      }
      return reread(db, connection);
    },
  );

  async function reread(from: Database, { id, company_id }: { id: string; company_id: string }) {
    const company = await findCompany(from, company_id);
    const connection = company?.connections.find((candidate) => candidate.id === id);
    if (!connection) throw notFound(`Connection ${id} of company ${company_id}`);
    return connectionView(connection, publicUrl());
  }
}
