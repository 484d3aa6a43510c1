import { UnreadableFile } from './findings';

/** A JSON token and its position. */
export interface JsonToken {
  readonly kind: '{' | '}' | '[' | ']' | ',' | ':' | 'string' | 'number' | 'constant' | 'end';
  /** The value of a string; otherwise the text as written, because a number can lose digits after the 15th. */
  readonly text: string;
  /** The number of the line, starting at 1. */
  readonly line: number;
  /** The position in the line, starting at 1. */
  readonly column: number;
}

/** The maximum length of a token, in characters. A longer token is probably a string that is never closed. */
const MAX_TOKEN = 256 * 1024;

const TOKEN = /[{}[\],:]|"(?:[^"\\]|\\.)*"|[-+.\w]+/y;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Splits text into JSON tokens. Yields the tokens of each piece of text, and `end` last.
 *
 * @param pieces lines end in `\n`
 * @throws UnreadableFile if the text is not JSON
 */
export async function* jsonTokens(file: string, pieces: AsyncIterable<string>): AsyncGenerator<readonly JsonToken[]> {
  const tokenizer = new Tokenizer(file);
  for await (const piece of pieces) yield tokenizer.take(piece);
  yield tokenizer.end();
}

class Tokenizer {
  #line = 1;
  #column = 1;
  /** An incomplete token at the end of the previous piece. The next piece can continue it. */
  #rest = '';

  constructor(private readonly file: string) {}

  take(piece: string): readonly JsonToken[] {
    const tokens: JsonToken[] = [];
    const text = this.#rest + piece;
    let at = this.#skipWhitespace(text, 0);
    for (let written = tokenAt(text, at); written !== null; written = tokenAt(text, at)) {
      const end = at + written.length;
      if (end === text.length && /[-+.\w]$/.test(written)) break;
      tokens.push(this.#token(written));
      this.#advance(written);
      at = this.#skipWhitespace(text, end);
    }
    this.#rest = text.slice(at);
    const isIncomplete = this.#rest === '' || /^["\w+.-]/.test(this.#rest);
    if (!isIncomplete) throw this.#notJson('invalid character');
    if (this.#rest.length > MAX_TOKEN) throw this.#notJson('a string is never closed, or a value is too long');
    return tokens;
  }

  end(): readonly JsonToken[] {
    const tokens = this.#rest === '' ? [] : [...this.take('\n')];
    if (this.#rest !== '') throw this.#notJson('a string is never closed');
    return [...tokens, { kind: 'end', text: '', line: this.#line, column: this.#column }];
  }

  #token(written: string): JsonToken {
    const where = { line: this.#line, column: this.#column };
    const [first = ''] = written;
    if (first === '"') return { kind: 'string', text: this.#stringValue(written), ...where };
    if (NUMBER.test(written)) return { kind: 'number', text: written, ...where };
    if (/^(?:true|false|null)$/.test(written)) return { kind: 'constant', text: written, ...where };
    if ('{}[],:'.includes(first)) return { kind: first as '{', text: written, ...where };
    throw this.#notJson('text without double quotation marks, or an invalid number');
  }

  #stringValue(written: string): string {
    try {
      return JSON.parse(written) as string;
    } catch {
      throw this.#notJson('a string contains an invalid character, or is not closed');
    }
  }

  #skipWhitespace(text: string, from: number): number {
    let at = from;
    while (at < text.length && ' \t\n'.includes(text.charAt(at))) at += 1;
    this.#advance(text.slice(from, at));
    return at;
  }

  #advance(text: string): void {
    const lastLine = text.lastIndexOf('\n');
    if (lastLine >= 0) {
      this.#line += text.split('\n').length - 1;
      this.#column = 1;
    }
    this.#column += text.length - lastLine - 1;
  }

  #notJson(why: string): UnreadableFile {
    return notJson(this.file, { line: this.#line, column: this.#column }, why);
  }
}

function tokenAt(text: string, at: number): string | null {
  TOKEN.lastIndex = at;
  return TOKEN.exec(text)?.[0] ?? null;
}

/** Returns the error for invalid JSON. Does not quote the text, because it might contain a credential. */
export function notJson(file: string, where: Pick<JsonToken, 'line' | 'column'>, why: string): UnreadableFile {
  const { line, column } = where;
  const message = `this is not JSON (${why})`;
  return new UnreadableFile({
    code: 'syntax',
    severity: 'error',
    ...{ file, line, column, message },
    advice: 'correct the file, or use CSV',
  });
}
