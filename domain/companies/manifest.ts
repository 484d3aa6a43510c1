/** The manifest: one row per company. It also detects values that a spreadsheet program has damaged. */

/** A company that already exists in the service, by the service's ids. */
export interface ExistingCompany {
  readonly companyId: string;
  /** Null: use a free connection of the company to the platform, or create one. */
  readonly connectionId: string | null;
}

/**
 * One company to move. The row holds no credential, because credentials are replaced and erased while the row stays.
 */
export interface ManifestRow {
  /** Position in the manifest, from 1. Identifies the company everywhere in its migration. */
  readonly row: number;
  /** The client's id of the company, unique in the manifest. */
  readonly reference: string;
  readonly name: string;
  /** The company's organization at the platform, from the column named by the platform's `organizationField`. */
  readonly organization: string;
  /** The number of invoices that the client counted at the platform; null: not given. */
  readonly expectedInvoices: number | null;
  /** Companies of a lower wave move first; null: no wave given. */
  readonly wave: number | null;
  /** Companies of one token family move one at a time, because a refresh of one ends the others; null: no family. */
  readonly family: string | null;
  /** Absent or null: the company will be created. Used only in the self-service route. */
  readonly named?: ExistingCompany | null;
}

/**
 * Returns the name as the service will store it: without characters outside `A-Za-z0-9 -',&@.?!`. The service refuses a
 * company when the result is empty.
 */
export function storedName(name: string): string {
  return name.replace(/[^A-Za-z0-9 \-',&@.?!]/g, '').trim();
}

/** How a spreadsheet program damages a cell that it takes for a number or a formula. */
export type SpreadsheetDamage = 'scientific-notation' | 'formula-error' | 'column-too-narrow';

/**
 * Detects spreadsheet damage in a cell: `9.13E+15`, `1,23E+12`, `#REF!`, `#N/A`, `####`. Lost leading zeros cannot be
 * detected.
 *
 * @returns null when the cell shows no damage
 */
export function spreadsheetDamage(text: string): SpreadsheetDamage | null {
  if (/^[+-]?\d+(?:[.,]\d+)?E[+-]\d+$/i.test(text)) return 'scientific-notation';
  if (/^#+$/.test(text)) return 'column-too-narrow';
  // Excel translates the words (#REF!, #BEZUG!, #¡REF!), but all of them end in ! or ?.
  if (/^#[\p{Lu}\d¡¿/]+[!?]$/u.test(text) || text === '#N/A' || text === '#NV') return 'formula-error';
  return null;
}

/**
 * Detects that a spreadsheet has rounded long ids.
 *
 * Spreadsheets keep 15 digits of a number and replace the others with zeros, so a rounded id of 16 digits is the id of
 * another organization. One id can end in zero by chance; three or more without an exception were rounded.
 */
export class Rounding {
  #rounded = 0;
  #exact = 0;

  add(number: string): void {
    if (/^\d{15}0+$/.test(number)) this.#rounded += 1;
    else if (/^\d{16,}$/.test(number)) this.#exact += 1;
  }

  get isLikely(): boolean {
    return this.#exact === 0 && this.#rounded >= 3;
  }
}
