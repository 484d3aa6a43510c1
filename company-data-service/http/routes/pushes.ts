import { z } from 'zod';
import type { DataType } from '../../platform/data-types';
import { RECORD_SCHEMAS } from '../../platform/record-schemas';
import { findPush, insertPush, listPushes, pushFields, type Push } from '../../pushes/pushes';
import type { Api, ServiceContext } from '../context';
import { requireConnectionDataType, DataTypeSchema } from '../data-sets';
import { badRequest, conflict, notFound } from '../errors/errors';
import { answerOnce } from '../idempotency';
import { ListSchema, listRequest } from '../lists/list-requests';
import { pageResponse, pageBounds } from '../lists/paging';
import { CompanyPathSchema, ConnectionPathSchema, isUuid, loadCompany, loadConnection } from '../resources';
import { pageOf } from '../schemas/common';
import { PushedRecordSchema, PushOperationSchema, type PushOperationView } from '../schemas/push';

export function pushRoutes(app: Api, context: ServiceContext): void {
  const { db } = context;
  const withCompany = loadCompany(context);
  const tags = ['Pushes'];

  app.post(
    '/companies/:companyId/connections/:connectionId/push/:dataType',
    {
      onRequest: [withCompany, loadConnection, requireConnectionDataType],
      schema: {
        summary: 'Create a record at the platform',
        description: 'Responds immediately with an operation that is `Pending`. Read its outcome later.',
        tags,
        params: ConnectionPathSchema.extend({ dataType: DataTypeSchema }),
        body: PushedRecordSchema,
        response: { 200: PushOperationSchema },
      },
    },
    async (request, reply) => {
      const { company, connection, body: record } = request;
      const { dataType } = request.params;
      checkRecord(dataType, record);
      return answerOnce(db, request, reply, async (transaction) => {
        if (connection.status !== 'Linked') throw conflict(`Connection ${connection.id} is not linked.`);
        const { id: companyId } = company;
        const push = await insertPush(transaction, { companyId, connectionId: connection.id, dataType, record });
        return { statusCode: 200, body: pushOperationView(push) };
      });
    },
  );

  app.get(
    '/companies/:companyId/push',
    {
      onRequest: withCompany,
      schema: {
        summary: 'List the push operations of a company',
        tags,
        params: CompanyPathSchema,
        querystring: ListSchema,
        response: { 200: pageOf(PushOperationSchema) },
      },
    },
    async ({ company: { id: companyId }, query }) => {
      const { items, total } = await listPushes(
        db,
        { companyId, ...listRequest(query, pushFields) },
        pageBounds(query),
      );
      return pageResponse(`/companies/${companyId}/push`, query, { items: items.map(pushOperationView), total });
    },
  );

  app.get(
    '/companies/:companyId/push/:pushOperationKey',
    {
      onRequest: withCompany,
      schema: {
        summary: 'Read a push operation',
        tags,
        params: CompanyPathSchema.extend({ pushOperationKey: z.string() }),
        response: { 200: PushOperationSchema },
      },
    },
    async ({ company, params: { pushOperationKey } }) => {
      const push = isUuid(pushOperationKey) ? await findPush(db, company.id, pushOperationKey) : undefined;
      if (!push) throw notFound(`Push operation ${pushOperationKey} of company ${company.id}`);
      return pushOperationView(push);
    },
  );
}

/**
 * Validates a record. It must have at least one field of the data type, and each such field must be valid; other fields
 * of the data type can be missing. Fields that the data type does not have are ignored.
 */
function checkRecord(dataType: DataType, record: Readonly<Record<string, unknown>>): void {
  const schema: z.ZodObject = RECORD_SCHEMAS[dataType];
  const { error } = schema.partial().safeParse(record);
  const problems = (error?.issues ?? []).map(({ path, message }) => {
    const itemId = path.join('.');
    return { itemId, message: `${itemId}: ${message}` };
  });
  if (!Object.keys(record).some((field) => Object.hasOwn(schema.shape, field))) {
    problems.push({ itemId: 'body', message: `body: has none of the fields of the data type ${dataType}` });
  }
  if (problems.length > 0) throw badRequest(problems);
}

function pushOperationView(push: Push): PushOperationView {
  return {
    companyId: push.company_id,
    pushOperationKey: push.id,
    dataConnectionKey: push.connection_id,
    dataType: push.data_type,
    requestedOnUtc: push.requested_at.toISOString(),
    ...(push.completed_at && { completedOnUtc: push.completed_at.toISOString() }),
    status: push.status,
    statusCode: push.status_code,
    ...(push.provider_status_code !== null && { providerStatusCode: push.provider_status_code }),
    changes: [...push.changes],
    ...(push.error_message !== null && { errorMessage: push.error_message }),
  };
}
