import { storedName, type ManifestRow } from '../../domain/companies/manifest';
import { organizationKey } from '../../domain/preflight/organization-conflicts';
import type { CheckedRow } from './checked-row';
import { COMPANY_ID } from './columns';
import type { SuppliedCredential } from './credential-row';
import { quoted } from './findings';
import { HashedNumbers } from './hashed-numbers';

/** Remembers in which line a value stood first. */
class FirstLines {
  readonly #lines = new HashedNumbers();

  has(value: string): boolean {
    return this.#lines.get(value) > 0;
  }

  /** `line 4 and line 9` when the value stood in line 4 already. */
  both(value: string, line: number): string | null {
    const earlier = this.#lines.change(value, (before) => before || line);
    return earlier > 0 ? `line ${earlier} and line ${line}` : null;
  }
}

/** Finds what may stand in one row of a file only. */
export class Duplicates {
  readonly #references = new FirstLines();
  readonly #organizations = new FirstLines();
  readonly #companies = new FirstLines();
  readonly #refreshTokens = new FirstLines();
  readonly #names = new FirstLines();

  constructor(private readonly organizationField: string) {}

  company(checked: CheckedRow, { reference, organization, name, named: existing }: ManifestRow): void {
    this.reference(checked, reference);

    const both = existing ? this.#companies.both(existing.companyId, checked.line) : null;
    if (both !== null) {
      const message = `the same ${COMPANY_ID} stands in ${both}`;
      checked.error(
        COMPANY_ID,
        'duplicate-company-id',
        message,
        'a company takes one organization of a platform: correct it',
      );
    }

    const moved = this.#organizations.both(organizationKey(organization), checked.line);
    if (moved !== null) {
      const message = `the ${this.organizationField} ${quoted(organization)} stands in ${moved}`;
      const advice = 'an organization can be moved once: remove one row or correct it';
      checked.error(this.organizationField, 'duplicate-organization', message, advice);
    }

    const named = this.#names.both(storedName(name).toLowerCase(), checked.line);
    if (named !== null) {
      const message = `the name ${quoted(name)} stands in ${named}`;
      checked.warn('name', 'duplicate-name', message, 'nothing needs to be done if these are two companies');
    }
  }

  /** Whether some company has this organization, as `organizationKey` writes it. */
  hasOrganization(key: string): boolean {
    return this.#organizations.has(key);
  }

  reference(checked: CheckedRow, reference: string): void {
    const both = this.#references.both(reference, checked.line);
    if (both === null) return;
    const message = `the reference ${quoted(reference)} stands in ${both}`;
    checked.error('reference', 'duplicate-reference', message, 'give every company a reference of its own');
  }

  credential(checked: CheckedRow, { fields }: SuppliedCredential): void {
    const { refreshToken } = fields.reveal();
    const both = refreshToken === undefined ? null : this.#refreshTokens.both(refreshToken, checked.line);
    if (both === null) return;
    const message = `the same refresh token stands in ${both}`;
    checked.error(
      'refreshToken',
      'duplicate-refresh-token',
      message,
      'a token belongs to one company: export them again',
    );
  }
}
