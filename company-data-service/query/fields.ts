/** The fields of a list that queries can use, and the kind of each. */
import { z } from 'zod';
import { QueryError, type Comparison, type Condition, type Operator } from './parse-query';

export type FieldKind = 'text' | 'number' | 'boolean' | 'date';

/** Returns the kind of a field; undefined if there is no such field. */
export type FieldKindOf = (field: string) => FieldKind | undefined;

/** A comparison whose field exists and whose value has the field's kind. */
export interface TypedComparison {
  readonly kind: 'test';
  readonly field: string;
  readonly fieldKind: FieldKind;
  readonly operator: Operator;
  readonly value: string | number | boolean | Date;
}

/** Returns the kinds of a schema's scalar fields. Fields of nested objects have names such as `customerRef.name`. */
export function fieldsOf(schema: z.ZodObject): FieldKindOf {
  const kinds = new Map(
    Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([name, type]) => kindsIn(name, type)),
  );
  return (field) => kinds.get(field);
}

function kindsIn(name: string, type: z.ZodType): [string, FieldKind][] {
  if (type instanceof z.ZodOptional || type instanceof z.ZodNullable) return kindsIn(name, type.unwrap() as z.ZodType);
  if (type instanceof z.ZodObject) {
    const inner = Object.entries<z.ZodType>(type.shape);
    return inner.flatMap(([field, fieldType]) => kindsIn(`${name}.${field}`, fieldType));
  }
  if (type instanceof z.ZodISODateTime) return [[name, 'date']];
  if (type instanceof z.ZodNumber) return [[name, 'number']];
  if (type instanceof z.ZodBoolean) return [[name, 'boolean']];
  if (type instanceof z.ZodString || type instanceof z.ZodEnum || type instanceof z.ZodStringFormat)
    return [[name, 'text']];
  return [];
}

/**
 * Checks the fields of a query and converts its values.
 *
 * @throws QueryError if queries cannot use a field, or the field does not support the operator or the value
 */
export function checkQuery(condition: Condition, kinds: FieldKindOf): Condition<TypedComparison> {
  if (condition.kind === 'comparison') return checkedComparison(condition, kinds);
  return { kind: condition.kind, conditions: condition.conditions.map((part) => checkQuery(part, kinds)) };
}

function checkedComparison({ field, operator, value: text }: Comparison, kinds: FieldKindOf): TypedComparison {
  const fieldKind = kinds(field);
  if (!fieldKind) throw new QueryError(`this list cannot be filtered or sorted by ${field}`);
  if (operator === '~' && fieldKind !== 'text')
    throw new QueryError(`${field} is not a text field, so ~ cannot be used`);
  if (fieldKind === 'boolean' && operator !== '=' && operator !== '!=') {
    throw new QueryError(`${field} is true or false, so only = and != can be used`);
  }
  const value = valueOf(fieldKind, text);
  if (value === undefined) throw new QueryError(`${field} must be compared with ${VALUES[fieldKind]}`);
  return { kind: 'test', field, fieldKind, operator, value };
}

const VALUES: Record<FieldKind, string> = {
  text: 'text',
  number: 'a number',
  boolean: 'true or false',
  date: 'a date (ISO 8601)',
};

const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** Converts a text to a value of the kind; undefined if this is impossible. Dates without a time zone are in UTC. */
function valueOf(kind: FieldKind, text: string): TypedComparison['value'] | undefined {
  switch (kind) {
    case 'text':
      return text;
    case 'number':
      return /^-?\d{1,30}(\.\d{1,30})?$/.test(text) ? Number(text) : undefined;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'date': {
      const zoned = /T.*(Z|[+-]\d{2}:?\d{2})$/.test(text) || !text.includes('T') ? text : `${text}Z`;
      const date = new Date(zoned);
      return DATE.test(text) && !Number.isNaN(date.getTime()) ? date : undefined;
    }
  }
}

export interface Order {
  readonly field: string;
  readonly fieldKind: FieldKind;
  readonly direction: 'ascending' | 'descending';
}

/** Parses `orderBy`: a field, or `-field` for descending order. @throws QueryError */
export function parseOrder(text: string, kinds: FieldKindOf): Order {
  const field = text.replace(/^-/, '');
  const fieldKind = kinds(field);
  if (!fieldKind) throw new QueryError(`this list cannot be filtered or sorted by ${field}`);
  return { field, fieldKind, direction: text.startsWith('-') ? 'descending' : 'ascending' };
}
