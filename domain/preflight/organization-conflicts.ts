/** Who has an organization already that is to be moved: the account itself, or another migration. */
import type { ManifestRow } from '../companies/manifest';
import type { Platform } from '../../platforms/platforms';
import type { PreflightFinding } from './preflight-finding';
import { about, error, quoted, warning } from './preflight-finding';

/** A company of the account that is connected to an organization of the manifest, or was. */
export interface ConnectedCompany {
  readonly companyId: string;
  readonly name: string;
  /** Of the connection: `Linked`, `Unlinked`, `Deauthorized`. */
  readonly status: string;
}

/** Of the organizations of a manifest, those that somebody has. By organization, as `organizationKey` writes it. */
export interface OrganizationConflicts {
  readonly connected: ReadonlyMap<string, ConnectedCompany>;
  /** The other migration in which it is open. */
  readonly openElsewhere: ReadonlyMap<string, string>;
}

/** Platforms differ in how they write an organization (`Shop.example`, `shop.example`): case is no difference. */
export function organizationKey(organization: string): string {
  return organization.toLowerCase();
}

/** What speaks against moving a company because somebody has its organization. */
export function organizationFindings(
  row: ManifestRow,
  platform: Platform,
  taken: OrganizationConflicts,
): readonly PreflightFinding[] {
  const key = organizationKey(row.organization);
  const migrationId = taken.openElsewhere.get(key);
  const company = taken.connected.get(key);
  return [
    ...(migrationId === undefined ? [] : [openElsewhere(row.organization, migrationId)]),
    ...(company === undefined || isNamed(row, company) ? [] : [connected(row.organization, company)]),
  ].map((finding) => about(row, platform.organizationField, finding));
}

/** An authorization is put to it anew. */
function isNamed({ named }: ManifestRow, { companyId, status }: ConnectedCompany): boolean {
  return named?.companyId === companyId && status !== 'Linked';
}

function openElsewhere(organization: string, migrationId: string): PreflightFinding {
  const message = `${quoted(organization)} is open in migration ${migrationId}`;
  const advice = 'an organization is moved by one migration only: take it out of one';
  return error('organization-open-elsewhere', message, advice);
}

function connected(organization: string, { companyId, name, status }: ConnectedCompany): PreflightFinding {
  const which = `company ${quoted(name)} (${companyId}) of the account`;
  return status === 'Linked'
    ? error(
        'organization-connected',
        `${quoted(organization)} is connected already, to ${which}`,
        'leave it out with: ferry exclude',
      )
    : warning(
        'organization-was-connected',
        `${quoted(organization)} was connected before, to ${which}: it becomes another company`,
        'delete the old company if nobody needs it',
      );
}
