import { storedName, type ManifestRow } from '../companies/manifest';
import { organizationKey } from '../preflight/organization-conflicts';
import { COMPANY_ID } from './columns';
import { inQuotes } from './findings';
import type { RowReader } from './row-reader';
import type { ParsedCredential } from './row-parser';

/** A map from strings to positive numbers. `ferry` keeps only hashes of the keys, because a file can be large. */
export interface NumberMap {
  /** Returns 0 if the key is not in the map. */
  get(key: string): number;
  /** Replaces the number of a key. Returns the previous number. */
  update(key: string, next: (previous: number) => number): number;
}

/** The line on which each value first appeared. */
class FirstLines {
  constructor(private readonly lines: NumberMap) {}

  has(value: string): boolean {
    return this.lines.get(value) > 0;
  }

  /** Records the value. Returns `lines 4 and 9` if it has appeared before, on line 4; null if it has not. */
  record(value: string, line: number): string | null {
    const first = this.lines.update(value, (previous) => previous || line);
    if (first === 0) return null;
    return first === line ? `line ${line} twice` : `lines ${first} and ${line}`;
  }
}

/** Reports values that should appear in only one row of a file. */
export class Duplicates {
  readonly #references: FirstLines;
  readonly #organizations: FirstLines;
  readonly #companies: FirstLines;
  readonly #refreshTokens: FirstLines;
  readonly #names: FirstLines;

  constructor(
    private readonly organizationField: string,
    createMap: () => NumberMap,
  ) {
    const create = (): FirstLines => new FirstLines(createMap());
    this.#references = create();
    this.#organizations = create();
    this.#companies = create();
    this.#refreshTokens = create();
    this.#names = create();
  }

  checkCompany(reader: RowReader, { reference, organization, name, existing }: ManifestRow): void {
    this.#checkReference(reader, reference, 'give each company its own reference');

    const sameCompany = existing ? this.#companies.record(existing.companyId, reader.line) : null;
    if (sameCompany !== null) {
      const message = `the same ${COMPANY_ID} appears on ${sameCompany}`;
      const advice = 'a company has one organization per platform; correct one of the ids';
      reader.error(COMPANY_ID, 'duplicate-company-id', message, advice);
    }

    const sameOrganization = this.#organizations.record(organizationKey(organization), reader.line);
    if (sameOrganization !== null) {
      const message = `the ${this.organizationField} ${inQuotes(organization)} appears on ${sameOrganization}`;
      const advice = 'an organization can be moved only once; remove or correct one of the rows';
      reader.error(this.organizationField, 'duplicate-organization', message, advice);
    }

    // A company that exists at the service keeps its name there.
    const sameName = this.#names.record((existing ? name : storedName(name)).toLowerCase(), reader.line);
    if (sameName !== null) {
      const message = `the name ${inQuotes(name)} appears on ${sameName}`;
      reader.warn('name', 'duplicate-name', message, 'ignore this if these are two different companies');
    }
  }

  /** Returns whether any company so far has this organization. `key` is a result of `organizationKey`. */
  hasOrganization(key: string): boolean {
    return this.#organizations.has(key);
  }

  #checkReference(reader: RowReader, reference: string, advice: string): void {
    const lines = this.#references.record(reference, reader.line);
    if (lines === null) return;
    const message = `the reference ${inQuotes(reference)} appears on ${lines}`;
    reader.error('reference', 'duplicate-reference', message, advice);
  }

  /** Checks that a file of credentials contains only one credential for the company. */
  checkCredentialReference(reader: RowReader, reference: string): void {
    this.#checkReference(reader, reference, 'keep one row for each company, and correct or remove the others');
  }

  checkCredential(reader: RowReader, { refreshToken }: ParsedCredential['fields']): void {
    const lines = refreshToken === undefined ? null : this.#refreshTokens.record(refreshToken, reader.line);
    if (lines === null) return;
    const message = `the same refresh token appears on ${lines}`;
    const advice = 'each token belongs to one company; export the tokens again';
    reader.error('refreshToken', 'duplicate-refresh-token', message, advice);
  }
}

/**
 * Reports a credential whose organization is not that of its company in the manifest.
 *
 * @param field the platform's name for the id of an organization
 */
export function reportOtherOrganization(reader: RowReader, reference: string, field: string): void {
  const message = `${field} differs from the ${field} of ${inQuotes(reference)} in the manifest`;
  const advice = 'check whether the rows of one of the two files have shifted by one';
  reader.error(field, 'credential-of-other-organization', message, advice);
}
