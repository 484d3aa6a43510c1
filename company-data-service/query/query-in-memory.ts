/** Filters and sorts lists that are in memory. */
import type { FieldKind, Order, TypedComparison } from './fields';
import type { Condition } from './parse-query';

type Item = Readonly<Record<string, unknown>>;
type Value = string | number | boolean;

export function matches(item: Item, condition: Condition<TypedComparison>): boolean {
  switch (condition.kind) {
    case 'all':
      return condition.conditions.every((part) => matches(item, part));
    case 'any':
      return condition.conditions.some((part) => matches(item, part));
    case 'test':
      return passesTest(item, condition);
  }
}

function passesTest(item: Item, { field, fieldKind, operator, value: expected }: TypedComparison): boolean {
  const value = valueAt(item, field, fieldKind);
  const other = expected instanceof Date ? expected.getTime() : expected;
  if (value === undefined) return operator === '!=';
  switch (operator) {
    case '=':
      return value === other;
    case '!=':
      return value !== other;
    case '<':
      return value < other;
    case '<=':
      return value <= other;
    case '>':
      return value > other;
    case '>=':
      return value >= other;
    case '~':
      return String(value).toLowerCase().includes(String(other).toLowerCase());
  }
}

/** Returns the items in the given order. Items without a value come last; equal items keep their order. */
export function sortItems<T extends Item>(items: readonly T[], order: Order | undefined): readonly T[] {
  if (!order) return items;
  const { field, fieldKind, direction } = order;
  const sign = direction === 'ascending' ? 1 : -1;
  return [...items].sort((a, b) => {
    const [one, other] = [valueAt(a, field, fieldKind), valueAt(b, field, fieldKind)];
    if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
    return one < other ? -sign : one > other ? sign : 0;
  });
}

/** Returns the value of a field. A date is returned as epoch milliseconds. */
function valueAt(item: Item, path: string, kind: FieldKind): Value | undefined {
  let value: unknown = item;
  for (const name of path.split('.'))
    value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  if (typeof value === 'string') return kind === 'date' ? Date.parse(value) : value;
  return typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}
