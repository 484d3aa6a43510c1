/**
 * The language of the `query` parameter: `status=Paid&&{amountDue>100||customerRef.name~smith}`.
 *
 *     any        = all *( "||" all )
 *     all        = term *( "&&" term )
 *     term       = "{" any "}" / comparison
 *     comparison = field operator value
 *
 * `&&` binds more tightly than `||`. An unquoted value ends at `&&`, `||`, `{`, `}` or `"`. A value in double quotes
 * can contain all of these, and `\` in it escapes the next character.
 */

export const OPERATORS = ['!=', '<=', '>=', '=', '~', '>', '<'] as const;
export type Operator = (typeof OPERATORS)[number];

export interface Comparison {
  readonly kind: 'comparison';
  readonly field: string;
  readonly operator: Operator;
  readonly value: string;
}

/** A parsed query; `Leaf` is the type of its comparisons. */
export type Condition<Leaf = Comparison> =
  | Leaf
  | { readonly kind: 'all' | 'any'; readonly conditions: readonly Condition<Leaf>[] };

/** Thrown when a query or a sort order is invalid. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
}

/** Without a limit, deeply nested groups would exhaust the stack. */
const MAX_DEPTH = 50;
/** Without a limit, one query could keep the database busy for a long time. */
const MAX_COMPARISONS = 100;

/** @throws QueryError if the text does not follow the grammar or exceeds a limit */
export function parseQuery(text: string): Condition {
  return new Parser(text).parse();
}

class Parser {
  private at = 0;
  private depth = 0;
  private comparisons = 0;

  constructor(private readonly text: string) {}

  parse(): Condition {
    const condition = this.any();
    if (this.at < this.text.length) throw this.expected('&& or ||');
    return condition;
  }

  private any(): Condition {
    return this.joined('any', '||', () => this.joined('all', '&&', () => this.term()));
  }

  private joined(kind: 'all' | 'any', separator: string, part: () => Condition): Condition {
    const conditions = [part()];
    while (this.take(separator)) conditions.push(part());
    const [only] = conditions;
    return only !== undefined && conditions.length === 1 ? only : { kind, conditions };
  }

  private term(): Condition {
    if (!this.take('{')) return this.comparison();
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw new QueryError(`groups are nested more than ${MAX_DEPTH} levels deep`);
    const condition = this.any();
    if (!this.take('}')) throw this.expected('}');
    this.depth -= 1;
    return condition;
  }

  private comparison(): Comparison {
    this.comparisons += 1;
    if (this.comparisons > MAX_COMPARISONS) throw new QueryError(`there are more than ${MAX_COMPARISONS} comparisons`);
    const field = this.match(/[A-Za-z_][\w.-]*/y);
    if (field === undefined) throw this.expected('a field');
    const operator = OPERATORS.find((candidate) => this.take(candidate));
    if (!operator) throw this.expected(`one of ${OPERATORS.join(' ')}`);
    return { kind: 'comparison', field, operator, value: this.value() };
  }

  private value(): string {
    const quoted = this.match(/"(?:[^"\\]|\\[^])*"/y);
    if (quoted !== undefined) return quoted.slice(1, -1).replaceAll(/\\([^])/g, '$1');
    const bare = this.match(/(?:(?!&&|\|\|)[^{}"])+/y);
    if (bare === undefined) throw this.expected('a value');
    return bare.trim();
  }

  private take(token: string): boolean {
    this.skipSpace();
    if (!this.text.startsWith(token, this.at)) return false;
    this.at += token.length;
    return true;
  }

  private match(pattern: RegExp): string | undefined {
    this.skipSpace();
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    this.at += found?.length ?? 0;
    return found;
  }

  private skipSpace(): void {
    while (/\s/.test(this.text.charAt(this.at))) this.at += 1;
  }

  private expected(what: string): QueryError {
    return new QueryError(`expected ${what} at character ${this.at + 1}`);
  }
}
