import { stringify } from 'csv-stringify/sync';
import type { Output } from '../terminal';

/** Writes records as CSV while they are read. What begins like a formula is one for no spreadsheet. */
export async function flowCsv(
  output: Output,
  records: AsyncIterable<Readonly<Record<string, string | number | boolean | null>>>,
): Promise<void> {
  let header = true;
  for await (const record of records) {
    const cast = { boolean: String };
    await output.stream(stringify([record], { header, eof: false, escape_formulas: true, cast }));
    header = false;
  }
}
