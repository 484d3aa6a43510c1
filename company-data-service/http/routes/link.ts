/** The pages behind `linkUrl` and `redirect`: where a company authorizes. They need no key: the company has none. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { PLATFORMS } from '../../../domain/platforms';
import { findCompany, findConnectionCompany, type Company, type Connection } from '../../companies/companies';
import { authorizeConnection } from '../../connections/authorize';
import { platformOf } from '../../connections/connections';
import type { Api, ServiceContext } from '../context';
import { notFound } from '../errors';
import { consentOf } from '../../platform/sandbox/consent';
import { escapeHtml, page } from '../page';
import { isUuid } from '../resources';

const ConnectionParamsSchema = z.object({ connectionId: z.string() });
const CompanyParamsSchema = z.object({ companyId: z.string() });
const HTML = 'text/html; charset=utf-8';

export function linkRoutes(app: Api, { db, slowDb, platforms, publicUrl }: ServiceContext): void {
  // Whoever only checks that the link works must not authorize by doing so.
  app.head(
    '/link/connection/:connectionId',
    { schema: { params: ConnectionParamsSchema } },
    async ({ params }, reply) => {
      await companyOfConnection(params.connectionId);
      return reply.type(HTML).send();
    },
  );

  app.get(
    '/link/connection/:connectionId',
    { schema: { params: ConnectionParamsSchema } },
    async ({ params }, reply) => {
      const { company, connection } = await companyOfConnection(params.connectionId);
      const platform = platformOf(connection);
      await authorizeConnection(slowDb, platforms, {
        connectionId: connection.id,
        accountId: company.account_id,
        platform,
        credential: consentOf(platform, connection.organization_id ?? `organization-${randomUUID()}`),
      });
      const text = `${company.name} is connected to ${platform.name}. You may close this page.`;
      return reply.type(HTML).send(page('Connected', `<p>${escapeHtml(text)}</p>`));
    },
  );

  app.get('/link/company/:companyId', { schema: { params: CompanyParamsSchema } }, async ({ params }, reply) => {
    const company = isUuid(params.companyId) ? await findCompany(db, params.companyId) : undefined;
    if (!company) throw notFound(`Company ${params.companyId}`);
    const links = company.connections.map(
      (connection) =>
        `<li><a href="${publicUrl()}/link/connection/${connection.id}">${escapeHtml(platformOf(connection).name)}</a></li>`,
    );
    return reply.type(HTML).send(page(company.name, `<p>Connect to:</p><ul>${links.join('')}</ul>`));
  });

  app.get('/logos/:file', { schema: { params: z.object({ file: z.string() }) } }, async ({ params }, reply) => {
    const platform = PLATFORMS.find(({ key }) => `${key}.svg` === params.file);
    if (!platform) throw notFound(`Logo ${params.file}`);
    return reply
      .type('image/svg+xml')
      .send(
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="12" fill="#345"/>` +
          `<text x="32" y="43" font-family="sans-serif" font-size="32" fill="#fff" text-anchor="middle">${platform.name[0] ?? ''}</text></svg>`,
      );
  });

  async function companyOfConnection(connectionId: string): Promise<{ company: Company; connection: Connection }> {
    const company = isUuid(connectionId) ? await findConnectionCompany(db, connectionId) : undefined;
    const connection = company?.connections.find(({ id }) => id === connectionId.toLowerCase());
    if (!company || !connection) throw notFound(`Connection ${connectionId}`);
    return { company, connection };
  }
}
