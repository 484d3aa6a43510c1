import type { Finding } from '../companies/finding';
import { counted } from '../text/sentences';
import type { Cell, Table, TableRow } from './columns';
import { UnreadableFile, type Report } from './findings';

/** The maximum length of a row, in bytes. A longer row probably contains a quotation mark that is never closed. */
const MAX_ROW_BYTES = 256 * 1024;

const DELIMITERS = [',', ';', '\t'] as const;
type Delimiter = (typeof DELIMITERS)[number];

/** The options of the package csv-parse. */
export interface CsvParserOptions {
  readonly delimiter: string;
  readonly record_delimiter: string;
  readonly relax_column_count: boolean;
  readonly skip_empty_lines: boolean;
  readonly max_record_size: number;
  readonly on_record: (record: string[], context: { readonly lines: number; readonly empty_lines: number }) => null;
}

/** Parses a text in pieces. Each method resolves to the syntax error, if there is one. */
export interface CsvParser {
  write(piece: string): Promise<Error | null | undefined>;
  end(): Promise<Error | null | undefined>;
}

/** Creates a parser. The caller passes it, because the command and the page load different builds of csv-parse. */
export type CsvParserFactory = (options: CsvParserOptions) => CsvParser;

/**
 * Reads CSV as spreadsheets write it: commas, semicolons or tabs; quotes; line breaks inside quotes; Excel's `sep=;`.
 *
 * @param text lines end in `\n`
 * @throws UnreadableFile if the file is empty or its header row cannot be parsed
 */
export async function openCsvTable(
  file: string,
  text: AsyncIterable<string>,
  createParser: CsvParserFactory,
  report: Report,
): Promise<Table> {
  const { start, rest } = await splitFirstLine(text);
  const declared = /^sep=([,;\t])\n?$/.exec(start)?.[1] as Delimiter | undefined;
  const delimiter = declared ?? delimiterOf(start);
  const lines = records(file, declared ? rest : joined(start, rest), { delimiter, createParser }, declared ? 2 : 1);

  const header = await lines.next();
  if (header.done) {
    throw new UnreadableFile({
      code: 'empty',
      severity: 'error',
      file,
      message: 'the file is empty',
      advice: 'the first line must contain the column names, and every other line one company',
    });
  }
  return { headers: header.value.cells, rows: completeRows(file, header.value.cells, lines, report) };
}

async function splitFirstLine(text: AsyncIterable<string>): Promise<{ start: string; rest: AsyncIterable<string> }> {
  const pieces = text[Symbol.asyncIterator]();
  let head = '';
  for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) {
    head += piece.value;
    const start = /^\n*[^\n]+\n/.exec(head)?.[0];
    // Stops at this length: a row has at least as many bytes as characters, so the parser refuses such a row.
    if (start === undefined && head.length < MAX_ROW_BYTES) continue;
    return {
      start: start ?? '',
      rest: joined(head.slice(start?.length ?? 0), { [Symbol.asyncIterator]: () => pieces }),
    };
  }
  return { start: head, rest: nothing() };
}

async function* nothing(): AsyncGenerator<string> {}

async function* joined(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

/** Returns the delimiter that occurs most often in the header row, outside quotes. */
function delimiterOf(header: string): Delimiter {
  const unquoted = header.replace(/"[^"]*"/g, '');
  const cellCount = (delimiter: Delimiter): number => unquoted.split(delimiter).length;
  return DELIMITERS.reduce((best, next) => (cellCount(next) > cellCount(best) ? next : best));
}

/** Reads the non-empty rows with the line of each cell. A syntax error is thrown after the rows before it. */
async function* records(
  file: string,
  text: AsyncIterable<string>,
  { delimiter, createParser }: { readonly delimiter: Delimiter; readonly createParser: CsvParserFactory },
  firstLine: number,
): AsyncGenerator<TableRow, undefined> {
  /** `line`: the line after the last row. `blankLines`: the number of blank lines before that line. */
  let line = firstLine;
  let blankLines = 0;
  const parsed: TableRow[] = [];
  const parser = createParser({
    delimiter,
    record_delimiter: '\n',
    relax_column_count: true,
    // Without this option, the parser creates an error with a stack trace for each blank line, so a million blank lines
    // take minutes.
    skip_empty_lines: true,
    max_record_size: MAX_ROW_BYTES,
    // Collects the rows here, because the parser's stream drops the rows before a syntax error.
    on_record: (record, { lines: lastLine, empty_lines }) => {
      const start = line + empty_lines - blankLines;
      const cells = cellsOf(record, start);
      if (cells.some(({ text }) => text.trim() !== '')) parsed.push({ line: start, cells });
      line = firstLine + lastLine;
      blankLines = empty_lines;
      return null;
    },
  });
  const unreadable = (error: Error): UnreadableFile => {
    const skipped = 'empty_lines' in error && typeof error.empty_lines === 'number' ? error.empty_lines : blankLines;
    return new UnreadableFile(syntaxFinding(error, file, line + skipped - blankLines));
  };

  for await (const piece of text) {
    const error = await parser.write(piece);
    yield* parsed.splice(0);
    if (error) throw unreadable(error);
  }
  const error = await parser.end();
  yield* parsed;
  if (error) throw unreadable(error);
}

function cellsOf(record: readonly string[], firstLine: number): Cell[] {
  let line = firstLine;
  return record.map((text, index) => {
    const cell = { text, line, column: index + 1 };
    line += text.split('\n').length - 1;
    return cell;
  });
}

/**
 * Yields the rows with one cell per header, and drops further empty cells. Reports other rows, because their cells
 * might be in the wrong columns.
 */
async function* completeRows(
  file: string,
  headers: readonly Cell[],
  rows: AsyncIterable<TableRow>,
  report: Report,
): AsyncGenerator<TableRow> {
  for await (const { line, cells } of rows) {
    const surplus = cells.slice(headers.length);
    if (cells.length >= headers.length && surplus.every(({ text }) => text.trim() === '')) {
      yield { line, cells: cells.slice(0, headers.length) };
      continue;
    }
    report({
      code: 'ragged-row',
      severity: 'error',
      file,
      line,
      message: `the row has ${counted(cells.length, 'cell')}, but the header row has ${headers.length}`,
      advice:
        cells.length > headers.length
          ? 'put cells that contain the delimiter (comma, semicolon or tab) in double quotes'
          : 'add the missing cells, even if they are empty',
    });
  }
}

/** Returns the finding for a syntax error. The parser's message is not used, because it might quote a credential. */
function syntaxFinding(error: Error, file: string, line: number): Finding {
  const code = 'code' in error ? error.code : undefined;
  const where = { severity: 'error', file, line } as const;
  if (code === 'CSV_QUOTE_NOT_CLOSED' || code === 'CSV_MAX_RECORD_SIZE') {
    return {
      ...where,
      code: 'unclosed-quote',
      message: 'a quotation mark in the row that starts here is never closed, or the row is too long',
      advice: 'close the quotation mark; write a quotation mark inside a cell twice: "Tom ""Tiny"" Ltd"',
    };
  }
  return {
    ...where,
    code: 'syntax',
    message: 'there is a quotation mark in the middle of a cell; the rest of the file was not read',
    advice: 'put the whole cell in quotation marks, and write each quotation mark inside it twice: "Tom ""Tiny"" Ltd"',
  };
}
