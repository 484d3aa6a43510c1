import { isUnusual, unusual } from '../../domain/preflight/company-findings';
import { storedName, type ManifestRow, type Named } from '../../domain/companies/manifest';
import type { Platform } from '../../platforms/platforms';
import type { CheckedRow } from './checked-row';
import { COMPANY_ID, CONNECTION_ID } from './columns';
import { quoted } from './findings';

/** The service keeps the reference in a tag of the company; a tag has 100 characters at most. */
const MAX_REFERENCE = 100;
const MAX_NAME = 250;
const MAX_ORGANIZATION = 250;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Reads a company from its row of the manifest; `null` where something is wrong with it (reported). */
export function readCompany(row: number, checked: CheckedRow, platform: Platform): ManifestRow | null {
  const reference = readReference(checked);
  const name = readName(checked);
  const organization = checked.requiredText(platform.organizationField, { maxLength: MAX_ORGANIZATION });
  const expectedInvoices = checked.wholeNumber('expectedInvoices', 0);
  const wave = checked.wholeNumber('wave', 1);
  const named = readNamed(checked);
  const user = checked.text('family', { maxLength: MAX_ORGANIZATION });

  if (organization !== null && isUnusual(organization, platform)) {
    const { code, message, advice } = unusual(organization, platform);
    checked.warn(platform.organizationField, code, message, advice);
  }
  if (reference === null || name === null || organization === null || !checked.sound) return null;
  const family = platform.family === 'shop' ? organization.toLowerCase() : user;
  const company = { row, reference, name, organization, expectedInvoices, wave, family };
  return named === null ? company : { ...company, named };
}

/** The service's ids of what exists already; null: nothing does, or something is wrong with them (reported). */
function readNamed(checked: CheckedRow): Named | null {
  const companyId = readId(checked, COMPANY_ID);
  const connectionId = readId(checked, CONNECTION_ID);
  if (companyId !== null) return { companyId, connectionId };
  if (connectionId !== null) {
    const message = `there is a ${CONNECTION_ID} without a ${COMPANY_ID}`;
    checked.error(CONNECTION_ID, 'missing-value', message, 'name the company that the connection is of');
  }
  return null;
}

function readId(checked: CheckedRow, field: string): string | null {
  const text = checked.text(field, { maxLength: 100 });
  if (text === null || UUID.test(text)) return text?.toLowerCase() ?? null;
  const message = `${field} is ${quoted(text)}; the service's ids are UUIDs`;
  checked.error(field, 'invalid-id', message, 'copy it from the service, or leave it empty to have one created');
  return null;
}

/** Also the key by which a credential finds its company. */
export function readReference(checked: CheckedRow): string | null {
  return checked.requiredText('reference', { maxLength: MAX_REFERENCE });
}

function readName(checked: CheckedRow): string | null {
  const name = checked.requiredText('name', { maxLength: MAX_NAME, freeText: true });
  if (name === null) return null;
  const stored = storedName(name);
  if (stored === '') {
    const message = `the service keeps no character of the name ${quoted(name)}`;
    checked.error('name', 'name-empty', message, "give it a name of A-Z, a-z, 0-9, blanks and -',&@.?!");
  } else if (stored !== name) {
    const message = `the name ${quoted(name)} will be stored as ${quoted(stored)}`;
    checked.warn('name', 'name-altered', message, 'change the name if it should not be so');
  }
  return name;
}
