/**
 * The pages of `linkUrl` and `redirect`, where an end customer authorizes connections. They require no API key, because
 * end customers have none.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { findCompany, findConnectionCompany, type Company, type Connection } from '../../companies/companies';
import { authorizeConnection } from '../../connections/authorize';
import { platformOf } from '../../connections/connections';
import { queueFirstSyncs } from '../../syncs/sync-settings';
import type { Api, ServiceContext } from '../context';
import { notFound } from '../errors/errors';
import { mintConsentTokens } from '../../platform/sandbox/tokens';
import { isUuid } from '../resources';
import { TOO_MANY_FROM_ADDRESS, textAnswer } from '../schemas/common';

const ConnectionParamsSchema = z.object({ connectionId: z.string() });
/** The organization that the end customer selects on the platform's consent page. */
const ConsentSchema = z.object({ organization: z.string().min(1).max(100).optional() });
const CompanyParamsSchema = z.object({ companyId: z.string() });
const HTML = 'text/html; charset=utf-8';
const PAGE = {
  tags: ['Sandbox'],
  security: [],
  response: { 200: textAnswer('text/html'), 429: TOO_MANY_FROM_ADDRESS },
};

export function linkRoutes(app: Api, context: ServiceContext): void {
  const { db, publicUrl } = context;
  // The button of a link page sends a form without fields.
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, (_request, _body, done) =>
    done(null, undefined),
  );

  // GET and HEAD change nothing, because link previews and mail scanners open every link.
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
    {
      schema: {
        ...PAGE,
        summary: 'Show the page where the end customer authorizes a connection',
        params: ConnectionParamsSchema,
        querystring: ConsentSchema,
      },
    },
    async ({ params, query }, reply) => {
      const { company, connection } = await companyOfConnection(params.connectionId);
      const platform = platformOf(connection).name;
      const [text, button] =
        connection.status === 'Linked'
          ? [`${company.name} is already connected to ${platform}.`, 'Connect again']
          : [`${company.name} is not connected to ${platform}.`, 'Connect'];
      const organization =
        query.organization === undefined ? '' : `?organization=${encodeURIComponent(query.organization)}`;
      const action = `${publicUrl()}/link/connection/${connection.id}${organization}`;
      const form = `<form method="post" action="${escapeHtml(action)}"><button>${button}</button></form>`;
      return reply.type(HTML).send(page(`Connect to ${platform}`, `<p>${escapeHtml(text)}</p>${form}`));
    },
  );

  app.post(
    '/link/connection/:connectionId',
    {
      schema: {
        ...PAGE,
        summary: 'Authorize a connection as the end customer does',
        params: ConnectionParamsSchema,
        querystring: ConsentSchema,
      },
    },
    async ({ params, query }, reply) => {
      const { company, connection } = await companyOfConnection(params.connectionId);
      const platform = platformOf(connection);
      const { organization_id: connected, expected_organization: expected } = connection;
      const accepted = await authorizeConnection(context, {
        connectionId: connection.id,
        accountId: company.account_id,
        platform,
        credential: mintConsentTokens(
          platform,
          query.organization ?? connected ?? expected ?? `organization-${randomUUID()}`,
        ),
      });
      // Only the end customer's consent starts the first syncs; migrated credentials do not.
      if (accepted && connection.status === 'PendingAuth') await queueFirstSyncs(db, company.id, connection.id);
      const [title, text] = accepted
        ? ['Connected', `${company.name} is connected to ${platform.name}. You can close this page.`]
        : [
            'Could not connect',
            `${platform.name} did not accept the connection of ${company.name}. Go back and try again. If this happens again, tell the sender of the link.`,
          ];
      return reply.type(HTML).send(page(title, `<p>${escapeHtml(text)}</p>`));
    },
  );

  app.get(
    '/link/company/:companyId',
    { schema: { ...PAGE, summary: 'Show the links of a company', params: CompanyParamsSchema } },
    async ({ params }, reply) => {
      const company = isUuid(params.companyId) ? await findCompany(db, params.companyId) : undefined;
      if (!company) throw notFound(`Company ${params.companyId}`);
      const links = company.connections.map(
        (connection) =>
          `<li><a href="${publicUrl()}/link/connection/${connection.id}">${escapeHtml(platformOf(connection).name)}</a></li>`,
      );
      const body =
        links.length === 0
          ? '<p>There is nothing to connect yet. Tell the sender of the link.</p>'
          : `<p>Connect to:</p><ul>${links.join('')}</ul>`;
      return reply.type(HTML).send(page(company.name, body));
    },
  );

  async function companyOfConnection(connectionId: string): Promise<{ company: Company; connection: Connection }> {
    const company = isUuid(connectionId) ? await findConnectionCompany(db, connectionId) : undefined;
    const connection = company?.connections.find(({ id }) => id === connectionId.toLowerCase());
    if (!company || !connection) throw notFound(`Connection ${connectionId}`);
    return { company, connection };
  }
}

/** Returns a page that loads no other files. */
function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:15vh auto;padding:0 1rem}</style>
<h1>${escapeHtml(title)}</h1>${body}</html>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
