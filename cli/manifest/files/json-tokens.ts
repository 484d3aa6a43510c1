import { UnreadableFile } from '../findings';

/** A word of JSON, and where it stands. */
export interface JsonToken {
  readonly kind: '{' | '}' | '[' | ']' | ',' | ':' | 'string' | 'number' | 'constant' | 'end';
  /** Of a string what it means; of anything else what was written: a number of 16 digits is no number here, it would lose the last one. */
  readonly text: string;
  /** From 1, as are columns: a column is a character of the line. */
  readonly line: number;
  readonly column: number;
}

/** A value longer than this is a quotation mark that was never closed. */
const MAX_TOKEN = 256 * 1024;

const TOKEN = /[{}[\],:]|"(?:[^"\\]|\\.)*"|[-+.\w]+/y;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Cuts text into the words of JSON: those of one piece of text after the other, and `end` at last.
 *
 * @param pieces lines end in `\n`
 * @throws UnreadableFile where it is not JSON
 */
export async function* jsonTokens(file: string, pieces: AsyncIterable<string>): AsyncGenerator<readonly JsonToken[]> {
  const cutter = new Cutter(file);
  for await (const piece of pieces) yield cutter.cut(piece);
  yield cutter.end();
}

class Cutter {
  #line = 1;
  #column = 1;
  /** What may go on in the next piece. */
  #rest = '';

  constructor(private readonly file: string) {}

  cut(piece: string): readonly JsonToken[] {
    const tokens: JsonToken[] = [];
    const text = this.#rest + piece;
    let at = this.#skipBlanks(text, 0);
    for (let written = wordAt(text, at); written !== null; written = wordAt(text, at)) {
      const end = at + written.length;
      if (end === text.length && /[-+.\w]$/.test(written)) break;
      tokens.push(this.#token(written));
      this.#pass(written);
      at = this.#skipBlanks(text, end);
    }
    this.#rest = text.slice(at);
    const mayGoOn = this.#rest === '' || /^["\w+.-]/.test(this.#rest);
    if (!mayGoOn || this.#rest.length > MAX_TOKEN) throw this.#notJson('invalid character');
    return tokens;
  }

  end(): readonly JsonToken[] {
    const tokens = this.#rest === '' ? [] : [...this.cut('\n')];
    if (this.#rest !== '') throw this.#notJson('unexpected end of string');
    return [...tokens, { kind: 'end', text: '', line: this.#line, column: this.#column }];
  }

  #token(written: string): JsonToken {
    const where = { line: this.#line, column: this.#column };
    const [first = ''] = written;
    if (first === '"') return { kind: 'string', text: this.#meaningOf(written), ...where };
    if (NUMBER.test(written)) return { kind: 'number', text: written, ...where };
    if (/^(?:true|false|null)$/.test(written)) return { kind: 'constant', text: written, ...where };
    if ('{}[],:'.includes(first)) return { kind: first as '{', text: written, ...where };
    throw this.#notJson('value expected');
  }

  #meaningOf(written: string): string {
    try {
      return JSON.parse(written) as string;
    } catch {
      throw this.#notJson('invalid character in a string');
    }
  }

  #skipBlanks(text: string, from: number): number {
    let at = from;
    while (at < text.length && ' \t\n'.includes(text.charAt(at))) at += 1;
    this.#pass(text.slice(from, at));
    return at;
  }

  #pass(text: string): void {
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

function wordAt(text: string, at: number): string | null {
  TOKEN.lastIndex = at;
  return TOKEN.exec(text)?.[0] ?? null;
}

/** In our own words: what was written may be a credential. */
export function notJson(file: string, where: Pick<JsonToken, 'line' | 'column'>, why: string): UnreadableFile {
  const { line, column } = where;
  const message = `this is not JSON (${why})`;
  return new UnreadableFile({
    code: 'syntax',
    severity: 'error',
    ...{ file, line, column, message },
    advice: 'correct it, or use CSV',
  });
}
