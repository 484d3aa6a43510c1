import { createHash } from 'node:crypto';

import { storedName, type ManifestRow } from '../../domain/manifest';
import type { CheckedRow } from './checked-row';
import { COMPANY_ID } from './columns';
import type { SuppliedCredential } from './credential-row';
import { quoted } from './findings';

/** Remembers in which line a value stood first, as a hash: files are large, and some values are secret. */
class FirstLines {
  readonly #lines = new Map<string, number>();

  /** `line 4 and line 9` when the value stood in line 4 already. */
  both(value: string, line: number): string | null {
    const key = createHash('sha256').update(value).digest('base64');
    const earlier = this.#lines.get(key);
    if (earlier !== undefined) return `line ${earlier} and line ${line}`;
    this.#lines.set(key, line);
    return null;
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

    // Platforms differ in how they write an organization (`Shop.example`, `shop.example`): case is no difference.
    const moved = this.#organizations.both(organization.toLowerCase(), checked.line);
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
