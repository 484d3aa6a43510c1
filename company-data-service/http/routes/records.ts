import { z } from 'zod';
import type { Company } from '../../companies/companies';
import { platformOf } from '../../connections/connections';
import type { DataType } from '../../platform/data-types';
import { findRecord, listRecords, fieldKindOf } from '../../records/records';
import { isReadable } from '../../syncs/syncs';
import type { Api, ServiceContext } from '../context';
import { requireCompanyDataType, DataTypeSchema, connectionsWith, assertSupported } from '../data-sets';
import { conflict, itemNotFound } from '../errors/errors';
import { ListSchema, listRequest } from '../lists/list-requests';
import { pageResponse, pageBounds } from '../lists/paging';
import { fieldFilters } from '../lists/record-filters';
import { CompanyPathSchema, loadCompany } from '../resources';
import { errorAnswer, pageOf } from '../schemas/common';
import { RecordSchema } from '../schemas/data';

const NOT_READY = errorAnswer('The data set has not been requested, or no sync of it has been completed.');

export function recordRoutes(app: Api, context: ServiceContext): void {
  const { db } = context;
  const onRequest = loadCompany(context);

  app.get(
    '/companies/:companyId/data/:dataType',
    {
      onRequest: [onRequest, requireCompanyDataType],
      schema: {
        summary: 'List the records of a data set',
        tags: ['Data'],
        params: CompanyPathSchema.extend({ dataType: DataTypeSchema }),
        querystring: ListSchema.catchall(z.string()),
        response: { 200: pageOf(RecordSchema), 409: NOT_READY },
      },
    },
    async ({ company, params: { dataType }, query }) => {
      const filters = fieldFilters(dataType, query);
      const request = listRequest(query, fieldKindOf(dataType));
      await requireReadable(company, dataType);
      const filter = { companyId: company.id, dataType, filters, ...request };
      const page = await listRecords(db, filter, pageBounds(query));
      return pageResponse(`/companies/${company.id}/data/${dataType}`, query, page);
    },
  );

  app.get(
    '/companies/:companyId/data/invoices/:invoiceId',
    {
      onRequest,
      schema: {
        summary: 'Read an invoice',
        tags: ['Data'],
        params: CompanyPathSchema.extend({ invoiceId: z.string() }),
        response: { 200: RecordSchema, 409: NOT_READY },
      },
    },
    async ({ company, params: { invoiceId } }) => {
      assertSupported(company.connections, 'invoices');
      await requireReadable(company, 'invoices');
      const invoice = await findRecord(db, { companyId: company.id, dataType: 'invoices', id: invoiceId });
      if (!invoice) throw noInvoice(company, invoiceId);
      return invoice;
    },
  );

  async function requireReadable({ id }: Company, dataType: DataType): Promise<void> {
    if (!(await isReadable(db, id, dataType))) {
      throw conflict(
        `The data set ${dataType} of company ${id} is not ready. Queue a sync if none is in progress, and wait until the sync is complete.`,
      );
    }
  }
}

function noInvoice({ id, connections }: Company, invoiceId: string) {
  const platforms = connectionsWith(connections, 'invoices').map((connection) => platformOf(connection).name);
  const description = `Company ${id} has no invoice ${invoiceId}.`;
  return itemNotFound(platforms.join(', '), 'InvoiceNotFoundException', description);
}
