/** The manifest: one row per company. This file also detects damage done by spreadsheet programs. */

/** The service's ids for a company that already exists there. */
export interface ExistingCompany {
  readonly companyId: string;
  /** Null: use a connection to the platform that is not linked to another organization, or create one. */
  readonly connectionId: string | null;
}

/** One company to move. A row contains no credential, because credentials are replaced and erased, but rows stay. */
export interface ManifestRow {
  /** Position in the manifest, from 1. Identifies the company everywhere in its migration. */
  readonly row: number;
  /** The client's id for the company, unique in the manifest. */
  readonly reference: string;
  readonly name: string;
  /** The id of the company's organization, from the column that the platform's `organizationField` specifies. */
  readonly organization: string;
  /** The number of invoices that the client counted at the platform; null if not given. */
  readonly expectedInvoices: number | null;
  /** Companies in a lower wave move first; null if no wave is given. */
  readonly wave: number | null;
  /** The company's token family; null if it has none. Companies of one family move one at a time. */
  readonly family: string | null;
  /** Absent or null: the company will be created. Used only in the self-service route. */
  readonly existing?: ExistingCompany | null;
}

/**
 * Returns the name as the service will store it: only the characters `A-Za-z0-9 -',&@.?!`. If the result is empty, the
 * service refuses the company.
 */
export function storedName(name: string): string {
  return name.replace(/[^A-Za-z0-9 \-',&@.?!]/g, '').trim();
}

const TRANSLITERATIONS: Readonly<Record<string, string>> = {
  ...{ ä: 'ae', ö: 'oe', ü: 'ue', Ä: 'Ae', Ö: 'Oe', Ü: 'Ue', ß: 'ss', ẞ: 'SS', æ: 'ae', Æ: 'Ae', œ: 'oe', Œ: 'Oe' },
  ...{ ø: 'oe', Ø: 'Oe', å: 'aa', Å: 'Aa', ł: 'l', Ł: 'L', đ: 'd', Đ: 'D', ð: 'd', Ð: 'D', þ: 'th', Þ: 'Th', ı: 'i' },
  ...{ '’': "'", '‘': "'", '–': '-', '—': '-' },
};

/** Returns the name in characters that the service stores: `Mueller Cafe` for `Müller Café`. Drops all others. */
function transliterated(name: string): string {
  const latin = name.normalize('NFC').replace(/\P{ASCII}/gu, (letter) => TRANSLITERATIONS[letter] ?? letter);
  return storedName(latin.normalize('NFKD').replace(/\s+/g, ' '));
}

/** Returns advice for a name that the service would alter: how to write it without losing letters. */
export function alteredNameAdvice(name: string): string {
  const suggested = transliterated(name);
  const what =
    suggested === storedName(name) ? 'change the name if it must not be stored like this' : `write "${suggested}"`;
  return `${what}; the service stores only A-Z, a-z, 0-9, spaces and -',&@.?!`;
}

/** How a spreadsheet program damages a cell that it mistakes for a number or a formula. */
export type SpreadsheetDamage = 'scientific-notation' | 'formula-error' | 'column-too-narrow';

/**
 * Detects spreadsheet damage in a cell: `9.13E+15`, `1,23E+12`, `#REF!`, `#N/A`, `####`. Lost leading zeros cannot be
 * detected.
 *
 * @returns null if the cell shows no damage
 */
export function spreadsheetDamage(text: string): SpreadsheetDamage | null {
  if (/^[+-]?\d+(?:[.,]\d+)?E[+-]\d+$/i.test(text)) return 'scientific-notation';
  if (/^#+$/.test(text)) return 'column-too-narrow';
  // Excel translates these words (#REF!, #BEZUG!, #¡REF!), but all of them end in ! or ?, except #N/A (in German, #NV).
  if (/^#[\p{Lu}\d¡¿/]+[!?]$/u.test(text) || text === '#N/A' || text === '#NV') return 'formula-error';
  return null;
}

/**
 * Detects that a spreadsheet has rounded long ids.
 *
 * A spreadsheet keeps 15 digits of a number and replaces the others with zeros, so a rounded id of 16 digits no longer
 * identifies the organization, and can be the id of another organization. One id can end in zero by chance. If all long
 * ids do, and there are at least three, they were probably rounded.
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
