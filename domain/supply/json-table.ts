import type { Cell, Table, TableRow } from './columns';
import { inQuotes, UnreadableFile } from './findings';
import { jsonTokens, notJson, type JsonToken } from './json-tokens';

/** The field with the rows, if the file is `{"companies": [...]}` and not `[...]`. */
const ROWS_INSIDE = 'companies';

/** The maximum depth of nesting. A manifest needs three levels. */
const MAX_DEPTH = 50;

/** Says how a JSON file must be built, as advice. */
export const EXPECTED_JSON = `the file must be [{"reference": …}, …] or {"${ROWS_INSIDE}": [{"reference": …}, …]}`;

/** Returns whether the text is JSON rather than CSV. CSV does not start with a bracket. */
export function isJson(text: string): boolean {
  return /^\s*[[{]/.test(text);
}

/**
 * Reads an array of flat objects. Keeps the position of every value, and numbers exactly as written. Reads the text
 * twice: first to collect the fields of all objects, because objects can have different fields, then to read the rows.
 *
 * @param text returns the text from its beginning at each call
 * @throws UnreadableFile if the text is not JSON, or if a row is not a flat object or has a field twice
 */
export async function openJsonTable(file: string, text: () => AsyncIterable<string>): Promise<Table> {
  const headers = new Map<string, Cell>();
  for await (const { values } of objectsOf(file, text())) {
    for (const [key, { line, column }] of values) {
      if (!headers.has(key)) headers.set(key, { text: key, line, column });
    }
  }
  return { headers: [...headers.values()], rows: inColumns(objectsOf(file, text()), [...headers.keys()]) };
}

async function* inColumns(objects: AsyncIterable<JsonObject>, keys: readonly string[]): AsyncGenerator<TableRow> {
  for await (const { line, column, values } of objects) {
    yield { line, cells: keys.map((key) => values.get(key) ?? { text: '', line, column }) };
  }
}

interface JsonObject {
  readonly line: number;
  readonly column: number;
  readonly values: Map<string, Cell>;
}

async function* objectsOf(file: string, text: AsyncIterable<string>): AsyncGenerator<JsonObject> {
  const reader = new ObjectReader(file);
  for await (const tokens of jsonTokens(file, text)) {
    for (const token of tokens) {
      const object = reader.take(token);
      if (object !== null) yield object;
    }
  }
}

/** An object or array that has not been closed yet. */
interface Level {
  readonly opens: '{' | '[';
  /** The key of the next value, if this is an object. */
  key: string;
}

type Expected =
  | 'value'
  | 'value or ]'
  | 'property'
  | 'property or }'
  | ':'
  | 'comma or end of the list or object'
  | 'end of file';

/** A state machine over JSON tokens. `take` returns the object of a row when the token closes it, otherwise null. */
class ObjectReader {
  readonly #levels: Level[] = [];
  #expected: Expected = 'value';
  #object: JsonObject | null = null;

  constructor(private readonly file: string) {}

  take(token: JsonToken): JsonObject | null {
    switch (token.kind) {
      case '{':
      case '[':
        this.#open(token, token.kind);
        return null;
      case '}':
      case ']':
        return this.#close(token, token.kind === '}' ? '{' : '[');
      case ',':
        this.#expect(token, 'comma or end of the list or object');
        this.#expected = this.#levels.at(-1)?.opens === '{' ? 'property' : 'value';
        return null;
      case ':':
        this.#expect(token, ':');
        this.#expected = 'value';
        return null;
      case 'end':
        this.#expect(token, 'end of file');
        return null;
      case 'string':
        if (this.#expected === 'property' || this.#expected === 'property or }') this.#property(token);
        else this.#value(token);
        return null;
      case 'number':
      case 'constant':
        this.#value(token);
        return null;
    }
  }

  #open(token: JsonToken, opens: '{' | '['): void {
    this.#expect(token, 'value', 'value or ]');
    if (this.#levels.length > MAX_DEPTH)
      throw this.#formError(token, 'the values are nested too deeply', EXPECTED_JSON);
    const depth = this.#depthInRows();
    if (depth === 0 && opens === '[') throw this.#formError(token, 'this is a list, not a company', EXPECTED_JSON);
    if (depth === 1) {
      const kind = opens === '{' ? 'an object' : 'a list';
      const message = `${inQuotes(this.#levels.at(-1)?.key ?? '')} is ${kind}, not text or a number`;
      throw this.#formError(
        token,
        message,
        'write only the text or the number, without [ ] or { }; if the field is not needed, remove it',
      );
    }
    if (depth === 0) this.#object = { line: token.line, column: token.column, values: new Map() };
    this.#levels.push({ opens, key: '' });
    this.#expected = opens === '{' ? 'property or }' : 'value or ]';
  }

  #close(token: JsonToken, opened: '{' | '['): JsonObject | null {
    this.#expect(token, 'comma or end of the list or object', opened === '{' ? 'property or }' : 'value or ]');
    if (this.#levels.pop()?.opens !== opened) throw notJson(this.file, token, `${this.#expected} expected`);
    this.#afterValue();
    const object = this.#depthInRows() === 0 ? this.#object : null;
    if (object !== null) this.#object = null;
    return object;
  }

  #property(token: JsonToken): void {
    const level = this.#levels.at(-1);
    if (level) level.key = token.text;
    this.#expected = ':';
    if (this.#depthInRows() !== 1 || !this.#object?.values.has(token.text)) return;
    throw this.#formError(token, 'this company has the same field twice', 'remove one of them');
  }

  #value(token: JsonToken): void {
    this.#expect(token, 'value', 'value or ]');
    const depth = this.#depthInRows();
    if (depth === 0) throw this.#formError(token, 'this is a value, not a company', EXPECTED_JSON);
    if (depth === 1) {
      const { line, column } = token;
      const text = token.text === 'null' && token.kind === 'constant' ? '' : token.text;
      this.#object?.values.set(this.#levels.at(-1)?.key ?? '', { text, line, column });
    }
    this.#afterValue();
  }

  #afterValue(): void {
    this.#expected = this.#levels.length === 0 ? 'end of file' : 'comma or end of the list or object';
  }

  /** Returns the depth of the next value: 0 for a row, 1 for a field of a row, -1 outside the rows. */
  #depthInRows(): number {
    const [outer, inner] = this.#levels;
    if (outer?.opens === '[') return this.#levels.length - 1;
    return outer?.key === ROWS_INSIDE && inner?.opens === '[' ? this.#levels.length - 2 : -1;
  }

  #expect(token: JsonToken, ...possible: readonly Expected[]): void {
    if (!possible.includes(this.#expected)) throw notJson(this.file, token, `${this.#expected} expected`);
  }

  #formError({ line, column }: JsonToken, message: string, advice: string): UnreadableFile {
    const where = { file: this.file, line, column };
    return new UnreadableFile({ code: 'syntax', severity: 'error', ...where, message, advice });
  }
}
