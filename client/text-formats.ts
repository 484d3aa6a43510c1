/** JSON and CSV of any length, as pieces of text. Each piece is one or more lines, without the last line break. */
import { stringify } from 'csv-stringify/sync';
import { escapedUnsafeCharacters, withoutUnsafeCharactersInMultilineText } from '../domain/text/untrusted-text';

/** Returns JSON in which unsafe characters are escaped, because people also read it on a terminal. */
export function jsonText(value: unknown, indent?: number): string {
  return escapedUnsafeCharacters(JSON.stringify(value, null, indent));
}

/** Returns one JSON object whose last field is a list of any length. */
export async function* jsonPieces(
  json: Readonly<Record<string, unknown>>,
  listName: string,
  list: AsyncIterable<unknown>,
): AsyncGenerator<string> {
  yield `${jsonText(json, 2).slice(0, -2)},\n  ${JSON.stringify(listName)}: [`;
  let pending = '';
  for await (const each of list) {
    if (pending !== '') yield `${pending},`;
    pending = `    ${jsonText(each)}`;
  }
  yield `${pending}\n  ]\n}`;
}

/**
 * Matches the beginnings of a cell that a spreadsheet can read as a formula, and that csv-stringify does not escape:
 * variants of `+ - = @`, and spaces before these characters.
 */
const FORMULA_VARIANT = /^\s*[\u2212\uFE62\uFE63\uFE66\uFE6B]|^\s+[=+\-@\uFF0B\uFF0D\uFF1D\uFF20]/;

function csvCell(text: string): string {
  const safe = withoutUnsafeCharactersInMultilineText(text);
  return FORMULA_VARIANT.test(safe) ? `'${safe}` : safe;
}

/**
 * Returns records as CSV with a header. Cells that a spreadsheet would run as a formula are escaped.
 *
 * @param bom true to begin with a byte order mark, without which Excel does not read the file as UTF-8
 */
export async function* csvPieces(
  records: AsyncIterable<Readonly<Record<string, string | number | boolean | null>>>,
  bom = false,
): AsyncGenerator<string> {
  let header = true;
  for await (const record of records) {
    const cast = { boolean: String, string: csvCell };
    yield stringify([record], { bom: bom && header, header, eof: false, escape_formulas: true, cast });
    header = false;
  }
}
