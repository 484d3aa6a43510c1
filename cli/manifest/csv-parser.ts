import { parse } from 'csv-parse';
import type { CsvParserFactory } from '../../domain/supply/csv-table';

/** Creates a parser that never has more than one piece in memory. */
export const createCsvParser: CsvParserFactory = (options) => {
  const parser = parse({ ...options });
  // Ignores the error event, because the callbacks of write and end also receive the error.
  parser.on('error', () => undefined);
  const completed = (call: (callback: (error?: Error | null) => void) => void): Promise<Error | null | undefined> =>
    new Promise(call);
  return {
    write: (piece) => completed((callback) => parser.write(piece, callback)),
    end: () => completed((callback) => parser.end(callback)),
  };
};
