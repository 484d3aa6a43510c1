import { Readable } from 'node:stream';
import { printParseErrorCode, visit, type JSONPath } from 'jsonc-parser';

import { quoted, UnreadableFile } from './findings';
import type { Cell, Table, TableRow } from './table';

/** Where the rows stand: `[...]`, or `{"companies": [...]}`. */
const ROWS_INSIDE = 'companies';

/** Nothing that is a manifest is nested deeper; reading is recursive. */
const MAX_DEPTH = 50;

const EXPECTED = `a manifest is [{"reference": …}, …] or {"${ROWS_INSIDE}": [{"reference": …}, …]}`;

/** Whether text is meant to be JSON; CSV never begins so. */
export function isJson(text: string): boolean {
  return /^\s*[[{]/.test(text);
}

/**
 * Reads an array of flat objects, keeping for every value where it stands and exactly what was written: a number of 16
 * digits is no number here, it would lose the last one.
 *
 * @throws UnreadableFile when it is not JSON, or not of this form
 */
export function readJsonTable(file: string, text: string): Table {
  const objects = readObjects(file, text);
  const headers = new Map<string, Cell>();
  for (const { values } of objects) {
    for (const [key, { line, column }] of values) {
      if (!headers.has(key)) headers.set(key, { text: key, line, column });
    }
  }
  return { headers: [...headers.values()], rows: Readable.from(inColumns(objects, [...headers.keys()])) };
}

interface JsonObject {
  readonly line: number;
  readonly column: number;
  readonly values: Map<string, Cell>;
}

function readObjects(file: string, text: string): JsonObject[] {
  const objects: JsonObject[] = [];
  let property = '';

  const refuse = (line: number, character: number, message: string, advice: string): never => {
    const where = { file, line: line + 1, column: character + 1 };
    throw new UnreadableFile({ code: 'syntax', severity: 'error', ...where, message, advice });
  };
  const enter = (path: JSONPath, line: number, character: number, opens: '{' | '['): void => {
    if (path.length > MAX_DEPTH) refuse(line, character, 'the values are nested too deeply', EXPECTED);
    const depth = rowDepth(path);
    if (opens === '{' && depth === 0) objects.push({ line: line + 1, column: character + 1, values: new Map() });
    else if (depth === 0) refuse(line, character, 'this is a list, not a company', EXPECTED);
    else if (depth === 1) {
      const kind = opens === '{' ? 'an object' : 'a list';
      refuse(line, character, `${quoted(property)} is ${kind}, not text or a number`, 'write the value itself');
    }
  };

  visit(
    text,
    {
      onError: (error, _offset, _length, line, character) =>
        refuse(line, character, `this is not JSON (${wordsOf(printParseErrorCode(error))})`, 'correct it, or use CSV'),
      onObjectBegin: (_offset, _length, line, character, path) => enter(path(), line, character, '{'),
      onArrayBegin: (_offset, _length, line, character, path) => enter(path(), line, character, '['),
      onObjectProperty: (name, _offset, _length, line, character, path) => {
        property = name;
        if (rowDepth(path()) !== 0 || !objects.at(-1)?.values.has(name)) return;
        refuse(line, character, 'one company has the same field twice', 'remove one of them');
      },
      onLiteralValue: (value: string | number | boolean | null, offset, length, line, character, path) => {
        const depth = rowDepth(path());
        if (depth === 0 || path().length === 0) refuse(line, character, 'this is a value, not a company', EXPECTED);
        if (depth !== 1) return;
        const written = typeof value === 'number' ? text.slice(offset, offset + length) : String(value ?? '');
        objects.at(-1)?.values.set(property, { text: written, line: line + 1, column: character + 1 });
      },
    },
    { disallowComments: true },
  );
  return objects;
}

/** How deep inside a row a value stands: 0 is the row itself, 1 its fields; -1 is outside of all rows. */
function rowDepth(path: JSONPath): number {
  const inRows = path[0] === ROWS_INSIDE ? path.slice(1) : path;
  return typeof inRows[0] === 'number' ? inRows.length - 1 : -1;
}

function* inColumns(objects: readonly JsonObject[], keys: readonly string[]): Generator<TableRow> {
  for (const { line, column, values } of objects) {
    yield { line, cells: keys.map((key) => values.get(key) ?? { text: '', line, column }) };
  }
}

/** `ValueExpected` as `value expected`. */
function wordsOf(code: string): string {
  return code.replace(/(?!^)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).toLowerCase();
}
