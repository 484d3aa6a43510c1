import { spreadsheetDamage, type Finding, type FindingCode } from '../../domain/companies/manifest';
import type { CellsByField } from './columns';
import { quoted, type Report } from './findings';

/** How a field's text may look. */
interface TextRule {
  /** In UTF-16 units. */
  readonly maxLength: number;
  /** Its value is never repeated in a finding, and has no blanks inside. */
  readonly secret?: boolean;
  /** A name: may have line breaks, and may look like a number that a spreadsheet wrote. */
  readonly freeText?: boolean;
}

/** Where a row comes from. */
export interface RowSource {
  readonly file: string;
  /** When the file was last changed. */
  readonly modifiedAt: Date;
}

/** One row while it is being read: its fields, and whether anything was wrong with them. */
export class CheckedRow {
  #sound = true;

  constructor(
    private readonly source: RowSource,
    readonly line: number,
    private readonly cells: CellsByField,
    private readonly report: Report,
  ) {}

  get fileModifiedAt(): Date {
    return this.source.modifiedAt;
  }

  /** Whether no error was reported. */
  get sound(): boolean {
    return this.#sound;
  }

  /** Whether the field holds anything at all. */
  has(field: string): boolean {
    return (this.cells.get(field)?.text.trim() ?? '') !== '';
  }

  placeOf(field: string): Pick<Finding, 'line' | 'column'> {
    const cell = this.cells.get(field);
    return cell ? { line: cell.line, column: cell.column } : { line: this.line };
  }

  error(field: string, code: FindingCode, message: string, advice: string): void {
    this.#sound = false;
    this.#report('error', field, code, message, advice);
  }

  warn(field: string, code: FindingCode, message: string, advice: string): void {
    this.#report('warning', field, code, message, advice);
  }

  /** The field's text without blanks around it; `null` where it is empty, absent or not fit to be used (reported). */
  text(field: string, { maxLength, secret = false, freeText = false }: TextRule): string | null {
    const text = this.cells.get(field)?.text.trim() ?? '';
    if (text === '') return null;

    if (text.includes('\uFFFD')) {
      const advice = 'save the file as UTF-8 (in Excel: "CSV UTF-8")';
      return this.#unfit(field, 'undecodable', 'a character is not in the encoding of the file', advice);
    }
    if (text.length > maxLength) {
      const message = `the value has ${text.length} characters; at most ${maxLength} are possible`;
      return this.#unfit(field, 'too-long', message, 'check that every cell stands in its own column');
    }
    if (/\p{Cc}/u.test(freeText ? text.replace(/[\n\t]/g, '') : text)) {
      const message = 'the value contains a line break or another control character';
      return this.#unfit(field, 'control-character', message, 'remove it');
    }
    if (secret && /\s/.test(text)) {
      return this.#unfit(field, 'invalid-credential', 'the value contains a blank', 'copy it again, without a break');
    }
    const damage = spreadsheetDamage(text);
    if (damage !== null && !(freeText && damage === 'scientific-notation')) {
      const shown = secret ? 'the value' : quoted(text);
      const message = `a spreadsheet has damaged ${shown} (${damage.replaceAll('-', ' ')}): the original cannot be told from it`;
      return this.#unfit(
        field,
        'spreadsheet-damage',
        message,
        'format the column as text before the values are put in, and export again',
      );
    }
    return text;
  }

  /** Like {@link text}, for a field that must be there. */
  requiredText(field: string, rule: TextRule): string | null {
    if (!this.has(field)) {
      this.error(field, 'missing-value', `${field} is missing`, 'fill it in');
      return null;
    }
    return this.text(field, rule);
  }

  /** A whole number of at least `least`; `null` where there is none, or none that can be used (reported). */
  wholeNumber(field: string, least: number): number | null {
    const text = this.text(field, { maxLength: 100 });
    if (text === null) return null;
    const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    if (number >= least) return number;
    const message = `${field} is ${quoted(text)}; it must be a whole number from ${least}`;
    this.error(field, 'invalid-number', message, 'write digits only, without separators or decimals');
    return null;
  }

  #unfit(field: string, code: FindingCode, message: string, advice: string): null {
    this.error(field, code, message, advice);
    return null;
  }

  #report(severity: Finding['severity'], field: string, code: FindingCode, message: string, advice: string): void {
    this.report({ code, severity, file: this.source.file, ...this.placeOf(field), field, message, advice });
  }
}
