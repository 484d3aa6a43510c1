import { z } from 'zod';
import type { Company } from '../../companies/companies';
import { isDataType } from '../../platform/data-types';
import {
  findSync,
  listSyncs,
  queueSyncs,
  readDataSets,
  syncFields,
  type DataSetState,
  type Sync,
} from '../../syncs/syncs';
import type { Api, ServiceContext } from '../context';
import { conflict, notFound } from '../errors/errors';
import { answerOnce } from '../idempotency';
import { ListSchema, listRequest } from '../lists/list-requests';
import { pageResponse, pageBounds } from '../lists/paging';
import { CompanyPathSchema, isUuid, loadCompany } from '../resources';
import { NothingSchema, pageOf } from '../schemas/common';
import { DataStatusSchema, PullOperationSchema, type DataStatusView, type PullOperationView } from '../schemas/data';
import { connectionsWith, assertSupported } from '../data-sets';

const QueueQuerySchema = z.object({ connectionId: z.string().optional() });

export function syncRoutes(app: Api, context: ServiceContext): void {
  const { db } = context;
  const onRequest = loadCompany(context);

  app.post(
    '/companies/:companyId/data/all',
    {
      onRequest,
      schema: {
        summary: 'Start the sync of all data',
        tags: ['Syncs'],
        params: CompanyPathSchema,
        response: { 204: NothingSchema },
      },
    },
    async (request, reply) => {
      const { company } = request;
      return answerOnce(db, request, reply, async (transaction) => {
        const targets = linked(company).flatMap(({ id, data_types }) =>
          data_types.map((dataType) => ({ connectionId: id, dataType })),
        );
        await queueSyncs(transaction, company.id, targets);
        return { statusCode: 204 };
      });
    },
  );

  app.post(
    '/companies/:companyId/data/queue/:dataType',
    {
      onRequest,
      schema: {
        summary: 'Start the sync of one data set',
        tags: ['Syncs'],
        params: CompanyPathSchema.extend({ dataType: z.string() }),
        querystring: QueueQuerySchema,
        response: { 200: PullOperationSchema },
      },
    },
    async (request, reply) => {
      const { company, query } = request;
      const { dataType } = request.params;
      const candidates = company.connections.filter(({ id }) => (query.connectionId ?? id).toLowerCase() === id);
      if (query.connectionId !== undefined && candidates.length === 0) {
        throw notFound(`Connection ${query.connectionId} of company ${company.id}`);
      }
      assertSupported(candidates, dataType);
      return answerOnce(db, request, reply, async (transaction) => {
        if (query.connectionId !== undefined && candidates.every(({ status }) => status !== 'Linked'))
          throw conflict(`Connection ${query.connectionId} is not linked.`);
        const [connection] = connectionsWith(linked({ ...company, connections: candidates }), dataType);
        if (!connection)
          throw conflict(`No linked connection of company ${company.id} supports the data type ${dataType}.`);
        const [sync] = await queueSyncs(transaction, company.id, [{ connectionId: connection.id, dataType }]);
        if (!sync) throw conflict(`A sync of ${dataType} is already queued or in progress.`);
        return { statusCode: 200, body: pullOperationView(sync) };
      });
    },
  );

  app.get(
    '/companies/:companyId/dataStatus',
    {
      onRequest,
      schema: {
        summary: 'Read the status of each data set',
        tags: ['Syncs'],
        params: CompanyPathSchema,
        response: { 200: DataStatusSchema },
      },
    },
    async ({ company }) => dataStatusView(company, await readDataSets(db, company.id)),
  );

  app.get(
    '/companies/:companyId/data/history',
    {
      onRequest,
      schema: {
        summary: 'List the syncs of a company',
        tags: ['Syncs'],
        params: CompanyPathSchema,
        querystring: ListSchema,
        response: { 200: pageOf(PullOperationSchema) },
      },
    },
    async ({ company, query }) => {
      const { items, total } = await listSyncs(
        db,
        { companyId: company.id, ...listRequest(query, syncFields) },
        pageBounds(query),
      );
      const path = `/companies/${company.id}/data/history`;
      return pageResponse(path, query, { items: items.map(pullOperationView), total });
    },
  );

  app.get(
    '/companies/:companyId/data/history/:datasetId',
    {
      onRequest,
      schema: {
        summary: 'Read a sync',
        tags: ['Syncs'],
        params: CompanyPathSchema.extend({ datasetId: z.string() }),
        response: { 200: PullOperationSchema },
      },
    },
    async ({ company, params: { datasetId } }) => {
      const sync = isUuid(datasetId) ? await findSync(db, company.id, datasetId) : undefined;
      if (!sync) throw notFound(`Sync ${datasetId} of company ${company.id}`);
      return pullOperationView(sync);
    },
  );
}

/**
 * Returns the linked connections, which can be synced.
 *
 * @throws ServiceError 409 if there are none
 */
function linked({ id, connections }: Company) {
  const usable = connections.filter(({ status }) => status === 'Linked');
  if (usable.length === 0) throw conflict(`Company ${id} has no linked connection.`);
  return usable;
}

function pullOperationView(sync: Sync): PullOperationView {
  const isCompleted = sync.status === 'Complete';
  return {
    id: sync.id,
    companyId: sync.company_id,
    connectionId: sync.connection_id,
    dataType: sync.data_type,
    status: sync.status,
    statusDescription: null,
    errorMessage: sync.error_message,
    requested: sync.requested_at.toISOString(),
    ...(sync.completed_at && { completed: sync.completed_at.toISOString() }),
    progress: sync.progress,
    isCompleted,
    isErrored: sync.completed_at !== null && !isCompleted && sync.status !== 'Cancelled',
  };
}

/**
 * Returns the status of every data type that the company's linked connections have or for which a sync has been
 * requested.
 */
function dataStatusView({ connections }: Company, states: readonly DataSetState[]): DataStatusView {
  const offered = connections.filter(({ status }) => status === 'Linked').flatMap(({ data_types }) => data_types);
  const status: DataStatusView = {};
  for (const dataType of offered.filter(isDataType).sort()) status[dataType] = { dataType, currentStatus: 'Initial' };
  for (const state of states) {
    status[state.data_type] = {
      dataType: state.data_type,
      currentStatus: state.status,
      latestSyncId: state.latest_sync_id,
      ...(state.last_successful_sync && { lastSuccessfulSync: state.last_successful_sync.toISOString() }),
      ...(state.latest_successful_sync_id !== null && { latestSuccessfulSyncId: state.latest_successful_sync_id }),
    };
  }
  return status;
}
