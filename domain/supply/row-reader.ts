import { spreadsheetDamage } from '../companies/manifest';
import { type Finding, type FindingCode } from '../companies/finding';
import { hasUnsafeCharacters } from '../text/untrusted-text';
import type { CellsByField } from './columns';
import { inQuotes, type Report } from './findings';

interface TextRule {
  /** In UTF-16 code units. */
  readonly maxLength: number;
  /** True if the value must not contain spaces and must not appear in findings. */
  readonly secret?: boolean;
  /** True if the value is a name, which can contain line breaks and tabs and can look like scientific notation. */
  readonly freeText?: boolean;
}

interface RowSource {
  readonly file: string;
  readonly modifiedAt: Date;
}

/** Reads the fields of one row. Reports each invalid field, and remembers whether the row has an error. */
export class RowReader {
  #isValid = true;

  constructor(
    private readonly source: RowSource,
    readonly line: number,
    private readonly cells: CellsByField,
    private readonly report: Report,
  ) {}

  get fileModifiedAt(): Date {
    return this.source.modifiedAt;
  }

  /** False if an error has been reported for this row. */
  get isValid(): boolean {
    return this.#isValid;
  }

  /** Returns whether the field contains more than spaces. */
  has(field: string): boolean {
    return (this.cells.get(field)?.text.trim() ?? '') !== '';
  }

  placeOf(field: string): Pick<Finding, 'line' | 'column'> {
    const cell = this.cells.get(field);
    return cell ? { line: cell.line, column: cell.column } : { line: this.line };
  }

  error(field: string, code: FindingCode, message: string, advice: string): void {
    this.#isValid = false;
    this.#report('error', field, code, message, advice);
  }

  warn(field: string, code: FindingCode, message: string, advice: string): void {
    this.#report('warning', field, code, message, advice);
  }

  /** Returns the field's text without surrounding spaces; null if it is absent, empty, or unusable (reported). */
  text(field: string, { maxLength, secret = false, freeText = false }: TextRule): string | null {
    const text = this.cells.get(field)?.text.trim() ?? '';
    if (text === '') return null;

    if (text.includes('\uFFFD')) {
      const message = 'a character here was lost when the file was saved, or the file is in another encoding';
      return this.#reject(field, 'undecodable', message, 'export the file again as UTF-8 (in Excel: "CSV UTF-8")');
    }
    // An unpaired surrogate comes from an escape in a JSON file, such as \ud83d, or directly from a UTF-16 file.
    if (/\p{Surrogate}/u.test(text)) {
      const message = 'the value contains half of a character (an unpaired surrogate), which cannot be stored';
      return this.#reject(field, 'undecodable', message, 'write the complete character, or remove it');
    }
    if (text.length > maxLength) {
      const message = `the value has ${text.length} characters; the maximum is ${maxLength}`;
      return this.#reject(field, 'too-long', message, 'check that every cell is in the right column');
    }
    if (hasUnsafeCharacters(freeText ? text.replace(/[\n\t]/g, '') : text)) {
      const message = 'the value contains a line break, another control character, or a character that reorders text';
      return this.#reject(field, 'control-character', message, 'remove this character');
    }
    if (secret && /\s/.test(text)) {
      return this.#reject(
        field,
        'invalid-credential',
        'the value contains a space',
        'copy the value again without spaces',
      );
    }
    const damage = spreadsheetDamage(text);
    if (damage !== null && !(freeText && damage === 'scientific-notation')) {
      const shown = secret ? 'the value' : inQuotes(text);
      const message = `a spreadsheet has damaged ${shown} (${damage.replaceAll('-', ' ')}): the file does not contain the original value`;
      const advice =
        damage === 'column-too-narrow'
          ? 'make the column wide enough to show the values, and export again'
          : 'format the column as text before you enter the values, and export again';
      return this.#reject(field, 'spreadsheet-damage', message, advice);
    }
    return text;
  }

  /** Returns the same as {@link text}, and also reports the field if it is absent or empty. */
  requiredText(field: string, rule: TextRule): string | null {
    if (!this.has(field)) {
      this.error(field, 'missing-value', `${field} is missing`, 'fill it in');
      return null;
    }
    return this.text(field, rule);
  }

  /** Returns the field as a whole number from `minimum` to 999999999; null if absent, empty, or unusable (reported). */
  wholeNumber(field: string, minimum: number): number | null {
    const text = this.text(field, { maxLength: 100 });
    if (text === null) return null;
    const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    if (number >= minimum) return number;
    const message = `${field} is ${inQuotes(text)}; it must be a whole number from ${minimum} to 999999999`;
    this.error(field, 'invalid-number', message, 'write digits only, without separators or decimals');
    return null;
  }

  #reject(field: string, code: FindingCode, message: string, advice: string): null {
    this.error(field, code, message, advice);
    return null;
  }

  #report(severity: Finding['severity'], field: string, code: FindingCode, message: string, advice: string): void {
    this.report({ code, severity, file: this.source.file, ...this.placeOf(field), field, message, advice });
  }
}
