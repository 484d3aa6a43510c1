/** Organization conflicts: an organization is or was connected in the account, or is open in another migration. */
import type { ManifestRow } from '../companies/manifest';
import type { Platform } from '../../platforms/platforms';
import { attachTo, errorFinding, quoted, warningFinding, type PreflightFinding } from './findings';

/** A company of the account that is or was connected to an organization of the manifest. */
export interface ConnectedCompany {
  readonly companyId: string;
  readonly name: string;
  /** The status of the connection: `Linked`, `Unlinked` or `Deauthorized`. */
  readonly status: string;
}

/** The conflicts of a manifest, by `organizationKey`. */
export interface OrganizationConflicts {
  readonly connected: ReadonlyMap<string, ConnectedCompany>;
  /** The id of the other migration in which the organization is open. */
  readonly openElsewhere: ReadonlyMap<string, string>;
}

/** Returns the key by which organizations are compared. Case is ignored: `Shop.example` equals `shop.example`. */
export function organizationKey(organization: string): string {
  return organization.toLowerCase();
}

/** Returns the conflicts of one row. */
export function organizationFindings(
  row: ManifestRow,
  platform: Platform,
  conflicts: OrganizationConflicts,
): readonly PreflightFinding[] {
  const key = organizationKey(row.organization);
  const migrationId = conflicts.openElsewhere.get(key);
  const company = conflicts.connected.get(key);
  return [
    ...(migrationId === undefined ? [] : [openElsewhereFinding(row.organization, migrationId)]),
    ...(company === undefined || willBeReauthorized(row, company) ? [] : [connectedFinding(row, company)]),
  ].map((finding) => attachTo(row, platform.organizationField, finding));
}

/** Returns whether the row will authorize this company again: it names the company, and the status is not `Linked`. */
function willBeReauthorized({ existing }: ManifestRow, { companyId, status }: ConnectedCompany): boolean {
  return existing?.companyId === companyId && status !== 'Linked';
}

function openElsewhereFinding(organization: string, migrationId: string): PreflightFinding {
  const message = `${quoted(organization)} is already part of migration ${migrationId}`;
  const advice = 'an organization can be part of only one open migration: remove it from one of the two migrations';
  const clientMessage = `${quoted(organization)} is already part of another open migration; leave this company out, or ask support`;
  return { ...errorFinding('organization-open-elsewhere', message, advice), clientMessage };
}

function connectedFinding(
  { organization, existing }: ManifestRow,
  { companyId, name, status }: ConnectedCompany,
): PreflightFinding {
  const which = `company ${quoted(name)} (${companyId}) in the account`;
  const into = existing
    ? `this row uses the company that it names in serviceCompanyId, ${existing.companyId}`
    : 'this migration does not use that company, but a new one';
  const connected =
    status === 'Linked'
      ? errorFinding(
          'organization-connected',
          `${quoted(organization)} is already connected to ${which}`,
          'remove the row or, if the migration has already started, leave the company out',
        )
      : warningFinding(
          'organization-was-connected',
          `${quoted(organization)} was previously connected to ${which}; ${into}`,
          'delete the old company at the service if it is no longer needed',
        );
  // The company can belong to another client of the account.
  const clientMessage =
    status === 'Linked'
      ? `${quoted(organization)} is already connected to another company in the account; leave this company out, or ask support`
      : `${quoted(organization)} was previously connected to another company in the account; ${into}`;
  return existing?.companyId === companyId ? connected : { ...connected, clientMessage };
}
