import { z } from 'zod';
import {
  companyFields,
  lockAndCountCompanies,
  deleteCompany,
  findCompany,
  insertCompany,
  listCompanies,
  updateCompany,
  type CompanyFields,
  type TagFilter,
} from '../../companies/companies';
import type { Database } from '../../database/database';
import type { Caller } from '../authentication';
import type { Api, ServiceContext } from '../context';
import { companyLimitExceeded, notFound } from '../errors/errors';
import { answerOnce } from '../idempotency';
import { ListSchema, listRequest } from '../lists/list-requests';
import { pageResponse, pageBounds } from '../lists/paging';
import { CompanyPathSchema, loadCompany } from '../resources';
import { NothingSchema, pageOf } from '../schemas/common';
import { CompanyBodySchema, CompanyPatchSchema, CompanySchema, type CompanyPatch } from '../schemas/company';
import { companyView } from '../views';

/** Maximum number of companies of a trial account. */
export const TRIAL_COMPANIES = 50;

const TAG_FILTER = /^([^=!~]+)(=|!=|~)(.*)$/s;
/** `&&`, if another filter follows it. Otherwise `&&` is part of the value. */
const NEXT_TAG_FILTER = /\s*&&\s*(?=[^=!~&]+(?:=|!=|~))/;

const CompaniesSchema = ListSchema.extend({
  tags: z
    .string()
    .regex(TAG_FILTER, 'must look like name=value, name!=value or name~value')
    .optional()
    .describe('Filters by tags, joined by `&&`: `region=uk && team!=sales`.'),
});

export function companyRoutes(app: Api, context: ServiceContext): void {
  const { db, waitingDb, publicUrl } = context;
  const onRequest = loadCompany(context);

  app.get(
    '/companies',
    {
      schema: {
        summary: 'List companies',
        tags: ['Companies'],
        querystring: CompaniesSchema,
        response: { 200: pageOf(CompanySchema) },
      },
    },
    async ({ query, caller }) => {
      const filter = {
        accountId: caller.accountId,
        tags: tagFilters(query.tags),
        ...listRequest(query, companyFields),
      };
      const { items, total } = await listCompanies(db, filter, pageBounds(query));
      const companies = items.map((company) => companyView(company, publicUrl()));
      return pageResponse('/companies', query, { items: companies, total });
    },
  );

  app.post(
    '/companies',
    {
      schema: {
        summary: 'Create a company',
        tags: ['Companies'],
        body: CompanyBodySchema,
        response: { 200: CompanySchema },
      },
    },
    (request, reply) =>
      answerOnce(db, request, reply, async (transaction) => {
        await checkLimit(transaction, request.caller);
        const { name, description = null, tags = {} } = request.body;
        const company = await insertCompany(transaction, request.caller.accountId, { name, description, tags });
        return { statusCode: 200, body: companyView(company, publicUrl()) };
      }),
  );

  app.get(
    '/companies/:companyId',
    {
      onRequest,
      schema: {
        summary: 'Read a company',
        tags: ['Companies'],
        params: CompanyPathSchema,
        response: { 200: CompanySchema },
      },
    },
    async ({ company }) => companyView(company, publicUrl()),
  );

  app.put(
    '/companies/:companyId',
    {
      onRequest,
      schema: {
        summary: 'Replace the fields of a company',
        tags: ['Companies'],
        params: CompanyPathSchema,
        body: CompanyBodySchema,
        response: { 200: CompanySchema },
      },
    },
    async ({ company, body: { name, description = null, tags = {} } }) => {
      await updateCompany(db, company.id, { name, description, tags });
      return reread(db, company.id);
    },
  );

  app.patch(
    '/companies/:companyId',
    {
      onRequest,
      schema: {
        summary: 'Change fields of a company',
        tags: ['Companies'],
        params: CompanyPathSchema,
        body: CompanyPatchSchema,
        response: { 200: CompanySchema },
      },
    },
    (request, reply) =>
      answerOnce(db, request, reply, async (transaction) => {
        await updateCompany(transaction, request.company.id, changesIn(request.body));
        return { statusCode: 200, body: await reread(transaction, request.company.id) };
      }),
  );

  app.delete(
    '/companies/:companyId',
    {
      onRequest,
      schema: {
        summary: 'Delete a company with all of its data',
        tags: ['Companies'],
        params: CompanyPathSchema,
        response: { 204: NothingSchema },
      },
    },
    async ({ company }, reply) => {
      await waitingDb.transaction().execute((transaction) => deleteCompany(transaction, company.id));
      return reply.code(204).send();
    },
  );

  async function reread(from: Database, id: string) {
    const company = await findCompany(from, id);
    if (!company) throw notFound(`Company ${id}`);
    return companyView(company, publicUrl());
  }
}

async function checkLimit(transaction: Database, { plan, accountId }: Caller): Promise<void> {
  if (plan !== 'trial') return;
  const companies = await lockAndCountCompanies(transaction, accountId);
  if (companies >= TRIAL_COMPANIES) throw companyLimitExceeded(TRIAL_COMPANIES);
}

function changesIn({ name, description, tags }: CompanyPatch): Partial<CompanyFields> {
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(tags !== undefined && { tags }),
  };
}

function tagFilters(text: string | undefined): TagFilter[] {
  return (text?.split(NEXT_TAG_FILTER) ?? []).flatMap((filter) => {
    const [, name, operator, value = ''] = TAG_FILTER.exec(filter) ?? [];
    return name === undefined
      ? []
      : [{ name, operator: operator === '!=' || operator === '~' ? operator : '=', value }];
  });
}
