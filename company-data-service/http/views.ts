/** Converts database rows to the objects that the API returns. */
import { PLATFORMS } from '../../platforms/platforms';
import type { Company, Connection } from '../companies/companies';
import { platformOf } from '../connections/connections';
import { guidOf } from '../digests';
import type { CompanyView } from './schemas/company';
import type { ConnectionView } from './schemas/connection';

export function companyView(company: Company, publicUrl: string): CompanyView {
  const dataConnections = company.connections.map((connection) => connectionView(connection, publicUrl));
  const lastSync = dataConnections
    .flatMap((connection) => connection.lastSync ?? [])
    .sort()
    .at(-1);
  return {
    id: company.id,
    name: company.name,
    redirect: `${publicUrl}/link/company/${company.id}`,
    ...(company.description !== null && { description: company.description }),
    ...(lastSync !== undefined && { lastSync }),
    created: company.created_at.toISOString(),
    createdByUserName: null,
    products: [],
    tags: company.tags,
    dataConnections,
  };
}

export function connectionView(connection: Connection, publicUrl: string): ConnectionView {
  const platform = platformOf(connection);
  return {
    id: connection.id,
    integrationId: INTEGRATION_IDS.get(platform.key) ?? '',
    integrationKey: platform.key,
    sourceId: connection.source_id,
    sourceType: platform.sourceType,
    platformName: platform.name,
    linkUrl: `${publicUrl}/link/connection/${connection.id}`,
    status: connection.status,
    created: iso(connection.created_at),
    ...(connection.last_sync !== null && { lastSync: iso(connection.last_sync) }),
    ...(connection.organization_id !== null && {
      connectionInfo: {
        organizationId: connection.organization_id,
        organizationName: connection.organization_name ?? '',
        ...(connection.authorized_at !== null && { lastAuthorized: iso(connection.authorized_at) }),
      },
    }),
    dataConnectionErrors: [...connection.errors],
  };
}

/**
 * The ids of all integrations. They are derived from the keys, so that they are the same in every installation, and are
 * not computed again for each connection.
 */
const INTEGRATION_IDS = new Map(PLATFORMS.map(({ key }) => [key, guidOf(`integration/${key}`)]));

/** Converts a date to UTC, because Postgres writes dates into JSON with an offset. */
function iso(date: string): string {
  return new Date(date).toISOString();
}
